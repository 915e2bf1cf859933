// A bucket of four tags as one word: compare, find and replace without loops. Plain C++, the same
// code for every instruction set.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "genista/hash/key.hpp"

namespace genista {

template <unsigned TagBits>
struct cuckoo_bucket {
    static_assert(TagBits == 12 || TagBits == 16);
    static constexpr std::size_t size_bytes = TagBits / 2;  // four tags
    static constexpr std::uint64_t tag_mask = (std::uint64_t{1} << TagBits) - 1;
    static constexpr std::uint64_t ones =
        1 | std::uint64_t{1} << TagBits | std::uint64_t{1} << (2 * TagBits) | std::uint64_t{1} << (3 * TagBits);
    static constexpr std::uint64_t tops = ones << (TagBits - 1);
    static constexpr std::size_t slots = 4;

    // May carry bits of the next bucket above its own 4·TagBits; every function below ignores them.
    static std::uint64_t load(const std::byte* table, std::uint64_t bucket) noexcept {
        std::uint64_t word;
        std::memcpy(&word, table + size_bytes * bucket, sizeof word);
        if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
        return word;
    }
    static void store(std::byte* table, std::uint64_t bucket, std::uint64_t word) noexcept {
        if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
        std::memcpy(table + size_bytes * bucket, &word, sizeof word);
    }

    // The top bits of lanes that are zero. The lowest marked lane is exact; lanes above it may be
    // marked by its borrow.
    static std::uint64_t zero_lanes(std::uint64_t word) noexcept { return (word - ones) & ~word & tops; }
    static std::uint64_t matches(std::uint64_t word, std::uint64_t tag) noexcept {
        return zero_lanes(word ^ (tag * ones));
    }
    static unsigned first_lane(std::uint64_t marks) noexcept {
        return static_cast<unsigned>(std::countr_zero(marks)) / TagBits;
    }

    static std::uint64_t tag_at(std::uint64_t word, unsigned slot) noexcept {
        return word >> (slot * TagBits) & tag_mask;
    }
    static std::uint64_t with_tag(std::uint64_t word, unsigned slot, std::uint64_t tag) noexcept {
        return (word & ~(tag_mask << (slot * TagBits))) | tag << (slot * TagBits);
    }
    static void set(std::byte* table, std::uint64_t bucket, unsigned slot, std::uint64_t tag) noexcept {
        store(table, bucket, with_tag(load(table, bucket), slot, tag));
    }

    // A tag in 1..tag_mask, each equally likely up to 2^-32.
    static std::uint64_t tag_of(const digest& d) noexcept { return 1 + ((d.seed >> 32) * tag_mask >> 32); }

    // other(other(b)) = b for every table size.
    static std::uint64_t other(std::uint64_t buckets, std::uint64_t bucket, std::uint64_t tag) noexcept {
        const std::uint64_t hashed = scale(tag * 0xd6e8feb86659fd93u, buckets);
        return hashed >= bucket ? hashed - bucket : hashed + buckets - bucket;
    }
};

}  // namespace genista
