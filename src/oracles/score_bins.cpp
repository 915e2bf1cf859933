// score_bins: calibration. See score_bins.hpp.
#include "oracles/score_bins.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oracles/score_math.hpp"
#include "oracles/score_ngrams.hpp"

namespace genista {
namespace {

// The number of draws of each kind that is added to every pool, so that neither share is ever zero.
constexpr double smoothing = 0.5;

// Compares the ratios of shares by counts, because the totals are the same for all pools.
bool falls(const score_pool& low, const score_pool& high) noexcept {
    return high.asked * low.stored < low.asked * high.stored;
}

std::vector<score_pool> pooled(const std::vector<score_pool>& bins) {
    std::vector<score_pool> kept;
    for (const score_pool& each : bins) {
        kept.push_back(each);
        while (kept.size() > 1 && !falls(kept[kept.size() - 2], kept.back())) {
            const score_pool last = kept.back();
            kept.pop_back();
            kept.back().stored += last.stored;
            kept.back().asked += last.asked;
            kept.back().largest_score = last.largest_score;
        }
    }
    return kept;
}

score_pool sum_of(std::span<const score_pool> pools) noexcept {
    score_pool all;
    for (const score_pool& each : pools) {
        all.stored += each.stored;
        all.asked += each.asked;
    }
    return all;
}

}  // namespace

std::vector<score_pool> score_pools(std::span<const std::int8_t> weights, unsigned longest_ngram, std::size_t bins,
                                    std::span<const score_draw> draws) {
    std::vector<std::pair<std::int32_t, bool>> scored;
    scored.reserve(draws.size());
    for (const score_draw& each : draws) {
        std::int32_t sum = 0;
        each_ngram(each.key, longest_ngram, weights.size(), [&](std::size_t at) { sum += weights[at]; });
        scored.emplace_back(sum, each.is_stored);
    }
    std::ranges::sort(scored);
    // A bin of fewer than 16 draws would be noise.
    const double width = 2 / static_cast<double>(std::clamp<std::size_t>(scored.size() / 16, 1, bins));
    const auto stored = static_cast<double>(std::ranges::count_if(draws, &score_draw::is_stored));
    const double stored_draw = 1 / stored, asked_draw = 1 / (static_cast<double>(draws.size()) - stored);
    std::vector<score_pool> made;
    double seen = 0;  // each log counts as 1, both together as 2
    for (std::size_t i = 0; i < scored.size();) {
        score_pool next;
        const double until = width * (std::floor(seen / width + 1e-9) + 1);  // beyond `seen`, so that no bin is empty
        for (; i < scored.size(); ++i) {
            const bool is_same = i > 0 && scored[i].first == scored[i - 1].first;
            if (seen >= until - 1e-9 && !is_same) break;
            (scored[i].second ? next.stored : next.asked) += 1;
            seen += scored[i].second ? stored_draw : asked_draw;
            next.largest_score = scored[i].first;
        }
        made.push_back(next);
    }
    // Smoothing may disorder the pools again.
    made = pooled(made);
    for (score_pool& each : made) {
        each.stored += smoothing;
        each.asked += smoothing;
    }
    return pooled(made);
}

void set_bins(score_oracle::parts& model, std::span<const score_pool> pools) {
    const score_pool all = sum_of(pools);
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

double bits_a_key(std::span<const score_pool> pools, double rate) noexcept {
    const score_pool all = sum_of(pools);
    const auto let_through = [&](double parameter) {
        double sum = 0;
        for (const score_pool& each : pools) {
            const double p = each.stored / all.stored, q = each.asked / all.asked;
            sum += q <= parameter * p ? q : parameter * std::max(p, q);
        }
        return sum;
    };
    double low = 0, high = rate;  // every pool answers "maybe" to at least the parameter's share of its queries
    for (int step = 0; step < 50; ++step) {
        const double middle = (low + high) / 2;
        (let_through(middle) <= rate ? low : high) = middle;
    }
    double bits = 0;
    for (const score_pool& each : pools) {
        const double p = each.stored / all.stored, q = each.asked / all.asked;
        if (q > low * p) bits += p * portable_log2(std::min(1.0, q / p) / low);
    }
    return bits;
}

}  // namespace genista
