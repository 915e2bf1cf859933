// New keys, and asking again: a filter that does not learn, or forgets what it has learnt, loses to
// the second. No key is inserted or erased.
#include <deque>

#include "lab/adversaries/attacks.hpp"

namespace genista::lab {

// The plainest adversary: it asks for a new key every time. Ordinary filters withstand it too. It
// is the yardstick for the others, and it measures the rate that the stored keys make.
void ask_fresh(arena& at, const budget& may_spend) {
    hunter me{at, may_spend};
    while (!me.spent()) at.guess(me.absent_key());
}

void repeat_one(arena& at, const budget& may_spend) {
    constexpr int repetitions = 32;
    hunter me{at, may_spend};
    while (const auto x = me.catch_one()) {
        for (int i = 0; i < repetitions; ++i) at.guess(*x);
    }
}

void replay_pool(arena& at, const budget& may_spend) {
    constexpr std::size_t pool_size = 1000;
    constexpr int passes = 16;
    hunter me{at, may_spend};
    while (!me.spent()) {
        const auto pool = me.catch_some(pool_size, may_spend.queries / 4 + 1);
        for (int pass = 0; pass < passes; ++pass) {
            for (const std::uint64_t x : pool) at.guess(x);
        }
    }
}

// Space for extensions is finite. If a filter that runs out of it drops a fix, the newest (the key
// just fixed) or an older one, then one of these guesses finds it. (The law renews the bin instead
// [L4].)
void exhaust_adapts(arena& at, const budget& may_spend) {
    constexpr std::size_t remembered = 32;
    hunter me{at, may_spend};
    std::deque<std::uint64_t> old;
    while (const auto x = me.catch_one()) {
        at.guess(*x);
        for (const std::uint64_t former : old) at.guess(former);
        old.push_front(*x);
        if (old.size() > remembered) old.pop_back();
    }
}

}  // namespace genista::lab
