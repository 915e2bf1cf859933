// Slots, matches, commits and pending writes; insert and erase. See core.hpp.
#include "filters/cuckoo/core.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "filters/cuckoo/slots.hpp"

namespace genista::cuckoo {

core::core(const member_of_family& who, const beginnings& from, buffer table) noexcept
    : who_{who},
      state_{from.shape, reinterpret_cast<std::uint64_t*>(table.data())},
      hash_{from.hash},
      capacity_{from.capacity},
      load_{from.load},
      rate_{from.rate},
      table_{std::move(table)},
      chance_{from.seed} {
    for (auto& salt : state_.salts) salt.store(chance_.word(), std::memory_order_relaxed);
}

// ---- the table

core::place core::place_of(std::uint64_t slot) const noexcept {
    const std::uint64_t bin = slot / shape().bin_slots;
    return {static_cast<unsigned>(bin / shape().bins), bin % shape().bins,
            static_cast<unsigned>(slot % shape().bin_slots)};
}

std::uint64_t core::first_slot(const essence& key, unsigned table) const noexcept {
    return (table * shape().bins + key.bin(table, shape().bins)) * shape().bin_slots;
}

std::uint64_t core::contents(std::uint64_t slot) const noexcept {
    return read_slot(state_.words, slot, shape().slot_bits());
}

bool core::is_empty(std::uint64_t slot) const noexcept {
    return (contents(slot) & ((std::uint64_t{1} << shape().fingerprint_bits) - 1)) == 0;
}

unsigned core::selector(std::uint64_t slot) const noexcept {
    return static_cast<unsigned>(contents(slot) >> shape().fingerprint_bits);
}

std::uint64_t core::fingerprint(const essence& key, std::uint64_t slot, unsigned selector) const noexcept {
    const place at = place_of(slot);
    return key.fingerprint(fingerprint_number(shape().rule, at.table, at.in_bin, selector), shape().fingerprint_bits);
}

salts core::current_salts() const noexcept {
    salts now;
    for (std::size_t i = 0; i < now.size(); ++i) now[i] = state_.salts[i].load(std::memory_order_relaxed);
    return now;
}

bool core::fits(const digest& d, std::uint64_t slot) const noexcept {
    const essence key = essence_of(d);
    const place at = place_of(slot);
    const unsigned turned = selector(slot);
    return key.bin(at.table, shape().bins) == at.bin &&
           contents(slot) == (fingerprint(key, slot, turned) | std::uint64_t{turned} << shape().fingerprint_bits);
}

std::vector<std::uint64_t> core::matching_slots(const digest& d) const {
    std::vector<std::uint64_t> found;
    any_slot_of(essence_of(d), 0, [&](std::uint64_t slot) {
        if (fits(d, slot)) found.push_back(slot);
        return false;
    });
    return found;
}

bool core::may_contain(const digest& d) const noexcept {
    return any_slot_of(essence_of(d), 0, [&](std::uint64_t slot) { return fits(d, slot); });
}

core::changing::changing(core& of) noexcept : of_{of} {
    of_.state_.version.store(of_.state_.version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

core::changing::~changing() {
    of_.state_.version.store(of_.state_.version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void core::set(std::uint64_t slot, std::uint64_t fingerprint, unsigned selector) noexcept {
    write_slot(state_.words, slot, shape().slot_bits(),
               fingerprint | std::uint64_t{selector} << shape().fingerprint_bits);
}

// ---- R

result<void> core::begin(batch_index_source& remote) {
    if (!index_is_ours_) {
        if (keys_ != 0) {
            return error::make(error_code::mismatch,
                               "%.*s: a loaded filter answers only; rebuild(R) comes before changes",
                               static_cast<int>(who_.name.size()), who_.name.data());
        }
        if (const auto cleared = remote.erase_range(whole_index); !cleared) return cleared.error();
        index_is_ours_ = true;
    }
    if (pending_.empty()) return {};
    std::vector<record_change> changes;
    for (const pending_write& each : pending_) {
        if (each.takes) changes.push_back({each.place, key_view{*each.takes}, false});
        if (each.puts) changes.push_back({each.place, key_view{*each.puts}, true});
    }
    if (const auto done = remote.apply(changes); !done) {
        if (done.error().code() == error_code::timeout) return done.error();
        // R may refuse a batch for the key that it takes, as it refused to put it: its place is
        // emptied without naming it.
        for (const pending_write& each : pending_) {
            const position_range only{each.place.position, each.place.position};
            if (const auto emptied = remote.erase_range(only); !emptied) return emptied.error();
        }
        std::erase_if(changes, [](const record_change& each) { return !each.present; });
        if (!changes.empty()) {
            if (const auto put_back = remote.apply(changes); !put_back) return put_back.error();
        }
    }
    pending_.clear();
    return {};
}

result<core::at_place> core::read_place(std::uint64_t slot, batch_index_source& remote, std::string& key) const {
    const digest there = place_in_remote(generation_, slot);
    auto seen = at_place::none;
    bool starved = false;
    const auto take = [&](const digest& where, key_view stored) noexcept {
        const bool is_first = seen == at_place::none && where == there;
        seen = is_first ? at_place::one : at_place::other;
        if (!is_first) return false;
        try {
            key.assign(stored.text());
        } catch (const std::bad_alloc&) {
            starved = true;
        }
        return !starved;
    };
    // By reference, so that no memory is needed for the visitor.
    const auto read = remote.each({there.position, there.position}, std::ref(take));
    if (starved) return error::make(error_code::out_of_memory, "no memory for a key of the remote map");
    if (!read) return read.error();
    return seen;
}

result<planned_slot*> core::occupant(std::uint64_t slot, plan& in, batch_index_source& remote, const hashed_key* own) {
    if (planned_slot* const known = in.find(slot); known != nullptr) return known;
    element held;
    ++remote_reads_;
    const auto found = read_place(slot, remote, held.key);
    if (!found) return found.error();
    if (*found == at_place::one) held.where = own != nullptr ? own->digest_of(hash_, held.key) : hash_(held.key);
    if (*found != at_place::one || !fits(held.where, slot)) {
        return error::make(error_code::corrupt, "%.*s: the remote map %s slot %llu of the filter",
                           static_cast<int>(who_.name.size()), who_.name.data(),
                           *found == at_place::none ? "holds no key in" : "holds another key than",
                           static_cast<unsigned long long>(slot));
    }
    return &in.add(slot, std::move(held));
}

result<std::optional<std::uint64_t>> core::find(const hashed_key& key, plan& in, batch_index_source& remote) {
    for (const std::uint64_t slot : matching_slots(key.where())) {
        const auto held = occupant(slot, in, remote, &key);
        if (!held) return held.error();
        if ((*held)->after->key == key.text()) return std::optional{slot};
    }
    return std::optional<std::uint64_t>{};
}

// R first: if R lost the key of a slot, the filter could never move that key again. All allocations
// come before the write.
result<void> core::commit(const plan& done, batch_index_source& remote) {
    std::vector<record_change> changes;
    std::vector<pending_write> as_it_was;
    const auto key_of = [](const std::optional<element>& held) {
        return held ? std::optional{held->key} : std::nullopt;
    };
    for (const planned_slot& each : done.slots()) {
        if (each.before == each.after) continue;
        const digest there = place_in_remote(generation_, each.slot);
        if (each.before) changes.push_back({there, key_view{each.before->key}, false});
        if (each.after) changes.push_back({there, key_view{each.after->key}, true});
        as_it_was.push_back({there, key_of(each.after), key_of(each.before)});
    }
    if (changes.empty()) return {};
    pending_ = std::move(as_it_was);
    if (const auto written = remote.apply(changes); !written) return written.error();
    pending_.clear();
    const changing now{*this};
    for (const planned_slot& each : done.slots()) {
        if (each.before == each.after) continue;
        // A key that moves to a slot starts with the first fingerprint there [acf §2.4].
        set(each.slot, each.after ? fingerprint(essence_of(each.after->where), each.slot, 0) : 0, 0);
        keys_ += each.after ? 1u : 0u;
        keys_ -= each.before ? 1u : 0u;
    }
    return {};
}

result<void> core::clear_slot(std::uint64_t slot, plan& in, batch_index_source& remote) {
    in.find(slot)->after.reset();
    return commit(in, remote);
}

// ---- operations

result<insert_outcome> core::insert(const hashed_key& key, batch_index_source& remote) {
    const std::lock_guard held{mutex_};
    if (const auto ready = begin(remote); !ready) return ready.error();
    const element more{key.where(), std::string{key.text()}};
    plan moves;
    const auto there = find(key, moves, remote);
    if (!there) return there.error();
    if (there->has_value()) return insert_outcome::already_present;
    // Beyond the capacity there is still room for keys, but repairs would fail, and a rebuild would
    // find no hash functions.
    if (keys_ >= capacity_) return insert_outcome::full;
    const auto room = search(more, moves, remote);
    if (!room) return room.error();
    if (*room == way::found) {
        if (const auto done = commit(moves, remote); !done) return done.error();
        return insert_outcome::inserted;
    }
    const auto placed = rehash(keys_from::slots, &more, remote);
    if (!placed) return placed.error();
    return *placed ? insert_outcome::inserted : insert_outcome::full;
}

result<erase_outcome> core::erase(const hashed_key& key, batch_index_source& remote) {
    const std::lock_guard held{mutex_};
    if (const auto ready = begin(remote); !ready) return ready.error();
    const auto was_member = remote.remove_member(key.where(), key.view());
    if (!was_member) return was_member.error();
    plan moves;
    const auto there = find(key, moves, remote);
    if (!there) return there.error();
    if (there->has_value()) {
        if (const auto done = clear_slot(**there, moves, remote); !done) return done.error();
    }
    return *was_member ? erase_outcome::erased : erase_outcome::absent;
}

// The check whether the key is back in R comes last, right before its removal: a thread that puts
// it back calls insert afterwards, which waits here.
result<erase_outcome> core::forget(const hashed_key& key, batch_index_source& remote) {
    const std::lock_guard held{mutex_};
    if (const auto ready = begin(remote); !ready) return ready.error();
    plan moves;
    const auto there = find(key, moves, remote);
    if (!there) return there.error();
    if (!there->has_value()) return erase_outcome::absent;
    ++remote_reads_;
    const auto is_back = remote.is_member(key.where(), key.view());
    if (!is_back) return is_back.error();
    if (*is_back) return erase_outcome::absent;
    if (const auto done = clear_slot(**there, moves, remote); !done) return done.error();
    return erase_outcome::erased;
}

filter_stats core::stats() const noexcept {
    const std::lock_guard held{mutex_};
    filter_stats now;
    now.keys = keys_;
    now.capacity = capacity_;
    now.false_positive_rate = rate_;
    now.local_bytes = table_.allocated_bytes() + sizeof *this + sizeof(body);
    now.adapts = adapts_;
    now.renewals = rehashes_;
    now.remote_reads = remote_reads_;
    return now;
}

std::uint64_t core::rehashes() const noexcept {
    const std::lock_guard held{mutex_};
    return rehashes_;
}

// ---- The way to a free slot
namespace {

// At 95 % load a key has room in one of three other tables with probability 0.14: this many keys in
// a row without room occur only in tables that have none.
constexpr std::size_t most_reads = 400;

struct step_of_search {
    std::uint64_t slot;
    std::size_t from;  // the step whose key would move here
};
constexpr std::size_t from_the_key = ~std::size_t{0};

}  // namespace

bool core::will_be_empty(std::uint64_t slot, plan& in) const noexcept {
    const planned_slot* const known = in.find(slot);
    return known != nullptr ? !known->after.has_value() : is_empty(slot);
}

std::optional<std::uint64_t> core::free_slot_of(const essence& key, unsigned first_table, plan& in) const {
    std::optional<std::uint64_t> free;
    any_slot_of(key, first_table, [&](std::uint64_t slot) {
        if (will_be_empty(slot, in)) free = slot;
        return free.has_value();
    });
    return free;
}

result<core::way> core::search(const element& key, plan& in, batch_index_source& remote,
                               std::optional<std::uint64_t> pinned) {
    const essence root = essence_of(key.where);
    const auto first_table = static_cast<unsigned>(chance_.below(shape().tables));
    const auto come_to = [&](std::uint64_t slot, std::optional<element> comes) {
        planned_slot* const known = in.find(slot);
        (known != nullptr ? *known : in.add(slot, std::nullopt)).after = std::move(comes);
    };
    if (const auto free = free_slot_of(root, first_table, in); free) {
        come_to(*free, key);
        return way::found;
    }
    std::vector<step_of_search> steps;
    const auto look_at_bins = [&](const essence& of, std::size_t from) {
        any_slot_of(of, first_table, [&](std::uint64_t slot) {
            const bool seen = slot == pinned ||
                              std::any_of(steps.begin(), steps.end(), [&](const auto& s) { return s.slot == slot; });
            if (!seen) steps.push_back({slot, from});
            return false;
        });
    };
    look_at_bins(root, from_the_key);
    for (std::size_t at = 0; at < steps.size(); ++at) {
        if (at == most_reads) return way::too_long;
        const auto held = occupant(steps[at].slot, in, remote);
        if (!held) return held.error();
        const essence moved = essence_of((*held)->after->where);
        const auto free = free_slot_of(moved, first_table, in);
        if (!free) {
            look_at_bins(moved, at);
            continue;
        }
        // From the end to the beginning: each key moves to the slot that the previous move has just
        // freed.
        come_to(*free, in.find(steps[at].slot)->after);
        std::size_t hole = at;
        for (; steps[hole].from != from_the_key; hole = steps[hole].from) {
            in.find(steps[hole].slot)->after = in.find(steps[steps[hole].from].slot)->after;
        }
        in.find(steps[hole].slot)->after = key;
        return way::found;
    }
    return way::none;
}

}  // namespace genista::cuckoo
