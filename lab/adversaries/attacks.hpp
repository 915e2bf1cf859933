// The attacks, one function each, defined in the files of this directory; adversaries.cpp lists and
// describes them.
#pragma once

#include "lab/adversaries/adversary.hpp"

namespace genista::lab {

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
