// All controls, one after the other, and the judgement; and filters that never learn, under the
// attacks that only repeat queries. See controls.hpp.
#include "lab/controls/controls.hpp"

#include <iterator>
#include <string_view>

#include "genista/filters/blocked_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "lab/adversaries/adversary.hpp"
#include "lab/games/local_arena.hpp"
#include "lab/statistics/binomial.hpp"

namespace genista::lab {
namespace {

template <class Filter>
void play_local(std::string_view attack, const control_plan& plan, std::vector<control_outcome>& played) {
    constexpr std::uint64_t keys = 1000;
    constexpr double effort = 50'000;
    if (!plan.only.empty() && plan.only != Filter::name) return;
    control_outcome out{.name = std::string{Filter::name}, .attack = std::string{attack}};
    local_arena<Filter> at{
        {.capacity = keys, .false_positive_rate = 1.0 / 256, .hash = hasher{hash_key::from_seed(plan.seed)}}};
    fill(at, keys);
    find_adversary(attack)->play(
        at,
        {.queries = static_cast<std::uint64_t>(effort * plan.effort), .seed = plan.seed, .progress = [](double) {}});
    out.rate = at.rate();
    out.played = at.counted();
    judge(out);
    played.push_back(std::move(out));
}

}  // namespace

std::vector<control_outcome> play_local_filters(const control_plan& plan) {
    std::vector<control_outcome> played;
    for (const std::string_view attack : {"repeat-one", "pool-replay", "rounds"})
        play_local<bloom_filter>(attack, plan, played);
    play_local<blocked_bloom_filter>("pool-replay", plan, played);
    plan.progress(1);
    return played;
}

void judge(control_outcome& played) noexcept {
    played.won = played.played.right_guesses > most_plausible_hits(played.played.guesses, played.rate);
}

std::vector<control_outcome> play_controls(const control_plan& plan) {
    std::vector<control_outcome> all;
    double done = 0;
    const auto add = [&](auto play, double share) {
        control_plan part = plan;
        part.progress = [&plan, done, share](double inner) { plan.progress(done + share * inner); };
        auto more = play(part);
        done += share;
        all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    };
    add(play_local_filters, 0.05);
    add(play_unkeyed_hash, 0.05);
    add(play_dropped_rules, 0.9);
    return all;
}

}  // namespace genista::lab
