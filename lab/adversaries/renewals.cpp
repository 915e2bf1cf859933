// Epoch after epoch of one bin: does anything of a former epoch return? [law L1]
#include <array>
#include <deque>

#include "lab/adversaries/attacks.hpp"
#include "lab/adversaries/hunter.hpp"

namespace genista::lab {

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

}  // namespace genista::lab
