// The backyard: a bin with twice its share of keys; half of them lie outside the line under a tag
// each.
#include <deque>
#include <map>

#include "lab/adversaries/attacks.hpp"

namespace genista::lab {

// Keys move between slot and backyard as they are erased and inserted again. An erased key must be
// forgotten, wherever it lay, and old mistakes must stay repaired.
void toggle_backyard(arena& at, const budget& may_spend) {
    constexpr std::size_t remembered = 16;
    hunter me{at, may_spend};
    std::deque<std::uint64_t> old;
    while (!me.spent()) {
        if (const auto x = me.catch_one(1000)) old.push_front(*x);
        if (old.size() > remembered) old.pop_back();
        const std::uint64_t first = me.some_member();
        const std::uint64_t second = me.some_member();
        at.erase(first);
        at.guess(first);
        at.erase(second);
        at.guess(first);
        at.guess(second);
        at.insert(first);
        for (const std::uint64_t x : old) at.guess(x);
        at.insert(second);
        for (const std::uint64_t x : old) at.guess(x);
    }
}

// z is inserted into a full bin and costs a read: its base, or its tag, was taken. If z now moved
// to the backyard and its erase only removed the entry, then z itself would certainly be a false
// positive. (The law renews at both steps [L2, L3].)
void probe_backyard(arena& at, const budget& may_spend) {
    hunter me{at, may_spend};
    while (!me.spent()) {
        const std::uint64_t z = me.absent_key();
        const bool collided = at.insert(z) > 0;
        at.erase(z);
        if (collided) at.guess(z);
    }
}

// If tags outlived renewals, then an absent key with a stored key's tag would be a false positive
// whenever that key lies in the backyard. Renewals reveal it: a false positive that returned once
// is put on a short list, and the claim is that it returns again.
void hunt_lasting_tags(arena& at, const budget& may_spend) {
    constexpr std::size_t pool_size = 64;
    constexpr int renewals = 16;
    hunter me{at, may_spend};
    while (!me.spent()) {
        std::map<std::uint64_t, int> returns;
        for (const std::uint64_t x : me.catch_some(pool_size)) returns[x] = 0;
        for (int i = 0; i < renewals; ++i) {
            me.toggle(me.some_member());
            for (auto& [x, count] : returns) {
                const reply seen = count == 0 ? at.query(x) : at.guess(x);
                count += seen.false_positive() ? 1 : 0;
            }
        }
    }
}

}  // namespace genista::lab
