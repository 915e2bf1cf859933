// Keys that history has made alike: x1 and x2 both collided with y, so they probably collide with
// each other, though they were never compared. Lemma 13 of [broom18] bounds such a pair as if
// nothing was known of it; see docs/filters/broom.md.
//
// The attack needs two false positives that collide with the same stored key, before that key, or
// one of them, gets another hash function. Against a filter whose bins are renewed a few at a time:
// few stored keys, and a small pool, because every fix makes the next one rarer. Against one whose
// frontier gives c keys a new function with every false positive [§4.2]: a part of a phase, so the
// pool grows with the stored keys.
#include <algorithm>

#include "lab/adversaries/attacks.hpp"

namespace genista::lab {
namespace {

constexpr std::size_t few_members = 4;
constexpr std::size_t small_pool = 4;

using caught_keys = std::vector<std::uint64_t>;

// Inserts the first half and claims the others; afterwards everything is as before. Returns how
// often the filter had to separate keys.
std::size_t cross(hunter& me, const caught_keys& pool) {
    const auto middle = pool.begin() + static_cast<std::ptrdiff_t>(pool.size() / 2);
    const caught_keys joining{pool.begin(), middle};
    std::size_t repairs = 0;
    for (const std::uint64_t x : joining) repairs += me.at.insert(x) > 0 ? 1u : 0u;
    for (auto x = middle; x != pool.end(); ++x) repairs += me.at.guess(*x).false_positive() ? 1u : 0u;
    me.erase_all(joining);
    return repairs;
}

}  // namespace

void swap_with_members(arena& at, const budget& may_spend) {
    hunter me{at, may_spend};
    me.shrink_to(few_members);
    while (const auto x = me.catch_one()) {
        me.erase_all(me.members);
        at.insert(*x);
        for (const std::uint64_t y : me.members) at.guess(y);
        at.erase(*x);
        me.insert_all(me.members);
    }
}

void cross_pool(arena& at, const budget& may_spend) {
    hunter me{at, may_spend};
    me.shrink_to(few_members);
    while (!me.spent()) {
        const caught_keys pool = me.catch_some(small_pool);
        me.erase_all(me.members);
        (void)cross(me, pool);
        me.insert_all(me.members);
    }
}

void cross_pool_of_a_phase(arena& at, const budget& may_spend) {
    hunter me{at, may_spend};
    while (!me.spent()) {
        const caught_keys pool = me.catch_some(me.members.size() / 6);  // half a phase, if three keys move with each
        me.erase_all(me.members);
        (void)cross(me, pool);
        me.insert_all(me.members);
    }
}

// Erases no key before the claim. Finds as many more false positives as make the filter give every
// stored key a new hash function: by the frontier of [broom18 §4.2] after a number in proportion to
// n, in a bin of the broom filter after a handful.
void cross_frontier(arena& at, const budget& may_spend) {
    hunter me{at, may_spend};
    while (!me.spent()) {
        const caught_keys pool = me.catch_some(small_pool);
        (void)me.catch_some(me.members.size());
        (void)cross(me, pool);
    }
}

// The frontier passes the stored keys that collided, and not yet the absent keys that collided with
// them: nearly a phase of false positives, then the claim. Absent keys come after all stored keys
// in the order of keys, so the frontier reaches them last. The paper says how many keys a false
// positive moves, so the adversary can count the phase; keys that were separated at an insert move
// it, too.
void cross_frontier_of_a_phase(arena& at, const budget& may_spend) {
    constexpr std::size_t moved_by_adapt = 3;
    hunter me{at, may_spend};
    std::size_t adapts = 0;  // in this phase
    while (!me.spent()) {
        const std::size_t phase = me.members.size() / moved_by_adapt + 1;
        const caught_keys pool = me.catch_some(phase * 9 / 10 - std::min(phase * 9 / 10, adapts));
        adapts += pool.size() + cross(me, pool);
        adapts += me.catch_some(phase - std::min(phase, adapts)).size();
        adapts -= std::min(phase, adapts);
    }
}

}  // namespace genista::lab
