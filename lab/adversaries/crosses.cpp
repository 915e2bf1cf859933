// Keys that history has made alike: x1 and x2 both collided with y, so they probably collide with each other, though
// nobody ever compared them. Lemma 13 of [broom18] bounds such a pair as if nothing was known of it;
// docs/filters/broom.md tells the story.
//
// All three work with few members, so that two false positives are likely to have hit the same one; a false positive
// then costs more queries, which the adversary has. The pools are small because every fix makes the next one rarer.
#include "lab/adversaries/attacks.hpp"
#include "lab/adversaries/hunter.hpp"

namespace genista::lab {
namespace {

constexpr std::size_t few = 4;

using keys = std::vector<std::uint64_t>;

// The first half comes in, the others are the claim; afterwards everything is as before.
void cross(hunter& me, const keys& pool) {
    const auto middle = pool.begin() + static_cast<std::ptrdiff_t>(pool.size() / 2);
    const keys joining{pool.begin(), middle};
    me.insert_all(joining);
    for (auto x = middle; x != pool.end(); ++x) me.at.guess(*x);
    me.erase_all(joining);
}

}  // namespace

void swap_with_members(arena& at, const budget& may_spend) {
    hunter me{at, may_spend};
    me.shrink_to(few);
    while (const auto x = me.catch_one()) {
        me.erase_all(me.members);
        at.insert(*x);
        for (const std::uint64_t y : me.members) at.guess(y);
        at.erase(*x);
        me.insert_all(me.members);
    }
}

void cross_pool(arena& at, const budget& may_spend) {
    constexpr std::size_t pool_size = 4;
    hunter me{at, may_spend};
    me.shrink_to(few);
    while (!me.spent()) {
        const keys pool = me.catch_some(pool_size);
        me.erase_all(me.members);
        cross(me, pool);
        me.insert_all(me.members);
    }
}

// Nobody leaves before the claim. As many false positives again as make the filter give every member a new hash
// function: by the frontier of [broom18 §4.2] after a number of them in proportion to n, in a bin of the broom filter
// after a handful.
void cross_frontier(arena& at, const budget& may_spend) {
    constexpr std::size_t pool_size = 4;
    hunter me{at, may_spend};
    while (!me.spent()) {
        const keys pool = me.catch_some(pool_size);
        (void)me.catch_some(me.members.size());
        cross(me, pool);
    }
}

}  // namespace genista::lab
