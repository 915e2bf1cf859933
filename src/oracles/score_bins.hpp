// score_bins: the last step of training a score model: bins of scores, made from draws that the
// weights were not fitted to, and the value of such bins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "genista/detail/oracles/score_training.hpp"
#include "oracles/score_fit.hpp"

namespace genista {

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
// better. In the terms of daisy_class.hpp.
[[nodiscard]] double bits_a_key(std::span<const score_pool> pools, double rate) noexcept;

}  // namespace genista
