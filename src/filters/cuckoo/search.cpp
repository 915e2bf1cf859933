// The way to a free slot: breadth first over the keys that could make room, so that the fewest of
// them move.
//
// One remote read for each key examined; its other bins, and whether they have room, are local. The
// walk of [acf §2.2] moves keys as it goes; this search moves nothing before it has found the end,
// so no key can be lost.
#include <algorithm>
#include <utility>
#include <vector>

#include "filters/cuckoo/core.hpp"

namespace genista::cuckoo {
namespace {

// At 95 % load a key has room in one of three other tables with probability 0.14: this many keys in
// a row without room occur only in tables that have none.
constexpr std::size_t most_reads = 400;

struct step_of_search {
    std::uint64_t slot;
    std::size_t from;  // the step whose key would move here
};
constexpr std::size_t from_the_key = ~std::size_t{0};

}  // namespace

bool core::will_be_empty(std::uint64_t slot, plan& in) const noexcept {
    const planned_slot* const known = in.find(slot);
    return known != nullptr ? !known->after.has_value() : is_empty(slot);
}

std::optional<std::uint64_t> core::free_slot_of(const essence& key, unsigned first_table, plan& in) const {
    std::optional<std::uint64_t> free;
    any_slot_of(key, first_table, [&](std::uint64_t slot) {
        if (will_be_empty(slot, in)) free = slot;
        return free.has_value();
    });
    return free;
}

result<core::way> core::search(const element& key, plan& in, batch_index_source& remote,
                               std::optional<std::uint64_t> pinned) {
    const essence root = essence_of(key.where);
    const auto first_table = static_cast<unsigned>(chance_.below(shape().tables));
    const auto come_to = [&](std::uint64_t slot, std::optional<element> comes) {
        planned_slot* const known = in.find(slot);
        (known != nullptr ? *known : in.add(slot, std::nullopt)).after = std::move(comes);
    };
    if (const auto free = free_slot_of(root, first_table, in); free) {
        come_to(*free, key);
        return way::found;
    }
    std::vector<step_of_search> steps;
    const auto look_at_bins = [&](const essence& of, std::size_t from) {
        any_slot_of(of, first_table, [&](std::uint64_t slot) {
            const bool seen = slot == pinned ||
                              std::any_of(steps.begin(), steps.end(), [&](const auto& s) { return s.slot == slot; });
            if (!seen) steps.push_back({slot, from});
            return false;
        });
    };
    look_at_bins(root, from_the_key);
    for (std::size_t at = 0; at < steps.size(); ++at) {
        if (at == most_reads) return way::too_long;
        const auto held = occupant(steps[at].slot, in, remote);
        if (!held) return held.error();
        const essence moved = essence_of((*held)->after->where);
        const auto free = free_slot_of(moved, first_table, in);
        if (!free) {
            look_at_bins(moved, at);
            continue;
        }
        // From the end to the beginning: each key moves to the slot that the previous move has just
        // freed.
        come_to(*free, in.find(steps[at].slot)->after);
        std::size_t hole = at;
        for (; steps[hole].from != from_the_key; hole = steps[hole].from) {
            in.find(steps[hole].slot)->after = in.find(steps[steps[hole].from].slot)->after;
        }
        in.find(steps[hole].slot)->after = key;
        return way::found;
    }
    return way::none;
}

}  // namespace genista::cuckoo
