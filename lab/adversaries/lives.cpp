// Larger events in a filter's life: growth into a new table, and a restart from a snapshot. Salts
// must not repeat [law L1].
#include <stdexcept>

#include "lab/adversaries/attacks.hpp"
#include "lab/adversaries/hunter.hpp"

namespace genista::lab {
namespace {

// Some filters have no such event; then there is nothing to attack.
template <class Event>
[[nodiscard]] bool happens(Event event) {
    try {
        event();
    } catch (const std::runtime_error&) {
        return false;
    }
    return true;
}

}  // namespace

// If a grown table began with the salts of the old one, then two keys that collided would collide
// again whenever growth leaves them in the same bin: one time in two. After each growth enough keys
// are inserted to fill the new bins as the old were.
void replay_across_growth(arena& at, const budget& may_spend) {
    constexpr int growths = 6;
    constexpr std::uint64_t per_bin = 3;  // fewer than what makes a bin renew itself
    hunter me{at, may_spend};
    const std::uint64_t load = me.members.size();
    for (int i = 0; i <= growths && !me.spent(); ++i) {
        const std::uint64_t bins = std::uint64_t{1} << i;
        const std::uint64_t most = may_spend.queries / (growths + 1);
        const auto pool = me.catch_some(per_bin * bins, most);
        if (!happens([&] { at.grow(); })) return;
        for (const std::uint64_t x : pool) at.guess(x);
        while (me.members.size() < load * bins * 2) {
            me.members.push_back(me.absent_key());
            at.insert(me.members.back());
        }
    }
}

// Takes a snapshot; then renewals, and the false positives of each. After a restart from the
// snapshot, the same renewals: if the restored filter drew the salts that it drew before, every
// false positive would return. Nothing is asked before the first renewal after the restart: what
// was learnt between snapshot and crash is lost, as docs/filters/broom.md says.
void replay_across_restart(arena& at, const budget& may_spend) {
    constexpr int epochs = 6;
    constexpr std::size_t per_epoch = 4;
    hunter me{at, may_spend};
    while (!me.spent()) {
        if (!happens([&] { at.save(); })) return;
        std::vector<std::pair<std::uint64_t, std::vector<std::uint64_t>>> lived;
        for (int i = 0; i < epochs; ++i) {
            const std::uint64_t member = me.some_member();
            me.toggle(member);
            lived.emplace_back(member, me.catch_some(per_epoch));
        }
        if (!happens([&] { at.restart(); })) return;
        for (const auto& [member, pool] : lived) {
            me.toggle(member);
            for (const std::uint64_t x : pool) at.guess(x);
        }
    }
}

}  // namespace genista::lab
