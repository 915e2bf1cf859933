// score_ngrams: the n-grams of a key as numbers, for training and scoring. The format of a saved
// model depends on every line of this file.
//
// A key is a begin mark, its first 256 bytes and an end mark; its n-grams are all runs of 1 ..
// longest of these symbols. Multiplications turn each into 64 bits, the same on every machine;
// their upper part (scale() of digest.hpp) is the index of a weight, so that the number of weights
// need not be a power of two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "genista/hash/key.hpp"
#include "genista/oracles/score_oracle.hpp"

namespace genista {

// Calls take(index of a weight) for each n-gram, with repetitions: at most 258 × longest calls.
template <class Take>
void each_ngram(key_view key, unsigned longest, std::uint64_t weights, Take take) noexcept {
    constexpr std::uint64_t begin_mark = 256, end_mark = 257;
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15, other_odd = 0xd6e8feb86659fd93;
    std::array<std::uint16_t, score_oracle::scored_bytes + 2> symbols;
    std::size_t count = 0;
    symbols[count++] = begin_mark;
    const std::size_t scored = key.size < score_oracle::scored_bytes ? key.size : score_oracle::scored_bytes;
    for (std::size_t i = 0; i < scored; ++i) symbols[count++] = std::to_integer<std::uint16_t>(key.data[i]);
    symbols[count++] = end_mark;
    for (std::size_t from = 0; from < count; ++from) {
        const std::size_t most = count - from < longest ? count - from : longest;
        std::uint64_t state = 0x2545f4914f6cdd1d;
        for (std::size_t i = 0; i < most; ++i) {
            state = (state ^ symbols[from + i]) * odd;
            state ^= state >> 31;
            take(static_cast<std::size_t>(scale(state * other_odd, weights)));
        }
    }
}

}  // namespace genista
