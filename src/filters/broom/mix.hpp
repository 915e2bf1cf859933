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
    [[nodiscard]] static constexpr mixed unsalted(const digest& d) noexcept {
        constexpr std::uint64_t base_and_class = ~mixed_layout::first_stream.mask();
        const std::uint64_t stream = mixed_layout::seed_stream.of(d.seed);
        return {.first = (d.seed & base_and_class) | mixed_layout::first_stream.put(stream),
                .second = mixed_layout::seed_tag.of(d.seed)};
    }
    // The same for look-ups that end with the tag: it is not cut to its width, and there is no
    // stream.
    [[nodiscard]] static constexpr mixed unsalted_without_stream(const digest& d) noexcept {
        return {.first = d.seed, .second = mixed_layout::seed_tag.uncut(d.seed)};
    }
    // What the cipher makes of the block (seed, position ^ salt word).
    [[nodiscard]] static constexpr mixed from_block(const digest& made) noexcept { return {made.position, made.seed}; }

    [[nodiscard]] const hash_state& state() const noexcept { return cipher_.state(); }

  private:
    [[nodiscard]] static mixed from_cipher(const digest& d, const digest& made) noexcept {
        mixed words = from_block(made);
        if (faults.backyard_unsalted)
            words.second = mixed_layout::tag.replaced(words.second, mixed_layout::tag.of(d.seed));
        return words;
    }

    hasher cipher_;
};

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
