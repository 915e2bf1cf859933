// The attacks, one function each, defined in the files of this directory; adversaries.cpp lists and
// describes them. And hunter, what most adversaries have in common: it keeps the budget, hands out
// absent keys that were not queried before, hunts for false positives among them, and has the moves
// that renew a bin.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "lab/adversaries/adversary.hpp"

namespace genista::lab {

class hunter {
  public:
    hunter(arena& where, const budget& may_spend);

    arena& at;
    std::vector<std::uint64_t> members;  // that it wants stored; at first those that the arena began with

    // True once the budget is used up. Also reports the progress.
    [[nodiscard]] bool spent();
    // True once `share` of the budget is used up.
    [[nodiscard]] bool spent(double share) const noexcept;

    // An absent key that was not queried before.
    [[nodiscard]] std::uint64_t absent_key() noexcept { return next_absent_key_++; }
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) {
        return std::uniform_int_distribution{std::uint64_t{0}, bound - 1}(chance_);
    }
    [[nodiscard]] std::uint64_t some_member() { return members[below(members.size())]; }

    // Asks absent keys until one is a false positive, or `most` were asked, or the budget is spent.
    [[nodiscard]] std::optional<std::uint64_t> catch_one(std::uint64_t most = ~std::uint64_t{0});
    // Up to `count` false positives, with the same ends.
    [[nodiscard]] std::vector<std::uint64_t> catch_some(std::size_t count, std::uint64_t most = ~std::uint64_t{0});

    void insert_all(const std::vector<std::uint64_t>& keys);
    void erase_all(const std::vector<std::uint64_t>& keys);
    // Erases and inserts again. Under the epoch law its bin is renewed: a buried key that is
    // inserted again meets its own tombstone, and an erase in a full bin renews at once.
    void toggle(std::uint64_t member);
    // Erases all but `count` keys and toggles those, so that nothing is left of the others.
    void shrink_to(std::size_t count);

  private:
    [[nodiscard]] std::uint64_t effort() const noexcept;

    budget may_spend_;
    std::uint64_t effort_before_;
    std::uint64_t next_absent_key_ = std::uint64_t{1} << 40;
    std::uint64_t next_report_ = 0;
    std::mt19937_64 chance_;
};

void ask_fresh(arena& at, const budget& may_spend);                  // replay.cpp
void repeat_one(arena& at, const budget& may_spend);                 // replay.cpp
void replay_pool(arena& at, const budget& may_spend);                // replay.cpp
void play_rounds(arena& at, const budget& may_spend);                // rounds.cpp
void exhaust_adapts(arena& at, const budget& may_spend);             // replay.cpp
void swap_with_members(arena& at, const budget& may_spend);          // crosses.cpp
void cross_pool(arena& at, const budget& may_spend);                 // crosses.cpp
void cross_frontier(arena& at, const budget& may_spend);             // crosses.cpp
void cross_pool_of_a_phase(arena& at, const budget& may_spend);      // crosses.cpp
void cross_frontier_of_a_phase(arena& at, const budget& may_spend);  // crosses.cpp
void delete_and_reinsert(arena& at, const budget& may_spend);        // toggles.cpp
void toggle_two(arena& at, const budget& may_spend);                 // toggles.cpp
void ask_known_members(arena& at, const budget& may_spend);          // toggles.cpp
void probe_by_inserts(arena& at, const budget& may_spend);           // inserts.cpp
void pollute_one_bin(arena& at, const budget& may_spend);            // inserts.cpp
void exclude_by_erased(arena& at, const budget& may_spend);          // toggles.cpp
void toggle_backyard(arena& at, const budget& may_spend);            // backyard.cpp
void probe_backyard(arena& at, const budget& may_spend);             // backyard.cpp
void hunt_lasting_tags(arena& at, const budget& may_spend);          // backyard.cpp
void replay_across_renewals(arena& at, const budget& may_spend);     // renewals.cpp
void cycle_salts(arena& at, const budget& may_spend);                // renewals.cpp
void replay_across_growth(arena& at, const budget& may_spend);       // renewals.cpp
void replay_across_restart(arena& at, const budget& may_spend);      // renewals.cpp
void probe_by_refusals(arena& at, const budget& may_spend);          // refusals.cpp
void probe_during_outage(arena& at, const budget& may_spend);        // refusals.cpp
void leave_refused_keys(arena& at, const budget& may_spend);         // refusals.cpp
void refill_after_restart(arena& at, const budget& may_spend);       // refusals.cpp
void ask_rebuilt_copy(arena& at, const budget& may_spend);           // refusals.cpp
void ask_copy(arena& at, const budget& may_spend);                   // refusals.cpp
void exhaust_choices(arena& at, const budget& may_spend);            // acf_attacks.cpp
void find_unfixable_sets(arena& at, const budget& may_spend);        // acf_attacks.cpp

}  // namespace genista::lab
