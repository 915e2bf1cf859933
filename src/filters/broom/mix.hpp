// mix: (seed, fraction, salt) → the pseudo-random words a fingerprint is cut from. One AES block, so that hashes under
// different salts are independent if AES is a pseudo-random function; that is what the theorem asks (docs/filters/broom.md).
//
//     plain text   low word: seed | high word: bits 0..31 salt counter, 32..63 the top half of the fraction
//     key          drawn from the filter's hash key and the table's generation, never used before [law L1]
//
// The fraction is the low word of position · bins: two keys of one bin with equal seeds still differ in it.
#pragma once

#include <cstdint>

#include "filters/broom/fingerprint.hpp"
#include "genista/hash/hash_key.hpp"
#include "genista/hash/hash_state.hpp"
#include "genista/hash/hasher.hpp"

namespace genista::broom {

class mixer {
  public:
    mixer(const hash_key& key, std::uint64_t generation) noexcept : cipher_{derive(key, generation)} {}

    [[nodiscard]] mixed operator()(std::uint64_t seed, std::uint64_t fraction, std::uint32_t counter) const noexcept {
        const digest d = cipher_.encrypt(seed, (fraction & ~std::uint64_t{0xffffffff}) | counter);
        return {{d.position, d.seed}};
    }

  private:
    // The AES half of a fresh key: the filter's key applied to the generation, under a label of its own.
    static hash_key derive(const hash_key& key, std::uint64_t generation) noexcept {
        struct labelled {
            char text[16];
            std::uint64_t generation;
            std::uint64_t half;
        };
        hash_key made;
        const hasher keyed{key};
        for (std::uint64_t half = 0; half < 2; ++half) {
            const labelled words = {"broom mix key 1", generation, half};
            const digest d = keyed(key_view{reinterpret_cast<const std::byte*>(&words), sizeof words});
            for (std::size_t i = 0; i < 8; ++i) {
                made.bytes[16 * half + i] = static_cast<std::uint8_t>(d.position >> (8 * i));
                made.bytes[16 * half + 8 + i] = static_cast<std::uint8_t>(d.seed >> (8 * i));
            }
        }
        return made;
    }

    hasher cipher_;
};

}  // namespace genista::broom
