// See replay_control.hpp.
#include "lab/controls/replay_control.hpp"

#include "genista/filters/broom.hpp"

namespace genista::lab {

replay_seen find_and_replay_without_adapting(std::uint64_t capacity, double load, std::uint64_t wanted,
                                             std::size_t rounds, std::uint64_t seed) {
    faults = {};
    faults.adapt_does_nothing = true;
    try {
        auto seen = find_and_replay<broom_filter>(seeded<broom_options>(capacity, 0x1p-8, seed), load, wanted, rounds,
                                                  [](double) {});
        faults = {};
        return seen;
    } catch (...) {
        faults = {};
        throw;
    }
}

}  // namespace genista::lab
