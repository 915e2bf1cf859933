// Random numbers for tests: splitmix64, the same numbers from the same seed everywhere. Tests need
// no better quality.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace genista::test {

class splitmix {
  public:
    explicit splitmix(std::uint64_t seed) noexcept : state_{seed} {}

    std::uint64_t operator()() noexcept {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    // Uniform up to a bias of below/2^64.
    std::uint64_t below(std::uint64_t bound) noexcept { return (*this)() % bound; }
    std::vector<std::byte> bytes(std::size_t count) {
        std::vector<std::byte> made(count);
        for (std::byte& b : made) b = static_cast<std::byte>((*this)() & 0xff);
        return made;
    }

  private:
    std::uint64_t state_;
};

}  // namespace genista::test
