// plain_cuckooing: the Cuckooing ACF [acf §2.3] written a second time, as simply as possible: slots
// hold keys, hash functions are computed when they are needed, nothing is remote, nothing fails.
// acf-figures compares the library's filter with it.
//
//     k = 4 tables, one slot a bin; a key that collided goes to its next table; what lies there
//     moves by the shortest way to a free slot (breadth first), as the library's does: how many
//     keys a repair moves decides how many other keys it breaks
//
// `excess` makes it worse on purpose: an absent key agrees with a stored key in their shared slot
// with probability excess · 2^-f.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "genista/hash/key.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {

struct plain_cuckooing_options {
    std::uint64_t keys = 1000;
    unsigned fingerprint_bits = 8;
    double load = 0.95;
    double excess = 1;
    std::uint64_t seed = 1;
};

class plain_cuckooing {
  public:
    using key = std::uint32_t;

    // Holds the keys 0 .. keys - 1. Draws new hash functions until all keys have a place.
    explicit plain_cuckooing(const plain_cuckooing_options& options)
        : bins_{static_cast<std::uint64_t>(static_cast<double>(options.keys) / (tables * options.load)) + 1},
          window_{static_cast<std::uint64_t>(options.excess * 0x1p64 /
                                             static_cast<double>(1ull << options.fingerprint_bits))} {
        for (salt_ = options.seed;; salt_ += 0x5851f42d4c957f2d) {
            slots_.assign(tables * bins_, nothing);
            key next = 0;
            while (next < options.keys && place(next, nowhere)) ++next;
            if (next == options.keys) return;
        }
    }

    [[nodiscard]] bool may_contain(key asked) const { return colliding_slot(asked, 0) != nowhere; }

    void adapt(key asked) {
        for (std::size_t slot = colliding_slot(asked, 0); slot != nowhere;) {
            const std::size_t table = slot / bins_;
            move_on(slot);
            slot = table + 1 == tables ? nowhere : colliding_slot(asked, table + 1);
        }
    }

  private:
    static constexpr std::size_t tables = 4;
    static constexpr key nothing = ~key{0};
    static constexpr std::size_t nowhere = ~std::size_t{0};
    static constexpr std::size_t most_steps = 400;

    [[nodiscard]] std::uint64_t chance(key of, std::size_t number) const {
        return random_stream{salt_ ^ (std::uint64_t{of} * 16 + number) * 0x9e3779b97f4a7c15}();
    }
    [[nodiscard]] std::size_t slot_of(key of, std::size_t table) const {
        return table * bins_ + static_cast<std::size_t>(scale(chance(of, table), bins_));
    }
    // Fingerprints on a circle: two agree if one is at most a window behind the other.
    [[nodiscard]] bool agree(key asked, key stored, std::size_t table) const {
        return chance(asked, tables + table) - chance(stored, tables + table) < window_;
    }
    [[nodiscard]] std::size_t colliding_slot(key asked, std::size_t first_table) const {
        for (std::size_t table = first_table; table < tables; ++table) {
            const std::size_t slot = slot_of(asked, table);
            if (slots_[slot] != nothing && agree(asked, slots_[slot], table)) return slot;
        }
        return nowhere;
    }
    void move_on(std::size_t slot) {
        const key moved = slots_[slot];
        const std::size_t next = slot_of(moved, (slot / bins_ + 1) % tables);
        const key displaced = slots_[next];
        slots_[slot] = nothing;
        slots_[next] = moved;
        if (displaced == nothing || place(displaced, next)) return;
        slots_[next] = displaced;  // no room: the mistake stays
        slots_[slot] = moved;
    }
    // Nothing has changed if there is no room. What lies at `pinned` does not move.
    bool place(key newcomer, std::size_t pinned) {
        struct step {
            std::size_t slot, from;
        };
        std::vector<step> steps;
        const auto look = [&](key of, std::size_t from) {
            for (std::size_t table = 0; table < tables; ++table) {
                const std::size_t slot = slot_of(of, table);
                if (slots_[slot] == nothing) return slot;
                const bool seen =
                    std::any_of(steps.begin(), steps.end(), [&](const step& s) { return s.slot == slot; });
                if (slot != pinned && !seen) steps.push_back({slot, from});
            }
            return nowhere;
        };
        std::size_t free = look(newcomer, nowhere), at = nowhere;
        while (free == nowhere) {
            if (++at == steps.size() || at == most_steps) return false;
            free = look(slots_[steps[at].slot], at);
        }
        for (; at != nowhere; at = steps[at].from) {
            slots_[free] = slots_[steps[at].slot];
            free = steps[at].slot;
        }
        slots_[free] = newcomer;
        return true;
    }

    std::uint64_t bins_, window_, salt_ = 0;
    std::vector<key> slots_;
};

}  // namespace genista::lab
