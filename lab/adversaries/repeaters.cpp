// Theorems 9 and 10 of [acf]: absent keys that are false positives under every choice. See
// acf_attacks.hpp.
#include "lab/adversaries/acf_attacks.hpp"
#include "lab/adversaries/attacks.hpp"
#include "lab/adversaries/hunter.hpp"

namespace genista::lab {

// "The adversary queries q_1 2^s times. If q_1 is a false positive every time it is queried, the
// adversary sets q̂ ← q_1; otherwise it chooses a new query element" [acf Thm 9]. The first query
// of each is a run of fresh absent keys.
std::optional<std::uint64_t> find_repeater(arena& at, const repeater_plan& plan) {
    std::uint64_t asked = 0;
    while (asked < plan.candidates) {
        const arena::hunt first = at.query_run(plan.first_absent_key + asked, plan.candidates - asked);
        asked += first.asked;
        if (!first.caught) break;
        const std::uint64_t candidate = plan.first_absent_key + asked - 1;
        unsigned through = 1;
        while (through < plan.repeats && at.query(candidate).false_positive()) ++through;
        if (through == plan.repeats) return candidate;
    }
    return std::nullopt;
}

// Against any filter, while the budget lasts. Three selector bits give eight choices.
void exhaust_choices(arena& at, const budget& may_spend) {
    constexpr unsigned repeats = 8;
    hunter me{at, may_spend};
    while (const auto x = me.catch_one()) {
        unsigned through = 1;
        while (through < repeats && at.query(*x).false_positive()) ++through;
        if (through == repeats) at.guess(*x);
    }
}

}  // namespace genista::lab
