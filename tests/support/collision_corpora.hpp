// Keys made to collide: under every seed of MurmurHash64A, and under far too many seeds of XXH3.
//
// MurmurHash64A (the attack is Aumasson's and Bernstein's, 2012; the derivation is short). A block
// k enters as h = (h ^ f(k))·m with f a bijection, whatever the seed. Take two blocks whose f
// differs in bit 63 only. Flipping bit 63 is adding 2^63, and 2^63 times an odd m is 2^63 again:
// after the block the two states differ in exactly bit 63. A second such block flips it back. So
// each *pair* of blocks has two versions with equal outcome, and t pairs give 2^t keys:
//
//     version 0   [ f⁻¹(v)          ][ f⁻¹(w)          ]      difference of h:   0 → 2^63 → 0
//     version 1   [ f⁻¹(v ^ 2^63)   ][ f⁻¹(w ^ 2^63)   ]
//
// XXH3, 64 and 128 bits alike (found here; it is known that fixed pairs collide far too often:
// xxHash issue 1127). Inputs of 241 to 1024 bytes are read in stripes of eight 8-byte lanes. For a
// word d in lane i of stripe n, with the key word k = s_{i+n} ± seed (s: the built-in secret; plus
// if i + n is even),
//
//     accumulator[i ^ 1] += d        accumulator[i] += low32(d ^ k) · high32(d ^ k)
//
// Flip bit 63 of two words d₁, d₂ of one lane. The sums of d do not change: 2^63 + 2^63 = 0. The
// products change by ± 2^31·low32(d₁ ^ k₁) and ± 2^31·low32(d₂ ^ k₂), which cancel if the low
// halves are equal and bit 63 flips in opposite directions. Both hold iff k₁ ^ k₂ is d₁ ^ d₂ in the
// low 32 bits and is not in bit 63. Now k₂ - k₁ = s₂ - s₁ is a public constant Δ, so k₁ ^ k₂ = k₁ ^
// (k₁ + Δ) depends on the seed through carries only, and carries are few and predictable: bit j of
// it is Δ_j ^ c_j, and the carry c_{j+1} is Δ_j if c_j = Δ_j, else a coin. Following the carries
// gives the exact probability of each difference. Of all such pairs of words, lane 0 of stripes 0
// and 12 is the attacker's best: two keys collide under 1 seed in 64.5, and 256 pairs leave only 46
// % of the seeds without any collision.
//
// Neither corpus can have keys of 8 bytes or less: both hashes are one-to-one on keys of one such
// size.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "genista/hash/hasher.hpp"
#include "genista/hash/key.hpp"
#include "splitmix.hpp"

namespace genista::test {

// MurmurHash64A: a fast and popular seeded hash whose collisions do not depend on the seed.
//
// It is the control of tests/hash/collisions_test.cpp: plugged into a filter, it must make the
// filter fail. Austin Appleby's design of 2008; g++'s std::hash of strings is the same function
// under one fixed seed.
//
//     h = seed ^ size·m;   for each 8 bytes k:  h = (h ^ f(k))·m,
//                          with f(k) = m·mix(m·k),  mix(v) = v ^ (v >> 47)
//     then the 0-7 bytes left as a word t:  h = (h ^ t)·m if there are any;   result  mix(m·mix(h))

inline constexpr std::uint64_t murmur_factor = 0xc6a4a7935bd1e995;

[[nodiscard]] constexpr std::uint64_t murmur_mix(std::uint64_t v) noexcept {
    return v ^ (v >> 47);
}

[[nodiscard]] constexpr std::uint64_t murmur_block(std::uint64_t k) noexcept {
    return murmur_mix(k * murmur_factor) * murmur_factor;
}

[[nodiscard]] inline std::uint64_t murmur64a(key_view key, std::uint64_t seed) noexcept {
    const auto word = [&](std::size_t from, std::size_t count) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < count; ++i) value |= std::to_integer<std::uint64_t>(key.data[from + i]) << (8 * i);
        return value;
    };
    std::uint64_t h = seed ^ (key.size * murmur_factor);
    std::size_t at = 0;
    for (; at + 8 <= key.size; at += 8) h = (h ^ murmur_block(word(at, 8))) * murmur_factor;
    if (at < key.size) h = (h ^ word(at, key.size - at)) * murmur_factor;
    return murmur_mix(murmur_mix(h) * murmur_factor);
}

// In the form of a filter's hash: two words of digest from two seeds. `context` is the first seed.
[[nodiscard]] inline digest murmur_digest(const void* context, key_view key) noexcept {
    const std::uint64_t seed = *static_cast<const std::uint64_t*>(context);
    return digest{murmur64a(key, seed), murmur64a(key, ~seed * 0x9e3779b97f4a7c15)};
}

// The seed must outlive the hasher.
[[nodiscard]] inline hasher murmur_hasher(const std::uint64_t& seed) noexcept {
    return hasher::custom(murmur_digest, &seed);
}

// ---- the corpora --------------------------------------------------------------------------------

inline void store_word(std::string& text, std::size_t at, std::uint64_t word) {
    for (std::size_t i = 0; i < 8; ++i) text[at + i] = static_cast<char>(static_cast<unsigned char>(word >> (8 * i)));
}

// ---- MurmurHash64A ------------------------------------------------------------------------------

