// Radix by position, on several threads. See bulk.hpp.
#include "filters/broom/bulk.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <new>

#include "filters/broom/team.hpp"

namespace genista {
inline namespace GENISTA_BROOM_VARIANT {
namespace broom {
namespace {

constexpr std::uint64_t keys_per_bucket = 1024;  // 16 KiB of digests
constexpr unsigned most_bits = 16;               // of buckets; beyond that a pass over them all takes too long
constexpr std::size_t chunk = 256;               // digests hashed at once

void hash_all(const hasher& hash, std::span<const std::uint64_t> keys, std::span<digest> out) noexcept {
    hash(keys, out);
}
void hash_all(const hasher& hash, std::span<const key_view> keys, std::span<digest> out) noexcept {
    for (std::size_t i = 0; i < keys.size(); ++i) out[i] = hash(keys[i]);
}

// visit(digest) for each key of the part.
template <class Key, class Visit>
void for_each_digest(const hasher& hash, std::span<const Key> part, const Visit& visit) noexcept {
    std::array<digest, chunk> ready;
    while (!part.empty()) {
        const std::size_t here = std::min(part.size(), chunk);
        hash_all(hash, part.first(here), std::span{ready}.first(here));
        for (std::size_t i = 0; i < here; ++i) visit(ready[i]);
        part = part.subspan(here);
    }
}

}  // namespace

template <class Key>
std::vector<digest> digests_in_order(const hasher& hash, std::span<const Key> keys, unsigned threads) {
    const unsigned bits = std::min(static_cast<unsigned>(std::bit_width(keys.size() / keys_per_bucket)), most_bits);
    const std::size_t buckets = std::size_t{1} << bits;
    const auto bucket_of = [bits](const digest& d) {
        return bits == 0 ? std::size_t{0} : static_cast<std::size_t>(d.position >> (64 - bits));
    };
    const unsigned team = std::max(threads, 1u);
    const auto part_of = [&](unsigned t) {
        const std::size_t first = keys.size() * t / team;
        return keys.subspan(first, keys.size() * (t + 1) / team - first);
    };
    // Thread t writes its digests of bucket b from places[t][b] on.
    std::vector<std::vector<std::size_t>> places(team, std::vector<std::size_t>(buckets));
    in_team(team, [&](unsigned t) noexcept {
        for_each_digest(hash, part_of(t), [&](const digest& d) { ++places[t][bucket_of(d)]; });
    });
    std::vector<std::size_t> starts(buckets + 1);
    std::size_t at = 0;
    for (std::size_t b = 0; b < buckets; ++b) {
        starts[b] = at;
        for (unsigned t = 0; t < team; ++t) at += std::exchange(places[t][b], at);
    }
    starts[buckets] = at;
    std::vector<digest> sorted(keys.size());
    in_team(team, [&](unsigned t) noexcept {
        for_each_digest(hash, part_of(t), [&](const digest& d) { sorted[places[t][bucket_of(d)]++] = d; });
    });
    in_team(team, [&](unsigned t) noexcept {
        for (std::size_t b = buckets * t / team; b < buckets * (t + 1) / team; ++b) {
            std::sort(sorted.data() + starts[b], sorted.data() + starts[b + 1]);
        }
    });
    return sorted;
}

template std::vector<digest> digests_in_order<std::uint64_t>(const hasher&, std::span<const std::uint64_t>, unsigned);
template std::vector<digest> digests_in_order<key_view>(const hasher&, std::span<const key_view>, unsigned);

result<void> digest_source::read(position_range range, population& into) {
    const auto first = std::lower_bound(sorted_.begin(), sorted_.end(), range.first,
                                        [](const digest& d, std::uint64_t position) { return d.position < position; });
    auto last = first;
    while (last != sorted_.end() && last->position <= range.last) ++last;
    try {
        into.members.clear();
        std::unique_copy(first, last, std::back_inserter(into.members));
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "broom: no memory for the keys of one bin");
    }
    into.holds_key = false;
    return {};
}

}  // namespace broom
}  // namespace GENISTA_BROOM_VARIANT
}  // namespace genista
