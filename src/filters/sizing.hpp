// keys_for_bits as the inverse of bits_for, shared by all structures.
#pragma once

#include <cstdint>

#include "genista/base/result.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

// The largest capacity whose table fits into `bits`. REQUIRES: bits_of(capacity) grows with
// capacity.
template <class BitsOf>
result<std::uint64_t> largest_capacity(std::uint64_t bits, BitsOf bits_of) noexcept {
    if (bits_of(1) > bits) {
        return error::make(error_code::invalid_argument,
                           "%llu bits do not hold a single key; the smallest table has %llu",
                           static_cast<unsigned long long>(bits), static_cast<unsigned long long>(bits_of(1)));
    }
    std::uint64_t fits = 1;
    std::uint64_t too_many = max_capacity + 1;
    while (too_many - fits > 1) {
        const std::uint64_t middle = fits + (too_many - fits) / 2;
        (bits_of(middle) <= bits ? fits : too_many) = middle;
    }
    return fits;
}

}  // namespace genista
