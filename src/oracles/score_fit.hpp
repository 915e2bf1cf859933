// The middle of training a score model: the weights, by logistic regression. score_training.hpp has
// the whole of it.
//
// AdaGrad: each weight's steps shrink with what it has moved so far, so that common and rare
// n-grams both get somewhere. Both logs weigh the same, however long they are.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "genista/detail/oracles/score_training.hpp"

namespace genista {

struct score_draw {
    key_view key;
    bool is_stored = false;
};

// x spread over all 64-bit numbers.
[[nodiscard]] std::uint64_t score_mix(std::uint64_t x) noexcept;

class score_fit {
  public:
    // Lends the draws, of which there are both kinds.
    score_fit(const score_settings& settings, std::uint64_t weights, std::uint64_t seed,
              std::span<const score_draw> draws);

    // Once through all draws, each time in another order.
    void epoch() noexcept;

    // 8 bits a weight: the largest becomes 127, or the largest but `clipped` of 1024, and what is
    // beyond it is 127 too.
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
    std::array<double, 2> importance_{};  // of a draw that was asked, stored
    double bias_ = 0;                     // the bins know it better: it only helps the fit
    std::uint64_t chance_;
    float step_, shrinkage_;
    unsigned longest_;
};

}  // namespace genista
