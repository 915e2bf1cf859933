// Words and a permutation that follow from a hash key, the same ones on every machine.
//
// key_stream: random words, with which explicit hash functions are drawn. Each comes from the AES
// encryption of a counter and a *purpose*: functions for different purposes are drawn
// independently.
#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>

#include "genista/hash/hasher.hpp"
#include "genista/hash/key.hpp"

namespace genista {

enum class key_purpose : std::uint64_t {
    ppr_value = 0x7070722d76616c75,     // h of [ppr05 §2]
    ppr_omission = 0x7070722d6f6d6974,  // ρ of [ppr05 §6.3]
    permutation = 0x7065726d75746174,
};

class key_stream {
  public:
    using result_type = std::uint64_t;
    key_stream(const hasher& hash, key_purpose purpose) noexcept
        : hash_{hash}, purpose_{static_cast<std::uint64_t>(purpose)} {}

    [[nodiscard]] static constexpr result_type min() noexcept { return 0; }
    [[nodiscard]] static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }
    result_type operator()() noexcept { return hash_.encrypt(next_++, purpose_).position; }

  private:
    const hasher& hash_;
    std::uint64_t purpose_, next_ = 0;
};

// A bijection of [u] under a secret key, for dictionaries whose bins should be even for all inputs.
//
// A Feistel network over pairs (left, right), left < A, right < B, A · B ≥ u: four rounds add to
// one half an AES block of the other, modulo A or B. A result beyond u is permuted again, which
// happens to one pair in √u.
class permutation {
  public:
    permutation(std::uint64_t universe, const hasher& hash) noexcept : universe_{universe}, hash_{hash} {
        lefts_ = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(universe))) + 1;
        rights_ = (universe - 1) / lefts_ + 1;
    }

    [[nodiscard]] std::uint64_t forth(std::uint64_t x) const noexcept {
        assert(x < universe_);
        do {
            std::uint64_t left = x % lefts_, right = x / lefts_;
            for (std::uint64_t round = 0; round < rounds; round += 2) {
                left = add(left, piece(round, right, lefts_), lefts_);
                right = add(right, piece(round + 1, left, rights_), rights_);
            }
            x = right * lefts_ + left;
        } while (x >= universe_);
        return x;
    }
    [[nodiscard]] std::uint64_t back(std::uint64_t x) const noexcept {
        assert(x < universe_);
        do {
            std::uint64_t left = x % lefts_, right = x / lefts_;
            for (std::uint64_t round = rounds; round > 0; round -= 2) {
                right = add(right, rights_ - piece(round - 1, left, rights_), rights_);
                left = add(left, lefts_ - piece(round - 2, right, lefts_), lefts_);
            }
            x = right * lefts_ + left;
        } while (x >= universe_);
        return x;
    }

  private:
    static constexpr std::uint64_t rounds = 4;

    [[nodiscard]] std::uint64_t piece(std::uint64_t round, std::uint64_t half, std::uint64_t bound) const noexcept {
        return scale(hash_.encrypt(half, static_cast<std::uint64_t>(key_purpose::permutation) + round).position, bound);
    }
    [[nodiscard]] static std::uint64_t add(std::uint64_t a, std::uint64_t b, std::uint64_t bound) noexcept {
        return a + b >= bound ? a + b - bound : a + b;
    }

    std::uint64_t universe_, lefts_ = 1, rights_ = 1;
    hasher hash_;
};

}  // namespace genista
