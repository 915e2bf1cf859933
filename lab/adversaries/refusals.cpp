// What a filter reveals when it cannot do what it is asked: an insert that is refused, a store that
// cannot be read, keys that stay behind in the store, a restart from a snapshot, a copy. None of
// that may reveal a false positive.
#include "lab/adversaries/attacks.hpp"

namespace genista::lab {

// An insert that reads R has collided. If it is then refused, and its bin left as it was, the key
// is certainly a false positive.
void probe_by_refusals(arena& at, const budget& may_spend) {
    constexpr std::size_t most_joined = 64;
    hunter me{at, may_spend};
    std::vector<std::uint64_t> joined;
    while (!me.spent()) {
        const std::uint64_t x = me.absent_key();
        const tried_insert tried = at.try_insert(x);
        if (tried.became == insert_reply::joined) joined.push_back(x);
        if (tried.became == insert_reply::refused && tried.reads > 0) at.guess(x);
        if (joined.size() < most_joined) continue;
        me.erase_all(joined);
        joined.clear();
    }
}

// R cannot be read by ranges. An insert that fails has collided, if the others do not fail; a key
// that was stored after it tried to read has collided, too. When R can be read again, are the keys
// that failed false positives, and the others once they are erased?
void probe_during_outage(arena& at, const budget& may_spend) {
    constexpr int inserts = 40;
    hunter me{at, may_spend};
    while (!me.spent()) {
        std::vector<std::uint64_t> failed, collided, others;
        at.break_ranges(true);
        for (int i = 0; i < inserts && failed.size() + collided.size() < 4; ++i) {
            const std::uint64_t x = me.absent_key();
            const tried_insert tried = at.try_insert(x);
            if (tried.became == insert_reply::failed) failed.push_back(x);
            if (tried.became == insert_reply::joined) (tried.reads > 0 ? collided : others).push_back(x);
        }
        at.break_ranges(false);
        for (const std::uint64_t x : failed) at.guess(x);
        for (const std::uint64_t x : collided) {
            at.erase(x);
            at.guess(x);
        }
        me.erase_all(others);
    }
}

// Keys that were refused stay in R. If the bin can then no longer be renewed, its mistakes cannot
// be repaired.
void leave_refused_keys(arena& at, const budget& may_spend) {
    constexpr int left = 8;
    hunter me{at, may_spend};
    for (int i = 0; i < left;) {
        if (at.try_insert(me.absent_key(), true).became != insert_reply::joined) ++i;
        if (me.spent()) return;
    }
    while (!me.spent()) {
        const auto x = me.catch_one();
        if (x) at.guess(*x);
    }
}

// A snapshot with an empty bin, which is then filled and attacked. After a restart from the
// snapshot the same keys are inserted: do the same mistakes return?
void refill_after_restart(arena& at, const budget& may_spend) {
    constexpr std::size_t keys = 40;
    constexpr std::size_t mistakes = 4;
    hunter me{at, may_spend};
    me.erase_all(std::vector<std::uint64_t>{me.members});
    at.rebuild();  // nothing is left of them
    std::vector<std::uint64_t> filling(keys);
    for (std::uint64_t& key : filling) key = me.absent_key();
    while (!me.spent()) {
        at.save();
        me.insert_all(filling);
        const auto pool = me.catch_some(mistakes);
        me.erase_all(filling);
        at.restart();
        me.insert_all(filling);
        for (const std::uint64_t x : pool) at.guess(x);
        me.erase_all(filling);
        at.rebuild();
    }
}

namespace {

// A copy of a filter that goes on working: mistakes of one are asked of the other.
void ask_a_copy(arena& at, const budget& may_spend, bool rebuilt) {
    constexpr std::size_t mistakes = 4;
    hunter me{at, may_spend};
    while (!me.spent()) {
        at.save();
        const auto pool = me.catch_some(mistakes);
        at.restart();
        if (rebuilt) at.rebuild();
        for (const std::uint64_t x : pool) at.guess(x);
    }
}

}  // namespace

void ask_rebuilt_copy(arena& at, const budget& may_spend) {
    ask_a_copy(at, may_spend, true);
}

// A copy as loaded continues with the epochs of the snapshot: one mistake a bin is certain.
void ask_copy(arena& at, const budget& may_spend) {
    ask_a_copy(at, may_spend, false);
}

}  // namespace genista::lab
