// digests_in_order: keys in any order → their digests in the order of positions. R has this order,
// and bins and perfect hash functions are built in it.
//
// A radix pass by the highest bits of the position spreads the digests over so many buckets that
// each fits into the first-level cache, where it is sorted; both on several threads. Each key is
// hashed twice and its digest moved once: hashing is cheaper than memory. The result is the same
// for any number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "genista/hash/hasher.hpp"

namespace genista {

// Takes 16 bytes a key. May throw std::bad_alloc. Key is std::uint64_t, key_view or digest.
template <class Key>
[[nodiscard]] std::vector<digest> digests_in_order(const hasher& hash, std::span<const Key> keys, unsigned threads);

inline constexpr std::size_t digests_at_once = 256;

// REQUIRES: out.size() = keys.size(). Integers are hashed in bulk.
inline void hash_all(const hasher& hash, std::span<const std::uint64_t> keys, std::span<digest> out) noexcept {
    hash(keys, out);
}
inline void hash_all(const hasher& hash, std::span<const key_view> keys, std::span<digest> out) noexcept {
    std::transform(keys.begin(), keys.end(), out.begin(), [&](key_view key) { return hash(key); });
}
inline void hash_all(const hasher&, std::span<const digest> keys, std::span<digest> out) noexcept {
    std::copy(keys.begin(), keys.end(), out.begin());
}

// Calls visit(index in `part`, digest) for each key of the part.
template <class Key, class Visit>
void for_each_digest(const hasher& hash, std::span<const Key> part, const Visit& visit) noexcept {
    std::array<digest, digests_at_once> ready;
    for (std::size_t first = 0; first < part.size(); first += digests_at_once) {
        const std::size_t here = std::min(part.size() - first, digests_at_once);
        hash_all(hash, part.subspan(first, here), std::span{ready}.first(here));
        for (std::size_t i = 0; i < here; ++i) visit(first + i, ready[i]);
    }
}

}  // namespace genista
