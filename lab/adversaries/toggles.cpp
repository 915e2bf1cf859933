// Keys that are erased and inserted again: what is learnt about a key must not be lost with it
// [broom18 §4.3].
#include "lab/adversaries/attacks.hpp"

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

// Exclusion. An absent key x and the stored keys Y are both tested against many keys Z that are
// inserted and erased: none of them collides. If the keys of Z leave no trace, then x is known to
// avoid their bases and Y to avoid them as well, and the chance that x meets Y rises from k/N to
// k/(N - |Z|). (The law keeps the slots of erased keys until renewal [L2]; `soft` does not.)
//
// The absent keys must not have met Y itself in this epoch, so Y is erased while they are tested. A
// visible read on the way means that the epoch has ended, and the attack begins again.
void exclude_by_erased(arena& at, const budget& may_spend) {
    constexpr std::size_t claims = 12;
    constexpr std::size_t batch = 20;
    constexpr int batches = 12;
    hunter me{at, may_spend};
    me.shrink_to(26);
    while (!me.spent()) {
        me.toggle(me.members.front());
        std::vector<std::uint64_t> claim(claims);
        for (std::uint64_t& x : claim) x = me.absent_key();
        bool intact = true;
        const auto insert_quietly = [&](const std::vector<std::uint64_t>& keys) {
            for (const std::uint64_t key : keys) intact = at.insert(key) == 0 && intact;
        };
        for (int i = 0; i < batches && intact; ++i) {
            std::vector<std::uint64_t> departing(batch);
            for (std::uint64_t& z : departing) z = me.absent_key();
            insert_quietly(departing);  // Z against Y
            me.erase_all(me.members);
            for (const std::uint64_t x : claim) intact = !at.query(x).maybe && intact;  // x against Z
            me.erase_all(departing);
            insert_quietly(me.members);
        }
        for (const std::uint64_t x : claim) intact ? at.guess(x) : at.query(x);
    }
}

}  // namespace genista::lab
