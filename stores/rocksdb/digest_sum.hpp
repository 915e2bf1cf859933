// digest_sum: a checksum of a set of keys that does not depend on their order. Digests are
// pseudo-random, so different sets have different sums. An audit compares the keys of the data with
// the keys of the index this way, without keeping either in memory.
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
