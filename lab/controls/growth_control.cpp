// See growth_control.hpp.
#include "lab/controls/growth_control.hpp"

#include "genista/filters/broom.hpp"

namespace genista::lab {

growth_seen grow_and_watch_skipping_a_bin(std::uint64_t capacity, std::uint64_t keys, std::uint64_t seed) {
    faults = {};
    faults.growth_skips_a_bin = true;
    try {
        const auto seen = grow_and_watch<broom_filter>(seeded<broom_options>(capacity, 0x1p-8, seed, true), keys, seed,
                                                       [](double) {});
        faults = {};
        return seen;
    } catch (...) {
        faults = {};
        throw;
    }
}

}  // namespace genista::lab
