// score_oracle: odds from how a key looks. A model of a few kilobytes that ships with a filter and
// knows keys it never saw.
//
// Exact tables and sketches remember keys; this one learns what stored keys have in common: it adds
// up weights of the key's n-grams (logistic regression over hashed n-grams, with marks for begin
// and end), and the sum, the score, says which bin of the universe the key belongs to. "It suffices
// to know which subset of the universe a key belongs to" is how the paper puts it [daisy §1].
//
//     weights   i8 × weights       one a hashed n-gram; fixed point: a unit is 1/127 of the largest
//     cuts      i32 × (bins - 1)   rising; the bin of a score is how many cuts are at most the
//                                  score
//     odds      (f64, f64) × bins  p and q of each key in the bin
//
//   I1  The bin of a key is integer arithmetic over its bytes: the same on every machine, before a
//       save and after a load. A filter's stored keys are found again because of this (oracle.hpp,
//       I1).
//   I2  q / p falls from bin to bin: a higher score never deserves more bits.
//
// What is a probability of one key? Within a bin all keys are taken as alike, and each bin is taken
// to hold the same number of the universe's keys, U_b = universe / bins. Of the draws of the insert
// log a share P_b falls into the bin, of the query log a share Q_b, so p = P_b / U_b and q = Q_b /
// U_b. A class (daisy_plan.hpp) depends on q / p, where U_b cancels out, and on how p and q
// compare with ε/n and 1/n. With the default of 2^64 keys (oracle.hpp) both are far below ε/n for
// every filter of up to 2^30 keys at rates down to 2^-24, so that a key is hardly_asked, by_ratio
// or in_full: by the ratio alone, and n Σ p q, of the order of n / universe, keeps the condition of
// the theorems. Choose a small universe only if keys really come from a small one: then keys that
// are nearly certainly stored get fewer bits.
//
// Only the first 256 bytes of a key count, so that odds() takes constant time. score_training.hpp
// makes one of two logs; docs/daisy.md is the page for users.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/format/sink.hpp"
#include "genista/oracles/oracle.hpp"

namespace genista {

class score_oracle {
  public:
    static constexpr std::string_view name = "score_oracle";
    static constexpr std::uint64_t min_weights = 64, max_weights = std::uint64_t{1} << 24;
    static constexpr unsigned max_ngram = 8;  // bytes of the longest n-gram
    static constexpr std::size_t max_bins = 64;
    static constexpr std::size_t scored_bytes = 256;  // of a key; what comes after them is not looked at
    static constexpr double min_universe = 0x1p10, max_universe = 0x1p100, usual_universe = unknown_universe;

    // What a model is made of. make() is for callers that have trained one (score_training.hpp),
    // and refuses whatever is no sound model.
    struct parts {
        unsigned longest_ngram = 3;
        double universe = usual_universe;
        std::vector<std::int8_t> weights{};
        std::vector<std::int32_t> cuts{};
        std::vector<key_odds> odds{};  // one more than cuts
    };
    [[nodiscard]] static result<score_oracle> make(parts made) noexcept;

    [[nodiscard]] key_odds odds(key_view key) const noexcept { return parts_.odds[bin_of(score(key))]; }
    // The sum of the weights of its n-grams: the higher, the more it looks like what is stored.
    [[nodiscard]] std::int32_t score(key_view key) const noexcept;
    [[nodiscard]] std::size_t bin_of(std::int32_t score) const noexcept {
        return static_cast<std::size_t>(std::ranges::upper_bound(parts_.cuts, score) - parts_.cuts.begin());
    }

    [[nodiscard]] std::size_t bins() const noexcept { return parts_.odds.size(); }
    // P_b and Q_b: of all draws, those in the bin.
    [[nodiscard]] key_odds shares(std::size_t bin) const noexcept;
    // Σ P_b log(P_b / Q_b): how many bits a key the score is worth to a filter whose keys all have
    // enough of them.
    [[nodiscard]] double divergence_bits() const noexcept;
    [[nodiscard]] unsigned longest_ngram() const noexcept { return parts_.longest_ngram; }
    [[nodiscard]] std::uint64_t weights() const noexcept { return parts_.weights.size(); }
    [[nodiscard]] double universe() const noexcept { return parts_.universe; }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<score_oracle> load(std::span<const std::byte> bytes) noexcept;

  private:
    explicit score_oracle(parts made) noexcept : parts_{std::move(made)} {}

    parts parts_;
};

static_assert(key_oracle<score_oracle>);

}  // namespace genista
