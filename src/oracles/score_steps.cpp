// The steps of training a score model: gradient descent and quantisation, calibration, the search
// for settings and size. See score_steps.hpp.
#include "oracles/score_steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "oracles/score_math.hpp"
#include "oracles/score_ngrams.hpp"

namespace genista {
namespace {

// How much more one draw of the shorter log may count. With heavier draws AdaGrad's weights would
// oscillate.
constexpr double heaviest_draw = 32;

}  // namespace

std::uint64_t score_mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

score_fit::score_fit(const score_settings& settings, std::uint64_t weights, std::uint64_t seed,
                     std::span<const score_draw> draws)
    : slots_(weights),
      draws_{draws},
      order_(draws.size()),
      chance_{score_mix(seed ^ 0x6a09e667f3bcc909)},
      step_{static_cast<float>(settings.step)},
      shrinkage_{static_cast<float>(settings.shrinkage)},
      longest_{settings.longest_ngram} {
    std::iota(order_.begin(), order_.end(), 0U);
    const auto all = static_cast<double>(draws.size());
    const auto stored = static_cast<double>(std::ranges::count_if(draws, &score_draw::is_stored));
    importance_ = {std::min(heaviest_draw, all / (2 * (all - stored))), std::min(heaviest_draw, all / (2 * stored))};
}

// A Fisher-Yates shuffle, one step before each draw.
void score_fit::epoch() noexcept {
    for (std::size_t i = 0; i < order_.size(); ++i) {
        chance_ += 0x9e3779b97f4a7c15;
        const auto other = i + static_cast<std::size_t>(scale(score_mix(chance_), order_.size() - i));
        std::swap(order_[i], order_[other]);
        learn(draws_[order_[i]]);
    }
}

void score_fit::learn(const score_draw& from) noexcept {
    std::size_t count = 0;
    double sum = bias_;
    each_ngram(from.key, longest_, slots_.size(), [&](std::size_t at) {
        sum += static_cast<double>(slots_[at].weight);
        touched_[count++] = static_cast<std::uint32_t>(at);
    });
    const double guess = 1 / (1 + portable_exp(-sum));
    const double slope = (guess - (from.is_stored ? 1 : 0)) * importance_[from.is_stored];
    bias_ -= 0.01 * slope;
    for (std::size_t i = 0; i < count; ++i) {
        slot& each = slots_[touched_[i]];
        const float down = static_cast<float>(slope) + shrinkage_ * each.weight;
        each.moved += down * down;
        each.weight -= step_ * down / std::sqrt(each.moved);
    }
}

std::vector<std::int8_t> score_fit::quantised(unsigned clipped) const {
    std::vector<float> sizes(slots_.size());
    std::ranges::transform(slots_, sizes.begin(), [](const slot& each) { return std::abs(each.weight); });
    const auto largest =
        sizes.end() - 1 - static_cast<std::ptrdiff_t>(std::min(sizes.size() - 1, sizes.size() * clipped / 1024));
    std::ranges::nth_element(sizes, largest);
    const float unit = *largest > 0 ? 127 / *largest : 0;
    std::vector<std::int8_t> made(slots_.size());
    for (std::size_t i = 0; i < made.size(); ++i)
        made[i] = static_cast<std::int8_t>(std::lround(std::clamp(slots_[i].weight * unit, -127.0F, 127.0F)));
    return made;
}

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

namespace {

constexpr std::array judged_rates = {0x1p-6, 0x1p-8, 0x1p-10};
constexpr std::array tried_ngrams = {2U, 3U, 4U, 5U, 6U};
constexpr std::array tried_steps = {0.02, 0.05, 0.1, 0.2, 0.5};
constexpr std::array tried_shrinkages = {0.0, 1e-4, 1e-3, 1e-2};
constexpr std::array tried_clips = {0U, 4U};
constexpr unsigned first_look = 2, most_epochs = 16;
constexpr std::size_t fit_count =
    1 + (tried_ngrams.size() - 1) + (tried_steps.size() - 1) + (tried_shrinkages.size() - 1);
constexpr std::uint64_t largest_size = score_options::most_chosen;

class settings_search {
  public:
    settings_search(const score_choice_terms& terms, std::uint64_t weights, std::span<const score_draw> fitted,
                    std::span<const score_draw> judged, std::function<void(double)> progress)
        : terms_{terms}, fitted_{fitted}, judged_{judged}, progress_{std::move(progress)} {
        best_.weights = weights;
        best_.bits_a_key = std::numeric_limits<double>::infinity();
        best_.is_judged = true;
    }

