// The rounds: every operation of every filter, timed in turns, so that noise hits all of them alike.
//
//     round 1:  build A B C | negative A B C floor | positive A B C | negative_batch A B C floor | … | erase A B C
//     round 2:  build B C A | negative B C floor A | …            the order turns by one, nobody is always first
//
// A shared machine is slow for seconds at a time: filters measured one after another would each meet another machine.
// The minimum over the rounds is the machine at its quietest, the median what one can expect; ratios within one run are
// what to trust.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bench/figures.hpp"
#include "bench/keys.hpp"
#include "bench/plan.hpp"
#include "bench/subject.hpp"

namespace genista::tool::bench {

struct floor_figures {
    std::uint64_t size_bytes = 0;
    samples each;
    samples batch;
};

class rounds {
  public:
    // `tick` is called after every timed loop with its name.
    rounds(const plan& what, const key_source& keys, std::span<const std::unique_ptr<subject>> subjects,
           std::function<void(std::string_view)> tick);

    // Fills every filter with all keys: the first sample of insert. Fails only as making a filter can fail.
    [[nodiscard]] result<void> build_all(std::uint64_t round, std::vector<figures>& into);

    // All rounds of look-ups and erases, and the builds after the first.
    [[nodiscard]] result<void> run(const reader& floor, std::vector<figures>& into, floor_figures& floor_into);

    // How often tick will be called for each subject, the first build included.
    [[nodiscard]] static std::uint64_t ticks_each(const plan& what);

  private:
    [[nodiscard]] result<void> time_build(subject& each, figures& into);
    void time_lookups_of_all(std::uint64_t round, operation what, const reader& floor, std::vector<figures>& into,
                             floor_figures& floor_into);
    void time_erase(subject& each, figures& into);
    void time_adapt(subject& each, figures& into, std::uint64_t round);

    const plan& plan_;
    const key_source& keys_;
    std::span<const std::unique_ptr<subject>> subjects_;
    std::function<void(std::string_view)> tick_;
    std::vector<std::uint64_t> absent_;
    std::vector<std::uint64_t> present_;
    std::vector<std::uint64_t> erased_;
    std::vector<std::uint64_t> single_positives_;  // of `negative`, per subject: what `negative_batch` must repeat
};

}  // namespace genista::tool::bench
