// See invariant_control.hpp.
#include "lab/controls/invariant_control.hpp"

#include "genista/filters/broom.hpp"

namespace genista::lab {

invariant_seen drive_and_audit_extending_inserts(double rate, std::uint64_t steps, std::uint64_t seed) {
    faults = {};
    faults.insert_extends = true;
    try {
        auto seen = drive_and_audit<broom_filter>(seeded<broom_options>(180, rate, seed), steps, seed);
        faults = {};
        return seen;
    } catch (...) {
        faults = {};
        throw;
    }
}

}  // namespace genista::lab
