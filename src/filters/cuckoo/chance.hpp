// chance: a fast stream of random words for choices that need no secrecy: which slot to try, which
// key to move.
#pragma once

#include <cstdint>

#include "filters/cuckoo/hashes.hpp"

namespace genista::cuckoo {

class chance {
  public:
    explicit chance(std::uint64_t seed) noexcept : state_{seed} {}

    std::uint64_t word() noexcept { return mix(state_ += step); }
    // Uniform below `end`, as nearly as 64 bits allow.
    std::uint64_t below(std::uint64_t end) noexcept { return scale(word(), end); }

  private:
    std::uint64_t state_;
};

}  // namespace genista::cuckoo
