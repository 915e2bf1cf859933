// Exclusion. An absent key x and the stored keys Y are both tested against many keys Z that are
// inserted and erased: none of them collides. If the keys of Z leave no trace, then x is known to
// avoid their bases and Y to avoid them as well, and the chance that x meets Y rises from k/N to
// k/(N - |Z|). (The law keeps the slots of erased keys until renewal [L2]; `soft` does not.)
//
// The absent keys must not have met Y itself in this epoch, so Y is erased while they are tested. A
// visible read on the way means that the epoch has ended, and the attack begins again.
#include "lab/adversaries/attacks.hpp"
#include "lab/adversaries/hunter.hpp"

namespace genista::lab {

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
