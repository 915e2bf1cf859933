// The mix: look-ups and updates in one loop, on one thread or on several at once.
//
// A thread looks up present and absent keys in random order. In between it inserts new keys and
// erases the oldest of those it inserted itself, 2^14 inserts later, in turns. Before the clock
// starts the last of the stored keys are erased, so that the filter never holds more keys than its
// capacity; afterwards they are inserted again:
//
//     stored    [ 0 ............. queried .............. | reserve: erased while the clock runs ]
//     mixed     [ thread 0: backlog, inserts | thread 1: backlog, inserts | … ]
//               a new stretch for every round and team
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/figures.hpp"
#include "bench/keys.hpp"
#include "bench/plan.hpp"
#include "bench/subject.hpp"

namespace genista::tool::bench {

class mix {
  public:
    mix(const plan& what, const key_source& keys);

    // True if the set is large enough and the filter can do it with so many threads.
    [[nodiscard]] bool suits(const subject& each, std::size_t team) const;

    // One sample for plan::threads[team]: ns an operation of the slowest thread, its time in a
    // remote map taken off.
    void time(subject& each, std::uint64_t round, std::size_t team, figures& into) const;

  private:
    struct share;  // of one thread
    // Where the keys begin that are inserted in one round by one team.
    [[nodiscard]] std::uint64_t first_key(std::uint64_t round, std::size_t team) const;
    [[nodiscard]] std::vector<share> hand_out(std::uint64_t round, std::size_t team) const;

    const plan& plan_;
    const key_source& keys_;
    std::vector<std::uint64_t> queries_;
    std::vector<std::uint64_t> reserve_;  // the largest team's; a smaller one takes its end
    std::vector<bool> stored_;            // is queries_[i] a stored key?
};

}  // namespace genista::tool::bench
