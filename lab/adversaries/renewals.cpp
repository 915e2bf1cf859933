// Salts must not repeat [law L1]: in the epochs of one bin, and in the larger events of a filter's
// life, growth into a new table and a restart from a snapshot.
#include <array>
#include <deque>
#include <stdexcept>

#include "lab/adversaries/attacks.hpp"

namespace genista::lab {

// Epoch after epoch of one bin: does anything of a former epoch return?
void replay_across_renewals(arena& at, const budget& may_spend) {
    constexpr std::size_t new_ones = 4;
    constexpr std::size_t remembered = 64;
    constexpr int renewals = 4;
    hunter me{at, may_spend};
    std::deque<std::uint64_t> old;
    while (!me.spent()) {
        for (const std::uint64_t x : me.catch_some(new_ones)) old.push_front(x);
        while (old.size() > remembered) old.pop_back();
        for (int i = 0; i < renewals; ++i) {
            me.toggle(me.some_member());
            for (const std::uint64_t x : old) at.guess(x);
        }
    }
}

// Four false positives of each epoch are written down; a bin fixes that many without being renewed.
// At the beginning of every further epoch the first of each four is asked: if it is a false
// positive, the second and third are asked, and if they all are, then that epoch has returned, and
// the fourth is the claim. Finds salts that wrap around, and random ones from too small a range.
void cycle_salts(arena& at, const budget& may_spend) {
    constexpr std::size_t fixed_per_epoch = 4;
    constexpr std::size_t remembered = 2048;
    using mark = std::array<std::uint64_t, fixed_per_epoch>;
    hunter me{at, may_spend};
    std::deque<mark> epochs;
    while (!me.spent()) {
        me.toggle(me.members.front());
        std::vector<std::uint64_t> now;  // false positives of this epoch
        for (const mark& former : epochs) {
            for (std::size_t i = 0; i < fixed_per_epoch; ++i) {
                const reply seen = i + 1 < fixed_per_epoch ? at.query(former[i]) : at.guess(former[i]);
                if (!seen.false_positive()) break;
                now.push_back(former[i]);
            }
            if (now.size() >= fixed_per_epoch) break;  // the bin's room is used up: the epoch ends here
        }
        while (now.size() < fixed_per_epoch) {
            const auto x = me.catch_one();
            if (!x) return;
            now.push_back(*x);
        }
        epochs.push_back({now[0], now[1], now[2], now[3]});
        if (epochs.size() > remembered) epochs.pop_front();
    }
}

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
