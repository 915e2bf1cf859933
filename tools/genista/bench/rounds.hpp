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
// filters (churn.hpp), in look-ups.
//
// A shared machine is slow for seconds at a time: filters measured one after another would each be
// measured at another speed. The minimum over the rounds is that of an idle machine, the median
// what to expect. Trust the ratios within one run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bench/figures.hpp"
#include "bench/keys.hpp"
#include "bench/mix.hpp"
#include "bench/plan.hpp"
#include "bench/subject.hpp"

namespace genista::tool::bench {

using subjects = std::vector<std::unique_ptr<subject>>;

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
