// score_fit: the second step of training a score model: the weights, by logistic regression.
// score_training.hpp describes all steps.
//
// AdaGrad: each weight's steps shrink with the distance it has moved so far, so that the weights of
// common and of rare n-grams both converge. Both logs have the same total weight, whatever their
// lengths.
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

// A mixing function: spreads x over all 64-bit numbers.
[[nodiscard]] std::uint64_t score_mix(std::uint64_t x) noexcept;

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

}  // namespace genista