// The inverse of murmur_block: multiplications by 1/m modulo 2^64, and mix undoes itself because
// 2·47 ≥ 64.
[[nodiscard]] constexpr std::uint64_t murmur_block_inverse(std::uint64_t v) noexcept {
    std::uint64_t inverse = murmur_factor;                               // right in 3 bits,
    for (int i = 0; i < 5; ++i) inverse *= 2 - murmur_factor * inverse;  // doubled each time (Newton)
    return murmur_mix(v * inverse) * inverse;
}

// 2^pairs keys of 16·pairs bytes that collide with each other under every seed.
[[nodiscard]] inline std::vector<std::string> murmur64a_colliding_keys(std::size_t pairs, std::uint64_t seed = 1) {
    constexpr std::uint64_t top = std::uint64_t{1} << 63;
    splitmix random{seed};
    std::vector<std::uint64_t> images(2 * pairs);
    for (auto& image : images) image = random();
    std::vector<std::string> keys(std::size_t{1} << pairs, std::string(16 * pairs, '\0'));
    for (std::size_t k = 0; k < keys.size(); ++k)
        for (std::size_t block = 0; block < images.size(); ++block) {
            const std::uint64_t flip = (k >> (block / 2) & 1) != 0 ? top : 0;
            store_word(keys[k], 8 * block, murmur_block_inverse(images[block] ^ flip));
        }
    return keys;
}

// ---- XXH3 ---------------------------------------------------------------------------------------

struct colliding_pair {
    std::string first, second;
    double probability;  // over a uniform seed, exact
};

namespace corpora_detail {

struct difference {
    double probability;
    std::uint64_t bits;  // of k₁ ^ k₂: 0..31 and 63
};

class carry_walk {
  public:
    carry_walk(std::uint64_t delta, double least) : delta_{delta}, least_{least} {}

    std::vector<difference> run() {
        follow(0, 0, 1.0, 0);
        std::stable_sort(found_.begin(), found_.end(),
                         [](const auto& a, const auto& b) { return a.probability > b.probability; });
        return std::move(found_);
    }

  private:
    [[nodiscard]] unsigned bit(unsigned j) const { return static_cast<unsigned>(delta_ >> j & 1); }

    // Below bit 32 each value of the carry gives a difference of its own; between 32 and 63 only
    // its odds count.
    void follow(unsigned j, unsigned carry, double probability, std::uint64_t bits) {
        if (probability < least_) return;
        if (j == 32) return finish(carry, probability, bits);
        bits |= std::uint64_t{bit(j) ^ carry} << j;
        if (bit(j) == carry) return follow(j + 1, carry, probability, bits);
        follow(j + 1, 0, probability / 2, bits);
        follow(j + 1, 1, probability / 2, bits);
    }

    void finish(unsigned carry, double probability, std::uint64_t bits) {
        std::array<double, 2> odds{carry == 0 ? 1.0 : 0.0, carry == 0 ? 0.0 : 1.0};
        for (unsigned j = 32; j < 63; ++j) {
            const double coin = odds[1 - bit(j)] / 2;  // a carry unlike Δ_j makes the next one a coin
            odds[bit(j)] += coin;
            odds[1 - bit(j)] = coin;
        }
        for (unsigned last = 0; last < 2; ++last)
            if (probability * odds[last] >= least_)
                found_.push_back({probability * odds[last], bits | std::uint64_t{bit(63) ^ last} << 63});
    }

    std::uint64_t delta_;
    double least_;
    std::vector<difference> found_;
};

}  // namespace corpora_detail

// The `count` likeliest pairs, best first; count ≤ 500. The keys of a pair have 1024 bytes and
// differ in two words.
[[nodiscard]] inline std::vector<colliding_pair> xxh3_colliding_pairs(std::size_t count, std::uint64_t seed = 1) {
    constexpr std::uint64_t secret_0 = 0xbe4ba423396cfeb8, secret_12 = 0x3f349ce33f76faa8;  // XXH3's built-in words
    constexpr std::uint64_t top = std::uint64_t{1} << 63, low = 0xffffffff;
    constexpr std::size_t at_1 = 0, at_2 = 12 * 64;  // lane 0 of stripes 0 and 12
    auto differences = corpora_detail::carry_walk{secret_12 - secret_0, 1.0 / 4096}.run();
    differences.resize(std::min(count, differences.size()));
    splitmix random{seed};
    std::vector<colliding_pair> pairs;
    for (const auto& [probability, bits] : differences) {
        std::string first(1024, '\0');
        for (std::size_t at = 0; at < first.size(); at += 8) store_word(first, at, random());
        const std::uint64_t d1 = random();
        // Low halves: d₁ ^ d₂ = k₁ ^ k₂. Bit 63: d₁ ^ k₁ and d₂ ^ k₂ must differ there.
        const std::uint64_t d2 = ((d1 ^ bits ^ top) & (low | top)) | (random() & ~(low | top));
        store_word(first, at_1, d1);
        store_word(first, at_2, d2);
        std::string second = first;
        store_word(second, at_1, d1 ^ top);
        store_word(second, at_2, d2 ^ top);
        pairs.push_back({std::move(first), std::move(second), probability});
    }
    return pairs;
}

}  // namespace genista::test
