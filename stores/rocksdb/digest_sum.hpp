// digest_sum: a sum over a set of keys, the same for the same keys in any order and, the digests
// being pseudo-random, for no others. Audits compare the keys of the data with those of the index
// by it, without memory for either.
#pragma once

#include <cstdint>

#include "genista/hash/key.hpp"

namespace genista::rocks {

struct digest_sum {
    std::uint64_t keys = 0, positions = 0, seeds = 0;
    void add(const digest& d) noexcept {
        ++keys;
        positions += d.position;
        seeds += d.seed;
    }
    friend bool operator==(const digest_sum&, const digest_sum&) = default;
};

}  // namespace genista::rocks
