// The three operations insert, erase and adapt: no false negative, and every epoch keeps the law.
// docs/filters/broom.md argues why each step is safe; a comment here names the rule that a step
// serves.
#include "filters/broom/core.hpp"

#include <algorithm>
#include <iterator>
#include <new>

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {
namespace {

constexpr std::size_t crowded_backyard = 44;

error no_memory() noexcept {
    return error::make(error_code::out_of_memory, "broom: no memory for a bin's side entries");
}

error too_many_keys(std::size_t members) noexcept {
    return error::make(error_code::unsupported, "broom: a bin cannot hold %zu keys; it has room for %u", members,
                       slots_per_bin + backyard_per_bin);
}

}  // namespace

result<void> core::fetch(position_range range, range_source& source, population& into) noexcept {
    into.members.clear();
    into.holds_key = false;
    if (source.is_remote()) remote_reads_.fetch_add(1, std::memory_order_relaxed);
    const result<void> done = source.read(range, into);
    if (reads_fail() == done.has_value()) reads_fail_.store(!done, std::memory_order_relaxed);
    if (faults.error_is_absent && !done) {
        into = {};
        return {};
    }
    return done;
}

result<void> core::read(const digest& d, range_source& source, reading& into) noexcept {
    into.where = &table_of(d);
    into.bin = into.where->bin_of(d);
    into.version = into.where->version(into.bin);
    return fetch(into.where->range_of(into.bin), source, into.r);
}

bool core::stands(const reading& taken, const digest& d, const table::lock& held) const noexcept {
    if (faults.writer_without_recheck) return true;
    return held.version() == taken.version && &table_of(d) == taken.where;
}

void core::commit(table& in, table::lock& held, const bin_image& image, unsigned keys_before, budget_class from) {
    in.commit(held, image, from);
    count(held, std::uint64_t{image.keys()} - keys_before);
    if (image.sides.backyard_of(image.bin_in_cluster()).size() < crowded_backyard) return;
    // A bin that the growth under way is about to split does not ask for another growth.
    const layout& l = *layout_.load(std::memory_order_acquire);
    if (l.next == nullptr || l.next == &in) crowded_.store(true, std::memory_order_relaxed);
}

bool core::commit_if_allowed(table& in, table::lock& held, bin_image& image, unsigned keys_before) {
    try {
        commit(in, held, image, keys_before, budget_class::extensions);
        return true;
    } catch (const limit_reached&) {
        in.read(image.bin, image);
        return false;
    }
}

bool core::renew(table& in, table::lock& held, bin_image& image, std::span<const digest> members, const renewal& how) {
    const unsigned before = image.keys();
    epoch now{in, image};
    const std::size_t absent = how.avoid == nullptr ? 0 : 1;
    bool built = now.renew(members, {how.avoid, absent});
    if (!built && how.may_leave_keys && !faults.renewal_keeps_refused) {
        // R holds keys that the filter has refused, or whose inserts have not come yet: the filter
        // answers no for them now, and may go on doing so. But none of them may come to match, or
        // the next renewal could not distinguish them from stored keys.
        constexpr std::size_t most_left = 1024;  // one draw in eighty suits this many; more would take too long
        std::vector<digest> known, left{how.avoid, how.avoid + absent};
        for (const digest& member : members) {
            const bool stays = now.matches(member) || (how.with != nullptr && member == *how.with);
            if (stays || left.size() < most_left) (stays ? known : left).push_back(member);
        }
        // If two keys fit one slot, the filter cannot decide which of them is stored: both get a
        // place, a few keys more than the bin takes by inserts.
        built = now.renew(known, left, how.with == nullptr ? entries_beyond : 0);
    }
    if (!built) return false;
    try {
        commit(in, held, image, before, how.from);
    } catch (const std::bad_alloc&) {
        in.book().leave(image.now.code);
        throw;
    }
    renewals_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

result<insert_outcome> core::insert(const digest& d, range_source& source) noexcept try {
    back_off();
    auto outcome = insert_into_bin(d, source);
    if (outcome && options_.grows && wants_to_grow()) grow_a_little(source);
    return outcome;
} catch (const std::bad_alloc&) {
    return no_memory();
}

result<insert_outcome> core::insert_into_bin(const digest& d, range_source& source) {
    bool may_make_room = true;
    attempts left{writers_};
    while (left.next()) {
        reading taken;
        insert_outcome outcome = insert_outcome::inserted;
        step done = step::done;
        bool at_limit = false;
        try {
            done = join(d, taken);
            if (done == step::done) return insert_outcome::inserted;
            if (done == step::no_room) {
                // Reached only with a rule switched off (faults).
            } else if (const auto got = read(d, source, taken); got) {
                done = insert_with(d, taken, may_make_room && can_make_room(), outcome);
            } else {
                if (faults.failed_read_shows) return got.error();
                done = insert_unread(d, taken);
                if (done == step::no_room) return got.error();
            }
        } catch (const limit_reached&) {
            done = step::no_room;
            at_limit = true;
        }
        if (done == step::done) {
            taken.where->tidy();
            return outcome;
        }
        if (done == step::again) continue;
        if (!may_make_room) return insert_outcome::full;
        // A growth under way is paid for and makes room. If no growth can begin, the next round
        // refuses the key.
        if (at_limit && layout_.load(std::memory_order_acquire)->next == nullptr) {
            may_make_room = false;
            continue;
        }
        const auto made = make_room(d, at_limit ? table_of(d) : *taken.where, source);
        if (!made) return made.error();
        may_make_room = *made;
    }
    return left.used_up();
}

// Inserts without reading R. `again`: R has to be read, because the base or the tag is taken, or
// the backyard is full.
core::step core::join(const digest& d, reading& taken) {
    // Only growth starts this over, by moving the bin to another table.
    attempts left{writers_};
    while (left.next()) {
        table& in = table_of(d);
        const std::uint64_t bin = in.bin_of(d);
        table::lock held{in, bin};
        if (&table_of(d) != &in) continue;
        if (const auto coded = in.coded_salt(bin); coded) {
            taken.before = {&in, coded->number, in.under(d, *coded)};
            if (in.join_quickly(held, bin, taken.before->x.print)) {
                count(held, 1);
                return step::done;
            }
        }
        static thread_local bin_image image;
        in.read(bin, image);
        epoch now{in, image};
        const present x = taken.of(d, in, image);
        taken.before = {&in, image.now.number, x};
        if (!now.takes_unread(x.print)) return step::again;
        const unsigned before = image.keys();
        if (!now.join(x.print)) {
            taken.where = &in;
            return step::no_room;
        }
        commit(in, held, image, before, budget_class::inserts);
        return step::done;
    }
    return step::again;
}

// Presence follows from slots and their owners, never from "R holds x": R holds x by now in any
// case.
core::step core::insert_with(const digest& d, const reading& taken, bool may_make_room, insert_outcome& outcome) {
    table& in = *taken.where;
    table::lock held{in, taken.bin};
    if (!stands(taken, d, held)) return step::again;
    static thread_local bin_image image;
    in.read(taken.bin, image);
    epoch now{in, image};
    const present x = taken.of(d, in, image);
    const auto slot = now.slot_with_base(x.print);
    const auto matching = now.matching_slot(x);
    bool own_slot = matching && now.owners(*matching, taken.r.members, d, nullptr) == 0;
    if (faults.insert_takes_dead_slot && slot && now.is_tombstone(*slot)) own_slot = true;
    if (faults.insert_trusts_remote && taken.r.holds_key) own_slot = true;
    // An entry that look-ups of x do not reach (the class of x is not marked) belongs to another
    // key, even if it has no owner in R.
    const bool own_entry = !slot && now.reaches_backyard(x.print) && now.backyard_has(x.print) &&
                           now.entry_owners(x.print, taken.r.members, d) == 0;
    if (own_slot || own_entry) {
        // x was inserted twice, the second time while R could not be read: the spare entry can go
        // now [law L2].
        if (own_slot && now.entry_is_spare(x.print, taken.r.members)) (void)renew(in, held, image, taken.r.members, {});
        if (!faults.insert_keeps_quiet) held.touch();  // an erase that read R before this insert must read it again,
        writers_.claims[taken.bin % broom_claim_counters].fetch_add(
            1,
            std::memory_order_release);  // also one that assumes its key present
        outcome = insert_outcome::already_present;
        return step::done;
    }
    const unsigned before = image.keys();
    outcome = insert_outcome::inserted;
    if (faults.insert_extends && slot && !now.is_tombstone(*slot)) {
        digest owner;
        if (now.owners(*slot, taken.r.members, d, &owner) == 1 && now.join_by_extending(*slot, now.of(owner), x)) {
            commit(in, held, image, before, budget_class::inserts);
            return step::done;
        }
    }
    if (faults.overflow_hides_collision && slot && !image.slots.has_room(x.print.key.mirrored()) &&
        !now.backyard_has(x.print) && now.join(x.print)) {
        commit(in, held, image, before, budget_class::inserts);
        return step::done;
    }
    const bool collides = slot || now.backyard_has(x.print);
    if (!collides && now.join(x.print)) {  // R was read only because the backyard is full
        commit(in, held, image, before, budget_class::inserts);
        return step::done;
    }
    const bool matches = now.matches(x);
    std::vector<digest> members = taken.r.members;
    members.push_back(d);
    bool built = false;
    try {
        // Tombstones and a lopsided draw take room that a renewal gives back.
        const bool tries = collides || !faults.full_with_dead_slots;
        built = tries && renew(in, held, image, members, {.with = &d, .from = budget_class::inserts});
        if (!built && may_make_room) return step::no_room;
    } catch (const limit_reached&) {
        if (may_make_room) throw;
        in.read(taken.bin, image);
        // Keys that do not collide are refused without a read. A refusal here would reveal that
        // this key collides [law L3], so the bin is renewed first.
        if (collides && !faults.refusal_leaves_bin) built = renew(in, held, image, members, {.with = &d});
    }
    if (built) {
        if (faults.insert_guesses_by_count && image.keys() == before) outcome = insert_outcome::already_present;
        return step::done;
    }
    outcome = insert_outcome::full;
    // A key that matches nothing is certainly not stored, and a renewal can keep it from ever
    // matching. A key that matches may be stored: R may hold another key that fits its slot and is
    // not inserted yet. To rebuild the bin without this key would then deny a stored key. In a full
    // bin every insert reads R, so neither the read nor the refusal reveals that the key matches.
    if (collides && (!matches || faults.refusal_throws_out)) {
        std::erase(members, d);
        (void)renew(in, held, image, members, {.avoid = &d});
    }
    return step::done;
}

// R cannot be read, and x needs it because its base or its tag is taken. x becomes a backyard
// entry, whichever key owns the slot with its base, or shares the entry that has its tag; an error
// would reveal that x collides. Every removal of an entry reads R and renews the bin, so x stays.
// In a bin with a full backyard every insert reads R, so an error says nothing about the key there.
core::step core::insert_unread(const digest& d, const reading& taken) {
    table& in = table_of(d);
    const std::uint64_t bin = in.bin_of(d);
    table::lock held{in, bin};
    if (&table_of(d) != &in) return step::again;
    static thread_local bin_image image;
    in.read(bin, image);
    epoch now{in, image};
    const fingerprint f = taken.of(d, in, image).print;
    const unsigned before = image.keys();
    if (now.backyard_is_full() || !now.join_outside(f)) return step::no_room;
    try {
        commit(in, held, image, before, budget_class::extensions);
    } catch (const limit_reached&) {
        return step::no_room;
    }
    return step::done;
}

result<erase_outcome> core::erase(const digest& d, range_source& source) noexcept try {
    back_off();
    reading taken;
    if (const auto got = read(d, source, taken); !got) return got.error();
    if (!taken.r.holds_key) return erase_outcome::absent;  // erasing an absent key never affects a stored key
    if (const auto gone = source.erase(); !gone) return gone.error();
    return drop(d, taken, source);
} catch (const std::bad_alloc&) {
    return no_memory();
}

// An absent key is safe here too: a slot that it matches has an owner among the keys of R, so no
// slot becomes a tombstone.
result<erase_outcome> core::forget(const digest& d, range_source& source) noexcept try {
    back_off();
    if (!contains(d)) return erase_outcome::absent;
    reading taken;
    if (const auto got = read(d, source, taken); !got) return got.error();
    if (taken.r.holds_key) return erase_outcome::absent;
    return drop(d, taken, source);
} catch (const std::bad_alloc&) {
    return no_memory();
}

// Reads R only if the bin needs a renewal, was renewed, or if another key was found to own one of
// its slots meanwhile.
result<erase_outcome> core::forget_assuming_present(const digest& d, const broom_epoch_mark& when,
                                                    range_source& source) noexcept try {
    back_off();
    if (options_.history == broom_history::tombstone && leave_tombstone_assuming_present(d, when))
        return erase_outcome::erased;
    reading taken;
    if (const auto got = read(d, source, taken); !got) return got.error();
    if (taken.r.holds_key) return erase_outcome::erased;  // the key is back in R, and its new insert owns the slot
    return drop(d, taken, source);
} catch (const std::bad_alloc&) {
    return no_memory();
}

core::step core::rebuild_with(const digest& d, const reading& taken) {
    table::lock held{*taken.where, taken.bin};
    if (!stands(taken, d, held)) return step::again;
    static thread_local bin_image image;
    taken.where->read(taken.bin, image);
    const renewal all{.from = budget_class::inserts, .may_leave_keys = false};
    return renew(*taken.where, held, image, taken.r.members, all) ? step::done : step::no_room;
}

// The bin may have been split since the caller chose the range: the range is then several bins, or
// a part of one.
result<void> core::rebuild_range(position_range range, range_source& source) noexcept try {
    back_off();
    for (std::uint64_t at = range.first;;) {
        const auto built = rebuild_bin_of(digest{at, 0}, source);
        if (!built) return built.error();
        if (built->last >= range.last) return {};
        at = built->last + 1;
    }
} catch (const std::bad_alloc&) {
    return no_memory();
}

result<position_range> core::rebuild_bin_of(const digest& d, range_source& source) {
    attempts left{writers_};
    while (left.next()) {
        reading taken;
        if (const auto got = read(d, source, taken); !got) return got.error();
        const position_range range = taken.where->range_of(taken.bin);
        const auto done = is_done(rebuild_with(d, taken), d, taken, source);
        if (!done) return done.error();
        if (*done) return range;
    }
    return left.used_up();
}

// By L3 the slot with its base is the key's own, and a key with a slot has no backyard entry.
// Returns false if there is no such slot; if the bin is full of tombstones [law L2]; if an entry
// has the key's tag, with which it would be a certain match afterwards; and if the bin has been
// renewed or moved.
bool core::leave_tombstone_assuming_present(const digest& d, const broom_epoch_mark& when) {
    table& in = table_of(d);
    const std::uint64_t bin = in.bin_of(d);
    table::lock held{in, bin};
    const layout& l = *layout_.load(std::memory_order_acquire);
    if (l.now != &in || l.next != nullptr || when.table == nullptr || l.state.mark_of_locked(bin) != when) return false;
    const table::left_tombstone quickly = in.leave_tombstone_quickly(held, bin, d);
    if (quickly == table::left_tombstone::yes) count(held, ~std::uint64_t{0});
    if (quickly != table::left_tombstone::unsure) return quickly == table::left_tombstone::yes;
    static thread_local bin_image image;
    in.read(bin, image);
    epoch now{in, image};
    const present x = now.of(d);
    const auto slot = now.matching_slot(x);
    if (!slot || now.is_full_of_tombstones() || now.backyard_has(x.print)) return false;
    const unsigned before = image.keys();
    now.leave_tombstone(*slot);
    return commit_if_allowed(in, held, image, before);
}

// Behind a step: is the operation done? If the bin had no room, it has some now; an error if R
// holds more keys than a bin can have.
result<bool> core::is_done(step last, const digest& d, const reading& taken, range_source& source) {
    if (last == step::done) taken.where->tidy();
    if (last == step::no_room) {
        const auto made = make_room(d, *taken.where, source);
        if (!made) return made.error();
        if (!*made) return too_many_keys(taken.r.members.size());
    }
    return last == step::done;
}

// R no longer holds the key, whether it went before `taken` was read or after.
result<erase_outcome> core::drop(const digest& d, reading& taken, range_source& source) {
    attempts left{writers_};
    while (left.next()) {
        if (!left.is_first()) {
            // The bin changed meanwhile: what R holds now decides. If the key is back, its new
            // insert owns the slot.
            if (const auto got = read(d, source, taken); !got) return got.error();
            if (taken.r.holds_key) return erase_outcome::erased;
        }
        const auto done = is_done(erase_with(d, taken), d, taken, source);
        if (!done) return done.error();
        if (*done) return erase_outcome::erased;
    }
    return left.used_up();
}

core::step core::erase_with(const digest& d, const reading& taken) {
    table::lock held{*taken.where, taken.bin};
    if (!stands(taken, d, held)) return step::again;
    std::vector<digest> members = taken.r.members;
    if (taken.r.holds_key) members.erase(std::find(members.begin(), members.end(), d));
    // Another key with the same digest shares the slot: the slot stays.
    if (std::find(members.begin(), members.end(), d) != members.end() && !faults.erase_buries_twin) return step::done;
    static thread_local bin_image image;
    taken.where->read(taken.bin, image);
    epoch now{*taken.where, image};
    const present x = now.of(d);
    const auto slot = now.matching_slot(x);
    const bool in_backyard = now.backyard_has(x.print);
    if (!slot && !in_backyard) return step::done;
    const unsigned before = image.keys();
    if (faults.erase_forgets || faults.overflow_hides_collision) {
        if (in_backyard && now.tag_owners(x.print, members, d) == 0) {
            image.sides.remove_backyard(image.bin_in_cluster(), x.print.tag);
            commit(*taken.where, held, image, before, budget_class::upkeep);
            return step::done;
        }
        if (slot && faults.erase_forgets && now.owners(*slot, members, d, nullptr) == 0) {
            now.give_up(*slot);
            commit(*taken.where, held, image, before, budget_class::upkeep);
            return step::done;
        }
    }
    // Leaves a tombstone only where the owner of the slot is certain. A bin full of tombstones is
    // renewed, or tombstones would drive keys out [law L2].
    const bool certain = slot && (!in_backyard || faults.erase_guesses) &&
                         (now.owners(*slot, members, d, nullptr) == 0 || faults.erase_guesses);
    if (certain && options_.history == broom_history::tombstone && !now.is_full_of_tombstones()) {
        now.leave_tombstone(*slot);
        if (commit_if_allowed(*taken.where, held, image, before)) return step::done;
    }
    if (certain && options_.history == broom_history::soft && !now.is_extended(*slot)) {
        now.give_up(*slot);
        if (commit_if_allowed(*taken.where, held, image, before)) return step::done;
    }
    return renew(*taken.where, held, image, members, {}) ? step::done : step::no_room;
}

result<adapt_outcome> core::adapt(const digest& d, range_source& source) noexcept try {
    back_off();
    attempts left{writers_};
    while (left.next()) {
        reading taken;
        if (!contains(d)) return left.is_first() ? adapt_outcome::was_negative : adapt_outcome::fixed;
        if (const auto got = read(d, source, taken); !got) return got.error();
        if (std::find(taken.r.members.begin(), taken.r.members.end(), d) != taken.r.members.end())
            return adapt_outcome::true_positive;
        if (faults.adapt_does_nothing) return adapt_outcome::fixed;
        adapt_outcome outcome = adapt_outcome::fixed;
        const auto done = is_done(adapt_with(d, taken, outcome), d, taken, source);
        if (!done) return done.error();
        if (!*done) continue;
        adapts_.fetch_add(outcome == adapt_outcome::fixed ? 1 : 0, std::memory_order_relaxed);
        return outcome;
    }
    return left.used_up();
} catch (const std::bad_alloc&) {
    return no_memory();
}

core::step core::adapt_with(const digest& d, const reading& taken, adapt_outcome& outcome) {
    table::lock held{*taken.where, taken.bin};
    if (!stands(taken, d, held)) return step::again;
    static thread_local bin_image image;
    taken.where->read(taken.bin, image);
    epoch now{*taken.where, image};
    const present x = now.of(d);
    const auto slot = now.matching_slot(x);
    const bool outside = now.reaches_backyard(x.print) && now.backyard_has(x.print);
    if (!slot && !outside) {  // another thread repaired it between the look-up and this read
        outcome = adapt_outcome::was_negative;
        return step::done;
    }
    if (slot && !outside) {
        // Extend only with exactly one candidate: otherwise the extension might follow the stream
        // of the wrong key, and the other key would be denied.
        digest owner;
        const unsigned before = image.keys();
        const unsigned owners = now.owners(*slot, taken.r.members, d, &owner);
        // An epoch from before a restart may have learnt more than its snapshot recorded. It ends
        // with its first mistake; otherwise every mistake repaired since would come back once.
        if (!taken.where->book().is_of_former_life(image.now) &&
            (owners == 1 || (owners > 1 && faults.adapt_extends_wrong_key)) && now.extend(*slot, now.of(owner), x)) {
            if (commit_if_allowed(*taken.where, held, image, before)) return step::done;
        }
    }
    return renew(*taken.where, held, image, taken.r.members, {.avoid = &d}) ? step::done : step::no_room;
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
