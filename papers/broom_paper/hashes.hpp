// The hash functions of broom_paper, and the parts of a fingerprint.
//
//     whole hash   first: quotient, then remainder | second: adaptivity bits, the first one lowest
//
// One AES block under a key of this use alone: (digest, salt) → 128 bits, so a new salt is a new
// hash function h whose values are independent of those of the old one. The paper asks for values
// up to n^c, c ≥ 4 [broom18 §4.1]: 128 bits are that for all n up to 2^32.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "bits/words.hpp"
#include "filters/broom/derive_key.hpp"
#include "genista/hash/hashed_key.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/hash/key.hpp"

namespace genista::broom_paper {

struct whole_hash {
    std::uint64_t first = 0;
    std::uint64_t second = 0;

    friend bool operator==(const whole_hash&, const whole_hash&) = default;
};

// A key inside the filter: its digest, and its rank in the order of keys in which the frontier
// passes [broom18 §4.2].
//
// Eight bytes are a number, and numbers are in their own order. Other keys are in the order of
// their digests, so that many keys with a common beginning do not share a rank.
struct element {
    std::uint64_t rank = 0;
    digest d{};

    [[nodiscard]] static element of(const hashed_key& key) noexcept { return of(key.view(), key.where()); }
    // Of a record of R whose digest has been checked.
    [[nodiscard]] static element of(key_view key, const digest& d) noexcept {
        std::uint64_t number = 0;
        if (key.size != sizeof number) return {d.position, d};
        for (std::size_t i = 0; i < sizeof number; ++i) number |= std::to_integer<std::uint64_t>(key.data[i]) << 8 * i;
        return {number, d};
    }
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the zero inside a defaulted comparison for a pointer
    friend auto operator<=>(const element&, const element&) = default;
};

// Adaptivity bits: the low `length` bits of a word, the first one lowest.
inline constexpr unsigned most_adaptivity_bits = 64;
struct adaptivity {
    std::uint64_t bits = 0;
    unsigned length = 0;

    [[nodiscard]] static adaptivity of(std::uint64_t stream, unsigned length) noexcept {
        return {stream & bits::low_mask(length), length};
    }
    [[nodiscard]] bool is_prefix_of(std::uint64_t stream) const noexcept {
        return (stream & bits::low_mask(length)) == bits;
    }
    // The number of bits that both have in common, up to this one's length.
    [[nodiscard]] unsigned shared_with(std::uint64_t stream) const noexcept {
        const std::uint64_t differ = (stream ^ bits) & bits::low_mask(length);
        return differ == 0 ? length : static_cast<unsigned>(std::countr_zero(differ));
    }
    friend bool operator==(const adaptivity&, const adaptivity&) = default;
};

// The number of bits after which two streams differ; 65 if they are equal.
[[nodiscard]] inline unsigned bits_to_tell(std::uint64_t one, std::uint64_t other) noexcept {
    return static_cast<unsigned>(std::countr_zero(one ^ other)) + 1;
}

class hash_functions {
  public:
    explicit hash_functions(const hasher& hash) noexcept : cipher_{broom::labelled_key(hash.key(), "paper mix key")} {}

    [[nodiscard]] whole_hash operator()(const digest& d, std::uint64_t salt) const noexcept {
        const digest made = cipher_.encrypt(d.seed, d.position ^ salt);
        return {made.position, made.seed};
    }

  private:
    hasher cipher_;
};

// One of the two functions in use, h_a or h_b [broom18 §4.2], for either level [§5.3: "a different
// hash function h_2"].
struct generation {
    std::uint64_t primary_salt = 0;
    std::uint64_t second_salt = 0;

    friend bool operator==(const generation&, const generation&) = default;
};

}  // namespace genista::broom_paper
