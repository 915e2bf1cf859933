// The steps of training a score model; score_training.hpp describes them all.
//
//     choose_score   the settings and the size, by keys that are used neither to fit nor to
//                    calibrate
//     score_fit      the weights, by logistic regression
//     score_pools    bins of scores, made from draws that the weights were not fitted to, and the
//                    value of such bins
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "genista/detail/oracles/score_training.hpp"

namespace genista {

struct score_draw {
    key_view key;
    bool is_stored = false;
};

// A mixing function: spreads x over all 64-bit numbers.
[[nodiscard]] std::uint64_t score_mix(std::uint64_t x) noexcept;

// AdaGrad: each weight's steps shrink with the distance it has moved so far, so that the weights of
// common and of rare n-grams both converge. Both logs have the same total weight, whatever their
// lengths.
class score_fit {
  public:
    // REQUIRES: draws of both kinds; they outlive this object.
    score_fit(const score_settings& settings, std::uint64_t weights, std::uint64_t seed,
              std::span<const score_draw> draws);

    // One pass through all draws, each time in another order.
    void epoch() noexcept;

    // 8 bits a weight: the largest becomes 127. With `clipped` the largest but so many of 1024
    // becomes 127, and larger ones become 127 too.
    [[nodiscard]] std::vector<std::int8_t> quantised(unsigned clipped) const;

  private:
    struct slot {
        float weight = 0, moved = 1e-6F;
    };

    void learn(const score_draw& from) noexcept;

    std::vector<slot> slots_;
    std::span<const score_draw> draws_;
    std::vector<std::uint32_t> order_;
    std::array<std::uint32_t, (score_oracle::scored_bytes + 2) * score_oracle::max_ngram> touched_{};
    std::array<double, 2> importance_{};  // of a queried draw, of a stored draw
    double bias_ = 0;                     // only helps the fit: in the model the bins replace it
    std::uint64_t chance_;
    float step_, shrinkage_;
    unsigned longest_;
};

struct score_pool {
    double stored = 0, asked = 0;  // draws, and what smoothing adds
    std::int32_t largest_score = 0;
};

// At most `bins` of about equal size in the order of the scores, equal scores together. Then
// neighbours are pooled until q / p falls throughout, and half a draw of each kind is added to each
// pool. If it were added before pooling, the halves would sum up: thirty bins without queries would
// count fifteen queries. (Filters at 2^-10 were a fifth larger by that, with the training half of
// the host list split once more.) REQUIRES: draws of both kinds.
[[nodiscard]] std::vector<score_pool> score_pools(std::span<const std::int8_t> weights, unsigned longest_ngram,
                                                  std::size_t bins, std::span<const score_draw> draws);

// Sets odds and cuts of a model, for its universe.
void set_bins(score_oracle::parts& model, std::span<const score_pool> pools);

// LB a key [daisy Thm 6] at the ε′ whose filters answer "maybe" to the share `rate` of the queries,
// with fractional bits and a universe so large that a key's bits depend on q / p alone: fewer are
// better. In the terms of daisy_plan.hpp.
[[nodiscard]] double bits_a_key(std::span<const score_pool> pools, double rate) noexcept;

// ---- The choice
//
//     settings   one after the other, n-grams, step, shrinkage, the best of each kept: 12 fits.
//                Each is judged after 2, 4, 8 and 16 epochs, as long as more epochs help, and with
//                and without clipping
//     judged by  bits_a_key(), its mean over the rates 2^-6, 2^-8, 2^-10
//     size       1 KB to 1 MB of weights, each four times the one before: the size for which model
//                and filter together take the fewest bytes
//
// One setting at a time and not all combinations: 12 fits instead of 100. Believed: the settings
// hardly depend on each other.

struct score_choice_terms {
    std::uint64_t weights = 0;  // 0: chosen as well
    double keys = 0;            // of the future filter, if the size is to be chosen
    std::size_t bins = score_oracle::max_bins;
    std::uint64_t seed = 1;
    std::function<void(double)> progress = [](double) {};
};

// REQUIRES: both spans have stored and queried draws.
[[nodiscard]] score_choice choose_score(const score_choice_terms& terms, std::span<const score_draw> fitted,
                                        std::span<const score_draw> judged);

// The bytes of a filter over such a model plus the model: daisy_bloom_filter's LB log e [daisy Thm
// 12] and the weights.
[[nodiscard]] double bytes_in_all(double keys, const score_choice& of) noexcept;

}  // namespace genista
