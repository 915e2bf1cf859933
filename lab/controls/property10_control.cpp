// See property10_control.hpp.
#include "lab/controls/property10_control.hpp"

#include "genista/filters/broom.hpp"

namespace genista::lab {
namespace {

struct history_off {
    history_off() {
        faults = {};
        faults.erase_forgets = true;
    }
    history_off(const history_off&) = delete;
    history_off& operator=(const history_off&) = delete;
    ~history_off() { faults = {}; }
};

}  // namespace

property_seen try_to_collide_again_without_history(std::uint64_t steps, std::uint64_t seed) {
    const history_off off;
    return try_to_collide_again<broom_filter>(seeded<broom_options>(40, 0x1p-8, seed), steps, seed);
}

reinsertion_seen delete_and_reinsert_without_history(std::uint64_t capacity, const reinsertion_plan& plan,
                                                     std::uint64_t seed) {
    const history_off off;
    return delete_and_reinsert<broom_filter>(seeded<broom_options>(capacity, 0x1p-8, seed), plan, [](double) {});
}

}  // namespace genista::lab
