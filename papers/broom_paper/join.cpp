// Planning an insert [broom18 §4.1 Insertions, §4.3, §5.3, §5.4]. See core.hpp.
#include <algorithm>
#include <cassert>

#include "papers/broom_paper/core.hpp"

namespace genista::broom_paper {

result<core::joining> core::plan_to_join(const state& in, const newcomer& who, const generation& under,
                                         index_source& remote) {
    joining plan;
    const whole_hash h = functions_(who.e.d, under.primary_salt);
    const whole_hash other = functions_(who.e.d, under.second_salt);
    // The fingerprint that matches the new key, in either level. It may be the old one of a key
    // that moves, unless a key of the same digest stays there.
    const auto in_the_way = [&](where which, const whole_hash& mine) -> result<std::optional<resident>> {
        const auto at = level_of(in, which).find(mine);
        if (!at) return std::optional<resident>{};
        auto found = owner_of(in, which, *at, remote);
        if (!found) return found.error();
        if (who.leaves && found->e == who.e) return std::optional<resident>{};
        return std::optional<resident>{*std::move(found)};
    };
    auto first = in_the_way(where::primary, h);
    if (!first) return first.error();
    result<std::optional<resident>> second = std::optional<resident>{};
    if (in.second) second = in_the_way(where::second, other);
    if (!second) return second.error();
    // The same hash: this key itself, or one with its digest. The two are indistinguishable and
    // share a fingerprint.
    const bool in_first = *first && (*first)->h == h, in_second = *second && (*second)->h == other;
    if (in_first || in_second || (in.behind && in.behind->contains(h))) {
        const auto names_it = [&](const std::optional<resident>& found) {
            return found && found->key == who.key.text();
        };
        result<bool> here = (in_first && names_it(*first)) || (in_second && names_it(*second));
        if (!who.moving && !*here) here = is_resident(who.e, who.key, remote);
        if (!here) return here.error();
        plan.says = *here ? verdict::already_present : verdict::shares;
        plan.goes_to = in_first ? where::primary : in_second ? where::second : where::behind;
        plan.h = in_second && !in_first ? other : h;
        return plan;
    }

    if (in.primary.has_room(h) && !in.primary.has_partial_collision(h)) {
        plan.goes_to = where::primary;
    } else if (in.second && in.second->has_room(other)) {
        plan.goes_to = where::second;
    } else if (in.behind && in.behind->has_room(h)) {
        plan.goes_to = where::behind;
    } else {
        return plan;
    }
    plan.says = verdict::ready;
    plan.h = plan.goes_to == where::second ? other : h;
    // Invariant 7, for each level by itself; primary level and backyard share a hash function.
    const std::optional<resident>& blocking = plan.goes_to == where::second ? *second : *first;
    if (blocking) {
        plan.extends = true;
        plan.stream = blocking->h.second;
        plan.extended_length = bits_to_tell(plan.stream, plan.h.second);
        if (plan.extended_length > most_adaptivity_bits)
            return error::make(error_code::corrupt, "broom_paper: two keys with one hash of 128 bits");
        plan.length = plan.extended_length;
    }
    if (plan.goes_to == where::behind) {
        plan.length = 0;
        return plan;
    }
    const level& to = level_of(in, plan.goes_to);
    plan.length = std::max(plan.length, to.shortest(plan.h));
    if (in.behind) plan.length = std::max(plan.length, in.behind->shortest(plan.h, to.baselines()));
    const std::uint64_t quotient = to.quotient(plan.h);
    unsigned inherited = 0;
    if (ghosts_ == ghost_rule::whole_match) inherited = to.strings().longest_ghost(quotient, plan.h.second);
    if (ghosts_ == ghost_rule::first_difference) inherited = to.strings().past_all_strings(quotient, plan.h.second);
    plan.length = std::max(plan.length, inherited);
    return plan;
}

bool core::strings_fit(const state& in, const joining& plan) const noexcept {
    const level& of = level_of(in, plan.goes_to);
    const std::size_t strings = (plan.length > 0 ? 1u : 0u) + (plan.extends ? 1u : 0u);
    const std::size_t bits = plan.length + (plan.extends ? plan.extended_length : 0);
    return strings == 0 || of.strings().has_room(of.quotient(plan.h), bits, strings);
}

void core::join(state& in, const joining& plan) {
    level& extended = level_of(in, plan.goes_to);
    if (plan.extends) {
        const auto at = extended.find(plan.h);
        assert(at);
        // An existing extension is never shortened.
        if (at && at->bits.length < plan.extended_length) {
            const bool done = extended.extend(*at, plan.stream, plan.extended_length);
            assert(done);
            (void)done;
        }
    }
    if (plan.goes_to == where::behind) {
        in.behind->insert(plan.h);
    } else {
        extended.insert(plan.h, plan.length);
    }
}

}  // namespace genista::broom_paper
