// Chance from a seed: the same stream on every machine.
#pragma once

#include <cstdint>

#include "genista/hash/digest.hpp"

namespace genista::lab {

// splitmix64.
class random_stream {
  public:
    explicit random_stream(std::uint64_t seed) noexcept : state_{seed * 0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d} {}

    std::uint64_t operator()() noexcept {
        std::uint64_t x = state_ += 0x9e3779b97f4a7c15;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }
    // 0 .. bound - 1; even within 2^-32 for every bound we draw from.
    std::uint64_t below(std::uint64_t bound) noexcept { return scale((*this)(), bound); }
    // In [0, 1).
    double unit() noexcept { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

  private:
    std::uint64_t state_;
};

}  // namespace genista::lab
