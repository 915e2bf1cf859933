// digests_in_order: a radix pass by position on several threads. See digests_in_order.hpp.
#include "hash/digests_in_order.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/team.hpp"

namespace genista {
namespace {

constexpr std::uint64_t keys_per_bucket = 1024;  // 16 KiB of digests
constexpr unsigned most_bits = 16;               // of buckets; with more buckets a pass over all of them takes too long

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
        for_each_digest(hash, part_of(t), [&](std::size_t, const digest& d) { ++places[t][bucket_of(d)]; });
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
        for_each_digest(hash, part_of(t), [&](std::size_t, const digest& d) { sorted[places[t][bucket_of(d)]++] = d; });
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
template std::vector<digest> digests_in_order<digest>(const hasher&, std::span<const digest>, unsigned);

}  // namespace genista
