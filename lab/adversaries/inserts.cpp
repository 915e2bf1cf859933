// What inserts reveal and do: a visible read shows a collision, and stored keys can be chosen.
#include <algorithm>

#include "lab/adversaries/attacks.hpp"

namespace genista::lab {

// x collides with y. Later the insert of z costs a read: z collided with some stored key, perhaps
// with y. If z were now extended just enough to differ from y, then x, which differs from y as
// well, agrees with z one time in three. (The law renews the bin instead [L3].) A slow attack: z
// cannot be tried before, or it would be fixed, so that only one insert in N meets the y of a given
// x.
void probe_by_inserts(arena& at, const budget& may_spend) {
    constexpr std::size_t pool_size = 2;  // so that a bin has room to extend two more
    constexpr std::size_t most_inserts = 14;
    hunter me{at, may_spend};
    std::vector<std::uint64_t> joined;
    while (!me.spent()) {
        const auto pool = me.catch_some(pool_size);
        bool collided = false;
        while (!collided && joined.size() < most_inserts) {
            joined.push_back(me.absent_key());
            collided = at.insert(joined.back()) > 0;
        }
        if (collided) {
            for (const std::uint64_t x : pool) at.guess(x);
        }
        if (me.spent()) return;
        me.erase_all(joined);
        if (collided) at.query(joined.back());
        joined.clear();
        me.toggle(me.members.front());
    }
}

// Bins are secret, but a renewal gives every absent key of that bin, and no other, a new chance to
// be a false positive. So toggling one key and asking a pool each time finds the absent keys that
// share its bin. Half of them are then inserted: the bin holds twice its share. A bound that came
// from the average load of bins would not hold for the other half; ours comes from the capacity of
// each bin.
void pollute_one_bin(arena& at, const budget& may_spend) {
    constexpr std::size_t asked = 600;
    constexpr std::size_t joining = 36;
    constexpr std::size_t victims = 36;
    hunter me{at, may_spend};
    const std::uint64_t member = me.members.front();
    std::vector<std::uint64_t> pool(asked);
    for (std::uint64_t& x : pool) x = me.absent_key();
    for (const std::uint64_t x : pool) at.query(x);  // a hit now is no evidence of the toggled key's bin
    std::vector<std::uint64_t> together;
    while (together.size() < joining + victims && !me.spent(0.5)) {
        me.toggle(member);
        for (const std::uint64_t x : pool) {
            if (at.query(x).false_positive() && std::ranges::find(together, x) == together.end()) together.push_back(x);
        }
    }
    const auto middle = together.begin() + static_cast<std::ptrdiff_t>(together.size() / 2);
    me.insert_all({together.begin(), middle});
    const std::vector<std::uint64_t> rest{middle, together.end()};
    while (!rest.empty() && !me.spent()) {
        me.toggle(member);
        for (const std::uint64_t x : rest) at.guess(x);
    }
}

}  // namespace genista::lab
