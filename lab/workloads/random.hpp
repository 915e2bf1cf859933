// Chance from a seed: the same stream on every machine.
#pragma once

#include <cstdint>

#include "genista/hash/key.hpp"

namespace genista::lab {

// splitmix64. All its streams are one circle of 2^64 numbers, entered at different places; the
// place is the seed scrambled twice, because experiments take seed, seed + 1, seed + 2 for streams
// that have to be independent, and neighbours on the circle are one stream, shifted.
class random_stream {
  public:
    explicit random_stream(std::uint64_t seed) noexcept
        : state_{scrambled(scrambled(seed + 0x2545f4914f6cdd1d) ^ 0xa0761d6478bd642f)} {}

    std::uint64_t operator()() noexcept { return scrambled(state_ += 0x9e3779b97f4a7c15); }
    // 0 .. bound - 1; even within 2^-32 for every bound we draw from.
    std::uint64_t below(std::uint64_t bound) noexcept { return scale((*this)(), bound); }
    // In [0, 1).
    double unit() noexcept { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

  private:
    static std::uint64_t scrambled(std::uint64_t x) noexcept {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }

    std::uint64_t state_;
};

}  // namespace genista::lab
