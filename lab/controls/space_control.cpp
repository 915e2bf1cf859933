// See space_control.hpp.
#include "lab/controls/space_control.hpp"

#include "genista/filters/broom.hpp"

namespace genista::lab {

attack_added attack_leaking_broom(std::uint64_t keys, double adapts_per_key, std::uint64_t seed) {
    faults = {};
    faults.side_blocks_leak = true;
    try {
        auto seen = attack_broom<broom_filter, broom_options>(keys, adapts_per_key, seed,
                                                              [](std::uint64_t, const attack_added&, auto&) {});
        faults = {};
        return seen;
    } catch (...) {
        faults = {};
        throw;
    }
}

}  // namespace genista::lab
