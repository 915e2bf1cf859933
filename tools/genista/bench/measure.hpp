// One size of a run: filters are made, filled, churned, queried and timed. The command runs one
// size after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/figures.hpp"
#include "bench/keys.hpp"
#include "bench/plan.hpp"
#include "bench/report.hpp"
#include "bench/subject.hpp"
#include "filters.hpp"

namespace genista::tool::bench {

using subjects = std::vector<std::unique_ptr<subject>>;

// Filters under test and, with churn, a churned one for each that can erase.
struct contestants {
    subjects under_test;
    subjects churned;
};

// Makes them, empty. An error names the memory that this machine lacks.
[[nodiscard]] result<contestants> make_contestants(const plan& what, std::span<const filter_entry* const> filters);

// Measures one size. Stops at the first fault of a filter, which the caller finds in the figures;
// an error is not the filter's fault. `tick` gets the share that is done, and of what.
[[nodiscard]] result<size_report> measure(const plan& what, std::span<const filter_entry* const> filters,
                                          const std::function<void(double, std::string)>& tick);

[[nodiscard]] std::optional<std::string> first_fault(const size_report& size);

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

// The rounds: every operation of every filter, timed in turns, so that noise hits all of them
// alike.
//
//     round 1:  build A B C | negative A B C floor | positive A B C | negative_batch A B C floor |
//               … | erase A B C | …
//     round 2:  build B C A | negative B C floor A | …            the order rotates by one
//
// Large filters are built twice only, and the updates of the last build come after all its
// look-ups.
//
// Several numbers of threads take turns too, inside each round and operation, and so do churned
// filters (measure.cpp), in look-ups.
//
// A shared machine is slow for seconds at a time: filters measured one after another would each be
// measured at another speed. The minimum over the rounds is that of an idle machine, the median
// what to expect. Trust the ratios within one run.
class rounds {
  public:
    // `tick` is called after every timed loop with its name. Figures are kept for the subjects
    // first, then for the churned filters.
    rounds(const plan& what, const key_source& keys, const subjects& under_test, const subjects& churned,
           std::function<void(std::string_view)> tick);

    // Fills every filter with all keys: the first sample of insert. Fails only as making a filter
    // can fail.
    [[nodiscard]] result<void> build_all(std::uint64_t round, std::vector<figures>& into);

    // All rounds of look-ups and updates, and the builds after the first. Churned filters get
    // keys of their own.
    [[nodiscard]] result<void> run(const reader& floor, std::span<const std::uint64_t> present_in_churned,
                                   std::vector<figures>& into, floor_figures& floor_into);

    // How often tick will be called, the first build included.
    [[nodiscard]] static std::uint64_t ticks(const plan& what, std::size_t under_test, std::size_t churned);

  private:
    using update_loop = std::uint64_t (subject::*)(std::span<const std::uint64_t>);
    // In batches first, where there are any: look-ups meet a filter that was filled key by key.
    [[nodiscard]] result<void> time_builds(subject& each, figures& into);
    [[nodiscard]] result<void> time_build(subject& each, update_loop insert, operation what, figures& into);
    void time_lookups_of_all(std::uint64_t round, std::size_t team, operation what, const reader& floor,
                             std::vector<figures>& into, floor_figures& floor_into);
    void time_lookups_of(std::size_t entrant, std::size_t team, operation what, figures& into);
    void time_updates(std::uint64_t round, std::vector<figures>& into);
    void time_erases(subject& each, figures& into);
    void time_erase(subject& each, update_loop erase, operation what, figures& into);
    void time_adapt(subject& each, figures& into, std::uint64_t round);

    // The subjects, then the churned filters.
    [[nodiscard]] const subject& entrant(std::size_t index) const;
    [[nodiscard]] std::span<const std::uint64_t> queries(operation what, std::size_t team, bool of_churned) const;

    const plan& plan_;
    const key_source& keys_;
    const subjects& subjects_;
    const subjects& churned_;
    std::function<void(std::string_view)> tick_;
    std::vector<std::uint64_t> absent_;
    std::vector<std::uint64_t> present_;
    std::span<const std::uint64_t> present_in_churned_;
    std::vector<std::uint64_t> erased_;
    std::vector<std::uint64_t> single_positives_;  // of `negative`, per entrant: what `negative_batch` must repeat
    mix mix_;
};

}  // namespace genista::tool::bench
