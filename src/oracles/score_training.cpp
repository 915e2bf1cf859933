// Gradient descent, quantisation, calibration. See score_training.hpp.
#include "genista/oracles/score_training.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <utility>
#include <vector>

#include "oracles/score_ngrams.hpp"

namespace genista {
namespace {

// Tried on the host list before this was written: steps of 0.02 and 0.1 made filters up to a tenth larger, shrinkage from 10^-6 to 10^-3 changed
// hardly anything. That was judged on the half which docs/benchmarks.md tests on; the n-grams were chosen on the other.
constexpr float step = 0.05F, shrinkage = 1e-4F;
// How much more one draw of the shorter log may count. AdaGrad would follow a heavier one, but shaking.
constexpr double heaviest_draw = 32;
// Fewer held-out draws of either kind than that say nothing.
constexpr std::size_t least_held_out = 32;

struct draw {
    key_view key;
    bool is_stored = false;
};

std::uint64_t mixed(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

[[nodiscard]] result<void> check(const score_options& options, std::span<const key_view> stored,
                                 std::span<const key_view> asked) noexcept {
    if (stored.empty() || asked.empty()) {
        return error::make(error_code::invalid_argument, "score model: the log of %s is empty",
                           stored.empty() ? "inserts" : "queries");
    }
    if (options.weights < score_oracle::min_weights || options.weights > score_oracle::max_weights) {
        return error::make(error_code::invalid_argument, "score model: %llu weights are not in %llu..%llu",
                           static_cast<unsigned long long>(options.weights),
                           static_cast<unsigned long long>(score_oracle::min_weights),
                           static_cast<unsigned long long>(score_oracle::max_weights));
    }
    if (options.longest_ngram > score_oracle::max_ngram) {
        return error::make(error_code::invalid_argument, "score model: n-grams of up to %u bytes are not in 0..%u",
                           options.longest_ngram, score_oracle::max_ngram);
    }
    if (!(options.universe >= score_oracle::min_universe && options.universe <= score_oracle::max_universe)) {
        return error::make(error_code::invalid_argument, "score model: a universe of %g keys is not in %g..%g",
                           options.universe, score_oracle::min_universe, score_oracle::max_universe);
    }
    if (options.bins == 0 || options.bins > score_oracle::max_bins) {
        return error::make(error_code::invalid_argument, "score model: %zu bins are not in 1..%zu", options.bins,
                           score_oracle::max_bins);
    }
    if (options.epochs == 0 || options.epochs > 1000 || options.most_draws == 0 || options.most_draws > 0x7fffffff) {
        return error::make(error_code::invalid_argument,
                           "score model: %u epochs of at most %llu draws are not in 1..1000 and 1..2147483647",
                           options.epochs, static_cast<unsigned long long>(options.most_draws));
    }
    return {};
}

struct split_draws {
    std::vector<draw> fitted, calibrated;
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
    // Too few to spare: every draw for both.
    made.is_held_out = false;
    made.fitted.insert(made.fitted.end(), made.calibrated.begin(), made.calibrated.end());
    for (const std::size_t side : {0U, 1U}) made.fitted_of[side] += made.calibrated_of[side];
    made.calibrated = made.fitted;
    made.calibrated_of = made.fitted_of;
    return made;
}

// AdaGrad: each weight's steps shrink with what it has moved so far, so that common and rare n-grams both get somewhere.
class fit {
  public:
    fit(const score_options& options, unsigned longest, const split_draws& draws)
        : weights_(options.weights), moved_(options.weights, 1e-6F), longest_{longest} {
        const auto all = static_cast<double>(draws.fitted.size());
        for (const std::size_t side : {0U, 1U})
            importance_[side] = std::min(heaviest_draw, all / (2 * static_cast<double>(draws.fitted_of[side])));
    }

    void learn(const draw& from) noexcept {
        std::size_t count = 0;
        double sum = bias_;
        each_ngram(from.key, longest_, weights_.size(), [&](std::size_t at) {
            sum += static_cast<double>(weights_[at]);
            touched_[count++] = static_cast<std::uint32_t>(at);
        });
        const double guess = 1 / (1 + std::exp(-sum));
        const double slope = (guess - (from.is_stored ? 1 : 0)) * importance_[from.is_stored];
        bias_ -= 0.01 * slope;
        for (std::size_t i = 0; i < count; ++i) {
            float& weight = weights_[touched_[i]];
            float& moved = moved_[touched_[i]];
            const float down = static_cast<float>(slope) + shrinkage * weight;
            moved += down * down;
            weight -= step * down / std::sqrt(moved);
        }
    }

    // The largest becomes 127. Clipping a thousandth of them instead was tried: no gain for small models, a loss for large ones.
    [[nodiscard]] std::vector<std::int8_t> quantised() const {
        float largest = 0;
        for (const float weight : weights_) largest = std::max(largest, std::abs(weight));
        const float unit = largest > 0 ? 127 / largest : 0;
        std::vector<std::int8_t> made(weights_.size());
        for (std::size_t i = 0; i < made.size(); ++i)
            made[i] = static_cast<std::int8_t>(std::lround(weights_[i] * unit));
        return made;
    }

  private:
    std::vector<float> weights_, moved_;
    std::array<std::uint32_t, (score_oracle::scored_bytes + 2) * score_oracle::max_ngram> touched_{};
    std::array<double, 2> importance_{};  // of a draw that was asked, stored: both logs weigh the same
    double bias_ = 0;                     // the bins know it better: it only helps the fit
    unsigned longest_;
};

// Each epoch goes through all draws in another order (Fisher and Yates).
std::vector<std::int8_t> fitted_weights(const score_options& options, unsigned longest, split_draws& draws) {
    fit model{options, longest, draws};
    std::uint64_t chance = mixed(options.seed ^ 0x6a09e667f3bcc909);
    constexpr std::size_t tick = 1U << 14;
    const auto all = static_cast<double>(draws.fitted.size()) * options.epochs;
    for (unsigned epoch = 0; epoch < options.epochs; ++epoch) {
        for (std::size_t i = 0; i < draws.fitted.size(); ++i) {
            const std::size_t left = draws.fitted.size() - i;
            chance += 0x9e3779b97f4a7c15;
            std::swap(draws.fitted[i], draws.fitted[i + static_cast<std::size_t>(scale(mixed(chance), left))]);
            model.learn(draws.fitted[i]);
            if (i % tick == 0)
                options.progress((static_cast<double>(draws.fitted.size()) * epoch + static_cast<double>(i)) / all);
        }
    }
    return model.quantised();
}

struct pool {
    double stored = 0.5, asked = 0.5;  // draws; the halves are the smoothing
    std::int32_t largest_score = 0;
};

// The shares of both kinds are compared as ratios of counts: the totals are the same for all pools.
bool falls(const pool& low, const pool& high) noexcept {
    return high.asked * low.stored < low.asked * high.stored;
}

// Bins of about equal size in the order of the scores, equal scores together, then neighbours pooled until q / p falls throughout.
std::vector<pool> calibrated_pools(const score_options& options, const score_oracle& scorer, const split_draws& draws) {
    std::vector<std::pair<std::int32_t, bool>> scored;
    scored.reserve(draws.calibrated.size());
    for (const draw& each : draws.calibrated) scored.emplace_back(scorer.score(each.key), each.is_stored);
    std::ranges::sort(scored);
    // A bin of fewer than 16 draws would be noise.
    const std::size_t bins = std::clamp<std::size_t>(scored.size() / 16, 1, options.bins);
    const double stored_draw = 1 / static_cast<double>(draws.calibrated_of[1]);
    const double asked_draw = 1 / static_cast<double>(draws.calibrated_of[0]);
    std::vector<pool> pools;
    double seen = 0;  // of 2: each log is one
    for (std::size_t i = 0; i < scored.size();) {
        pool next;
        const double width = 2 / static_cast<double>(bins);
        const double until =
            width * (std::floor(seen / width + 1e-9) + 1);  // beyond what has been seen: no bin is empty
        for (; i < scored.size(); ++i) {
            const bool is_same = i > 0 && scored[i].first == scored[i - 1].first;
            if (seen >= until - 1e-9 && !is_same) break;
            (scored[i].second ? next.stored : next.asked) += 1;
            seen += scored[i].second ? stored_draw : asked_draw;
            next.largest_score = scored[i].first;
        }
        pools.push_back(next);
    }
    return pools;
}

std::vector<pool> pooled(const std::vector<pool>& bins) {
    std::vector<pool> kept;
    for (const pool& each : bins) {
        kept.push_back(each);
        while (kept.size() > 1 && !falls(kept[kept.size() - 2], kept.back())) {
            const pool last = kept.back();
            kept.pop_back();
            kept.back().stored += last.stored;
            kept.back().asked += last.asked;
            kept.back().largest_score = last.largest_score;
        }
    }
    return kept;
}

void set_bins(score_oracle::parts& model, const std::vector<pool>& pools) {
    pool all{.stored = 0, .asked = 0};
    for (const pool& each : pools) {
        all.stored += each.stored;
        all.asked += each.asked;
    }
    const double bin_keys = model.universe / static_cast<double>(pools.size());
    model.odds.clear();
    model.cuts.clear();
    model.odds.reserve(pools.size());
    model.cuts.reserve(pools.size() - 1);
    for (std::size_t b = 0; b < pools.size(); ++b) {
        model.odds.push_back({pools[b].stored / all.stored / bin_keys, pools[b].asked / all.asked / bin_keys});
        if (b + 1 < pools.size()) model.cuts.push_back(pools[b].largest_score + 1);
    }
}

result<trained_score> trained(const score_options& options, std::span<const key_view> stored,
                              std::span<const key_view> asked) {
    split_draws draws = split(options, stored, asked);
    score_oracle::parts model;
    model.longest_ngram = options.longest_ngram != 0 ? options.longest_ngram : options.weights < 16'384 ? 3 : 4;
    model.universe = options.universe;
    model.weights = fitted_weights(options, model.longest_ngram, draws);
    // One bin for all, until the scores are known.
    model.odds = {{1 / model.universe, 1 / model.universe}};
    const auto scorer = score_oracle::make(model);
    if (!scorer) return scorer.error();
    set_bins(model, pooled(calibrated_pools(options, *scorer, draws)));
    auto made = score_oracle::make(std::move(model));
    if (!made) return made.error();
    options.progress(1);
    return trained_score{*std::move(made),       draws.fitted_of[1],     draws.fitted_of[0],
                         draws.calibrated_of[1], draws.calibrated_of[0], draws.is_held_out};
}

}  // namespace

bool held_out(key_view key, std::uint64_t seed) noexcept {
    std::uint64_t state = mixed(seed + 0x3c6ef372fe94f82b);
    for (std::size_t i = 0; i < key.size; ++i)
        state = (state ^ std::to_integer<std::uint64_t>(key.data[i])) * 0x9e3779b97f4a7c15;
    return scale(mixed(state), 5) == 0;
}

result<trained_score> train_score(const score_options& options, std::span<const key_view> stored,
                                  std::span<const key_view> asked) noexcept {
    if (const auto fine = check(options, stored, asked); !fine) return fine.error();
    try {
        return trained(options, stored, asked);
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "score model: no memory to train %llu weights on %zu draws",
                           static_cast<unsigned long long>(options.weights), stored.size() + asked.size());
    }
}

}  // namespace genista
