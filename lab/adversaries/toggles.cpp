// Keys that are erased and inserted again: what is learnt about a key must not be lost with it
// [broom18 §4.3].
#include "lab/adversaries/attacks.hpp"
#include "lab/adversaries/hunter.hpp"

namespace genista::lab {

// The adversary does not need the keys that its false positives collide with: it moves all keys.
void delete_and_reinsert(arena& at, const budget& may_spend) {
    constexpr std::size_t pool_size = 4;  // what one bin fixes without being renewed
    hunter me{at, may_spend};
    while (!me.spent()) {
        const auto pool = me.catch_some(pool_size);
        for (const bool all_at_once : {true, false}) {
            if (all_at_once) {
                me.erase_all(me.members);
                me.insert_all(me.members);
            } else {
                for (const std::uint64_t member : me.members) me.toggle(member);
            }
            for (const std::uint64_t x : pool) at.guess(x);
        }
    }
}

// Two keys have four states of presence. If a filter's state followed from the keys that are
// stored, in part or with a counter that rises and falls, then former false positives would return
// with a former state.
void toggle_two(arena& at, const budget& may_spend) {
    constexpr std::size_t pool_size = 2;
    hunter me{at, may_spend};
    me.shrink_to(2);
    while (!me.spent()) {
        for (const std::uint64_t member : me.members) me.toggle(member);  // forgets what makes the hunt long
        const auto pool = me.catch_some(pool_size);
        const auto ask = [&] {
            for (const std::uint64_t x : pool) at.guess(x);
        };
        const std::uint64_t a = me.members[0];
        const std::uint64_t b = me.members[1];
        for (const auto& [first, second] : {std::pair{a, b}, std::pair{b, a}}) {
            at.erase(first);
            ask();
            at.insert(first);
            ask();
            at.erase(first);
            at.erase(second);
            at.insert(first);
            ask();
            at.insert(second);
            ask();
        }
    }
}

// A key that was just erased must be forgotten, whatever keeps its slot; and keys that differ from
// stored keys in a few bits must not collide with them more often than others. A difference that
// did so once is then tried on every stored key.
void ask_known_members(arena& at, const budget& may_spend) {
    constexpr std::size_t relatives = 64;
    constexpr std::size_t remembered = 8;
    hunter me{at, may_spend};
    std::vector<std::uint64_t> differences;  // that made a false positive with some stored key
    while (!me.spent()) {
        const std::uint64_t member = me.some_member();
        at.erase(member);
        at.guess(member);
        at.insert(member);
        for (std::size_t i = 0; i < relatives; ++i) {
            const std::uint64_t difference =
                std::uint64_t{1} << 40 | std::uint64_t{1} << me.below(40) | me.below(1024) << 41;
            if (!at.query(member ^ difference).false_positive()) continue;
            if (differences.size() < remembered) differences.push_back(difference);
            differences[me.below(differences.size())] = difference;
        }
        for (const std::uint64_t difference : differences) at.guess(me.some_member() ^ difference);
    }
}

}  // namespace genista::lab