    score_choice run() {
        consider({});
        sweep(tried_ngrams, &score_settings::longest_ngram);
        sweep(tried_steps, &score_settings::step);
        sweep(tried_shrinkages, &score_settings::shrinkage);
        return best_;
    }

  private:
    template <class Values, class Value>
    void sweep(const Values& values, Value score_settings::*which) {
        const score_settings from = best_.settings;
        for (const Value value : values) {
            if (value == from.*which) continue;  // already tried
            score_settings tried = from;
            tried.*which = value;
            consider(tried);
        }
    }

    // One fit, judged each time its number of epochs doubles; it ends when more epochs make it
    // worse.
    void consider(score_settings tried) {
        score_fit model{tried, best_.weights, terms_.seed, fitted_};
        double before = std::numeric_limits<double>::infinity();
        for (unsigned epoch = 1, look = first_look; epoch <= most_epochs; ++epoch) {
            model.epoch();
            if (epoch < look) continue;
            look *= 2;
            tried.epochs = epoch;
            const double now = judge(tried, model);
            if (now >= before) break;
            before = now;
        }
        progress_(static_cast<double>(++done_) / static_cast<double>(fit_count));
    }

    // The better result of the two ways to quantise.
    double judge(score_settings tried, const score_fit& model) {
        double least = std::numeric_limits<double>::infinity();
        for (const unsigned clipped : tried_clips) {
            tried.clipped = clipped;
            const auto pools = score_pools(model.quantised(clipped), tried.longest_ngram, terms_.bins, judged_);
            double sum = 0;
            for (const double rate : judged_rates) sum += bits_a_key(pools, rate);
            const double bits = sum / static_cast<double>(judged_rates.size());
            least = bits < least ? bits : least;
            if (bits < best_.bits_a_key) {
                best_.bits_a_key = bits;
                best_.settings = tried;
            }
        }
        return least;
    }

    const score_choice_terms& terms_;
    std::span<const score_draw> fitted_, judged_;
    std::function<void(double)> progress_;
    score_choice best_;
    std::size_t done_ = 0;
};

}  // namespace

double bytes_in_all(double keys, const score_choice& of) noexcept {
    constexpr double log2_e = 1.4426950408889634;
    return keys * of.bits_a_key * log2_e / 8 + static_cast<double>(of.weights);
}

score_choice choose_score(const score_choice_terms& terms, std::span<const score_draw> fitted,
                          std::span<const score_draw> judged) {
    if (terms.weights != 0) return settings_search{terms, terms.weights, fitted, judged, terms.progress}.run();
    score_choice best;
    double least = std::numeric_limits<double>::infinity();
    // A model that alone takes as many bytes as the best one with its filter is not tried.
    for (std::uint64_t size = score_options::fewest_chosen; size <= largest_size && static_cast<double>(size) < least;
         size *= 4) {
        const double before = static_cast<double>(size) / static_cast<double>(largest_size);
        const score_choice found = settings_search{
            terms, size, fitted, judged, [&](double share) {
                terms.progress(before / 4 + before * share * 3 / 4);
            }}.run();
        if (const double bytes = bytes_in_all(terms.keys, found); bytes < least) {
            least = bytes;
            best = found;
        }
    }
    return best;
}

}  // namespace genista
