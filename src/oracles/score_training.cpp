// score_training: splits the logs and runs the steps of training in order. See score_training.hpp.
#include "genista/detail/oracles/score_training.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "genista/hash/key.hpp"
#include "oracles/score_steps.hpp"

namespace genista {
namespace {

// With fewer held-out draws of either kind, none are held out.
constexpr std::size_t least_held_out = 32;
// Fewer judging draws of either kind would choose by luck.
constexpr std::size_t least_judges = 256;
// Settings are chosen by at most so many draws of each log. Believed: a difference too small to
// show there matters little; but a large model that needs longer logs looks worse than it is.
constexpr std::size_t most_choosing = std::size_t{1} << 16;

[[nodiscard]] result<void> check_settings(const score_settings& with) noexcept {
    if (with.longest_ngram == 0 || with.longest_ngram > score_oracle::max_ngram) {
        return error::make(error_code::invalid_argument, "score model: n-grams of up to %u bytes are not in 1..%u",
                           with.longest_ngram, score_oracle::max_ngram);
    }
    if (with.epochs == 0 || with.epochs > score_settings::max_epochs || with.clipped > score_settings::max_clipped) {
        return error::make(error_code::invalid_argument,
                           "score model: %u epochs and %u clipped weights of 1024 are not in 1..%u and 0..%u",
                           with.epochs, with.clipped, score_settings::max_epochs, score_settings::max_clipped);
    }
    if (!(with.step > 0 && with.step <= score_settings::max_step && with.shrinkage >= 0 &&
          with.shrinkage <= score_settings::max_shrinkage)) {
        return error::make(error_code::invalid_argument,
                           "score model: a step of %g and a shrinkage of %g are not above 0 to %g and in 0..%g",
                           with.step, with.shrinkage, score_settings::max_step, score_settings::max_shrinkage);
    }
    return {};
}

[[nodiscard]] result<void> check_training(const score_options& options, std::span<const key_view> stored,
                                          std::span<const key_view> asked) noexcept {
    if (stored.empty() || asked.empty()) {
        return error::make(error_code::invalid_argument, "score model: the log of %s is empty",
                           stored.empty() ? "inserts" : "queries");
    }
    if (options.weights != score_options::chosen_weights &&
        (options.weights < score_oracle::min_weights || options.weights > score_oracle::max_weights)) {
        return error::make(error_code::invalid_argument, "score model: %llu weights are not in %llu..%llu",
                           static_cast<unsigned long long>(options.weights),
                           static_cast<unsigned long long>(score_oracle::min_weights),
                           static_cast<unsigned long long>(score_oracle::max_weights));
    }
    if (!(options.universe >= score_oracle::min_universe && options.universe <= score_oracle::max_universe)) {
        return error::make(error_code::invalid_argument, "score model: a universe of %g keys is not in %g..%g",
                           options.universe, score_oracle::min_universe, score_oracle::max_universe);
    }
    if (options.bins == 0 || options.bins > score_oracle::max_bins) {
        return error::make(error_code::invalid_argument, "score model: %zu bins are not in 1..%zu", options.bins,
                           score_oracle::max_bins);
    }
    if (options.most_draws == 0 || options.most_draws > 0x7fffffff) {
        return error::make(error_code::invalid_argument, "score model: at most %llu draws are not in 1..2147483647",
                           static_cast<unsigned long long>(options.most_draws));
    }
    if (!options.settings) return {};
    if (options.weights == score_options::chosen_weights)
        return error::make(error_code::invalid_argument,
                           "score model: its size is chosen with its settings or not at all");
    return check_settings(*options.settings);
}

struct split_draws {
    std::vector<score_draw> fitted, calibrated;
    std::array<std::uint64_t, 2> fitted_of{}, calibrated_of{};  // asked, stored
    bool is_held_out = true;
};

void take_log(split_draws& to, const score_options& options, std::span<const key_view> log, bool is_stored) {
    const std::uint64_t taken = std::min<std::uint64_t>(log.size(), options.most_draws);
    for (std::uint64_t i = 0; i < taken; ++i) {
        // i × size / taken without an overflow: no log of keys in memory has 2^33 of them.
        const key_view key = log[static_cast<std::size_t>(i * log.size() / taken)];
        const bool aside = held_out(key, options.seed);
        (aside ? to.calibrated : to.fitted).push_back({key, is_stored});
        ++(aside ? to.calibrated_of : to.fitted_of)[is_stored];
    }
}

split_draws split(const score_options& options, std::span<const key_view> stored, std::span<const key_view> asked) {
    split_draws made;
    take_log(made, options, stored, true);
    take_log(made, options, asked, false);
    const auto enough = [](const std::array<std::uint64_t, 2>& of) { return std::min(of[0], of[1]) >= least_held_out; };
    if (enough(made.calibrated_of) && enough(made.fitted_of)) return made;
    // Too few to hold any out: every draw is used for both.
    made.is_held_out = false;
    made.fitted.insert(made.fitted.end(), made.calibrated.begin(), made.calibrated.end());
    for (const std::size_t side : {0U, 1U}) made.fitted_of[side] += made.calibrated_of[side];
    made.calibrated = made.fitted;
    made.calibrated_of = made.fitted_of;
    return made;
}

bool enough_of_both(std::span<const score_draw> draws, std::size_t least) noexcept {
    const auto stored = static_cast<std::size_t>(std::ranges::count_if(draws, &score_draw::is_stored));
    return std::min(stored, draws.size() - stored) >= least;
}

// About every fifth key, by another hash than that of held_out().
bool is_judge(key_view key, std::uint64_t seed) noexcept {
    return held_out(key, score_mix(seed + 0x510e527fade682d1));
}

score_choice choose(const score_options& options, const split_draws& draws, std::uint64_t inserts,
                    const std::function<void(double)>& progress) {
    score_choice told{.weights = options.weights, .settings = options.settings.value_or(score_settings{})};
    if (told.weights == score_options::chosen_weights) told.weights = score_options::fewest_chosen;
    if (options.settings || !draws.is_held_out) return told;
    // Each log has its own stride: the logs follow each other in `fitted`.
    std::vector<score_draw> fitted, judges;
    const std::size_t stored = draws.fitted_of[1];
    for (const auto& [from, count] : {std::pair{std::size_t{0}, stored}, {stored, draws.fitted.size() - stored}}) {
        const std::size_t taken = std::min(count, most_choosing);
        for (std::size_t i = 0; i < taken; ++i) {
            const score_draw& each = draws.fitted[from + i * count / taken];
            (is_judge(each.key, options.seed) ? judges : fitted).push_back(each);
        }
    }
    if (!enough_of_both(judges, least_judges) || !enough_of_both(fitted, least_judges)) return told;
    return choose_score({.weights = options.weights,
                         .keys = static_cast<double>(options.keys != 0 ? options.keys : inserts),
                         .bins = options.bins,
                         .seed = options.seed,
                         .progress = progress},
                        fitted, judges);
}

result<trained_score> trained(const score_options& options, std::span<const key_view> stored,
                              std::span<const key_view> asked) {
    const split_draws draws = split(options, stored, asked);
    constexpr double choosing = 0.7;  // of the time, about
    const score_choice choice =
        choose(options, draws, stored.size(), [&](double share) { options.progress(choosing * share); });
    score_fit fit{choice.settings, choice.weights, options.seed, draws.fitted};
    for (unsigned epoch = 0; epoch < choice.settings.epochs; ++epoch) {
        fit.epoch();
        options.progress(choosing + (1 - choosing) * (epoch + 1) / choice.settings.epochs);
    }
    score_oracle::parts model;
    model.longest_ngram = choice.settings.longest_ngram;
    model.universe = options.universe;
    model.weights = fit.quantised(choice.settings.clipped);
    set_bins(model, score_pools(model.weights, model.longest_ngram, options.bins, draws.calibrated));
    auto made = score_oracle::make(std::move(model));
    if (!made) return made.error();
    options.progress(1);
    return trained_score{
        *std::move(made),       choice,           draws.fitted_of[1], draws.fitted_of[0], draws.calibrated_of[1],
        draws.calibrated_of[0], draws.is_held_out};
}

}  // namespace

bool held_out(key_view key, std::uint64_t seed) noexcept {
    std::uint64_t state = score_mix(seed + 0x3c6ef372fe94f82b);
    for (std::size_t i = 0; i < key.size; ++i)
        state = (state ^ std::to_integer<std::uint64_t>(key.data[i])) * 0x9e3779b97f4a7c15;
    return scale(score_mix(state), 5) == 0;
}

result<trained_score> train_score(const score_options& options, std::span<const key_view> stored,
                                  std::span<const key_view> asked) noexcept {
    if (const auto fine = check_training(options, stored, asked); !fine) return fine.error();
    try {
        return trained(options, stored, asked);
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "score model: no memory to train %llu weights on %zu draws",
                           static_cast<unsigned long long>(options.weights), stored.size() + asked.size());
    }
}

}  // namespace genista
