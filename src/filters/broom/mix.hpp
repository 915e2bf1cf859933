// mix: (digest, salt) → the pseudo-random words that a fingerprint is cut from. One AES block, so
// that hashes under different salts are independent if AES is a pseudo-random function; the theorem
// requires that (docs/filters/broom.md).
//
//     plain text   low word: seed | high word: position ^ salt word
//     key          of this use alone, derived from the filter's hash key
//
// The first epoch of a filter whose hash key is new needs no cipher: the seed itself is such a
// word, and no bit of it has been revealed. That saves half the time of a look-up. The word is
// shorter (fewer tails, 7 stream bits), and the epoch must never return: a table that grew, a
// rebuilt filter and a filter that was given an old key have no such epoch [law L1].
//
// Two keys meet the cipher with the same block under one salt only if their digests are equal, and
// one key under two salts never does. (Two keys under two salts do if their seeds agree: 2^-64 a
// pair, counted in the theorem's additive term.)
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "filters/broom/derive_key.hpp"
#include "filters/broom/fingerprint.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

class mixer {
  public:
    explicit mixer(const hash_key& key) noexcept : cipher_{derive_key(key, derived_use::mixing)} {}

    [[nodiscard]] mixed operator()(const digest& d, std::uint64_t salt_word) const noexcept {
        return from_cipher(d, cipher_.encrypt(d.seed, d.position ^ salt_word));
    }
    // Many keys at once, for vectors. REQUIRES: out.size() == keys.size().
    void operator()(std::span<const digest> keys, std::uint64_t salt_word, std::span<mixed> out) const noexcept {
        constexpr std::size_t width = 64;
        std::array<digest, width> blocks;
        for (std::size_t first = 0; first < keys.size(); first += width) {
            const std::size_t count = std::min(width, keys.size() - first);
            for (std::size_t i = 0; i < count; ++i)
                blocks[i] = digest{keys[first + i].seed, keys[first + i].position ^ salt_word};
            cipher_.encrypt(std::span{blocks}.first(count));
            for (std::size_t i = 0; i < count; ++i) out[first + i] = from_cipher(keys[first + i], blocks[i]);
        }
    }
    //     seed, bits 0..5 quotient | 6..13 remainder | 14..21 tail | 30..32 overflow class
    //           | 33..56 tag | 57..63 stream
    [[nodiscard]] static constexpr mixed unsalted(const digest& d) noexcept {
        constexpr std::uint64_t low = (std::uint64_t{1} << 33) - 1;
        return {{(d.seed & low) | d.seed >> 57 << 33, d.seed >> 33 & 0xffffff}};
    }

    [[nodiscard]] const hash_state& state() const noexcept { return cipher_.state(); }

  private:
    [[nodiscard]] static mixed from_cipher(const digest& d, const digest& made) noexcept {
        mixed words{{made.position, made.seed}};
        if (faults.backyard_unsalted) {
            words.word[1] = (words.word[1] & ~std::uint64_t{0xffffffff}) | (d.seed & 0xffffffff);
        }
        return words;
    }

    hasher cipher_;
};

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
