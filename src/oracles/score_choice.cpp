// score_choice: the search for settings and size. See score_choice.hpp.
#include "oracles/score_choice.hpp"

#include <array>
#include <limits>
#include <utility>

#include "oracles/score_bins.hpp"

namespace genista {
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
