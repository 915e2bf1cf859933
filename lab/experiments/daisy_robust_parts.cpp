// Stages, samples and tuning for daisy-robust. See daisy_robust.hpp.
#include <algorithm>
#include <utility>

#include "lab/experiments/daisy_robust.hpp"

namespace genista::lab {
namespace {

constexpr std::size_t sample_keys = 50'000;

std::vector<std::uint64_t> drawn_keys(const std::function<std::uint64_t()>& draw, std::size_t count) {
    std::vector<std::uint64_t> keys(count);
    std::ranges::generate(keys, draw);
    return keys;
}

std::vector<std::uint64_t> drawn_absent(const std::function<std::uint64_t()>& draw, std::size_t count,
                                        const std::vector<std::uint64_t>& sorted_members) {
    std::vector<std::uint64_t> keys(count);
    for (std::uint64_t& key : keys) {
        do key = draw();
        while (std::ranges::binary_search(sorted_members, key));
    }
    return keys;
}

}  // namespace

robust_stage make_stage(odds_world world, std::uint64_t draws, double rate, std::uint64_t seed) {
    robust_stage stage{std::move(world), rate, {}, 0, {}, {}, {}};
    stage.inserts = drawn_keys(stage.world.stored_draws(seed), draws);
    std::vector<std::uint64_t> members = stage.inserts;
    std::ranges::sort(members);
    members.erase(std::unique(members.begin(), members.end()), members.end());
    stage.distinct = members.size();
    stage.stored_sample = drawn_keys(stage.world.stored_draws(seed + 1), sample_keys);
    stage.asked_sample = drawn_absent(stage.world.asked_draws(seed + 2), sample_keys, members);
    stage.queries = drawn_absent(stage.world.asked_draws(seed + 3), trials_for(rate), members);
    return stage;
}

odds_table ask_all(const robust_stage& stage, const odds_source& source) {
    const auto all = [&](const std::vector<std::uint64_t>& keys) {
        std::vector<key_odds> odds(keys.size());
        std::ranges::transform(keys, odds.begin(), source.odds);
        return odds;
    };
    return {all(stage.inserts), all(stage.stored_sample), all(stage.asked_sample), all(stage.queries)};
}

tuned_plan tune(const robust_stage& stage, const odds_table& odds, double target) {
    const auto draws = static_cast<double>(stage.inserts.size());
    const auto expected = [&](double parameter) {
        double sum = 0;
        for (const key_odds& each : odds.asked_sample)
            sum += std::ldexp(1.0, -static_cast<int>(daisy_class(each, {draws, parameter})));
        return sum / static_cast<double>(odds.asked_sample.size());
    };
    const auto plan_at = [&](double parameter) {
        return must(plan_from_samples({draws, parameter}, odds.stored_sample, odds.asked_sample));
    };
    double low = -40, high = -1;  // log ε′
    if (expected(std::exp2(low)) > target) return {plan_at(stage.rate), false};
    for (int step = 0; step < 30; ++step) {
        const double middle = (low + high) / 2;
        (expected(std::exp2(middle)) <= target ? low : high) = middle;
    }
    return {plan_at(std::exp2(low)), true};
}

}  // namespace genista::lab
