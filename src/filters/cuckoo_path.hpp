// Making room in a cuckoo table: finds the shortest chain of moves to a free slot before anything
// moves, so that a failed insert has changed nothing (I2 of cuckoo_partial.hpp).
//
// Breadth-first from the key's two buckets; the children of a full bucket are the other buckets of
// its four tags. Only the last bucket of a chain has a free slot, all before it are full, and a
// slot is in a chain at most once (it determines the next bucket). So the moves, from the end
// backwards, move exactly the tags that the search saw. We believe that a few dozen buckets are
// enough on average at 95 % load; `most_nodes` bounds the cost of one insert under an adversary.
#pragma once

#include <array>
#include <cstdint>

#include "filters/cuckoo_bucket.hpp"
#include "genista/filters/cuckoo_partial.hpp"

namespace genista {

template <unsigned TagBits>
class cuckoo_path {
    using bucket_of = cuckoo_bucket<TagBits>;

  public:
    static constexpr std::size_t most_nodes = 2048;

    // Inserts `tag` into one of the full buckets b and c. False: no chain found, nothing changed.
    static bool insert(const cuckoo_partial_state& s, std::uint64_t b, std::uint64_t c, std::uint64_t tag) noexcept {
        std::array<node, most_nodes> nodes;
        nodes[0] = {b, none, 0};
        nodes[1] = {c, none, 0};
        std::uint32_t end = 2;
        for (std::uint32_t at = 0; at < end; ++at) {
            const std::uint64_t word = bucket_of::load(s.bytes, nodes[at].bucket);
            if (end + bucket_of::slots > most_nodes) return false;
            for (unsigned slot = 0; slot < bucket_of::slots; ++slot) {
                const std::uint64_t next = bucket_of::other(s.buckets, nodes[at].bucket, bucket_of::tag_at(word, slot));
                __builtin_prefetch(s.bytes + bucket_of::size_bytes * next);
                nodes[end + slot] = {next, at, slot};
            }
            for (unsigned slot = 0; slot < bucket_of::slots; ++slot) {
                const std::uint64_t free = bucket_of::zero_lanes(bucket_of::load(s.bytes, nodes[end + slot].bucket));
                if (free == 0) continue;
                move_back(s, nodes, end + slot, bucket_of::first_lane(free), tag);
                return true;
            }
            end += bucket_of::slots;
        }
        return false;
    }

  private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct node {
        std::uint64_t bucket;
        std::uint32_t parent;
        std::uint32_t slot;  // of the parent: its tag would move here
    };

    static void move_back(const cuckoo_partial_state& s, const std::array<node, most_nodes>& nodes, std::uint32_t at,
                          unsigned free_slot, std::uint64_t tag) noexcept {
        while (nodes[at].parent != none) {
            const node& parent = nodes[nodes[at].parent];
            const std::uint64_t moved = bucket_of::tag_at(bucket_of::load(s.bytes, parent.bucket), nodes[at].slot);
            bucket_of::set(s.bytes, nodes[at].bucket, free_slot, moved);
            free_slot = nodes[at].slot;
            at = nodes[at].parent;
        }
        bucket_of::set(s.bytes, nodes[at].bucket, free_slot, tag);
    }
};

}  // namespace genista
