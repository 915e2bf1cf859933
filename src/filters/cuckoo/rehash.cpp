// New hash functions for all keys: when a search finds no way or a walk becomes too long, and for a
// filter whose contents no longer agree with R's index.
//
// Two sequential reads of R. The first gives the digests, which are arranged in RAM (about 50 bytes
// a key meanwhile); the second gives the keys, whose records are written to places of a new
// generation. Until all are written the filter works with the old one, and an error changes
// nothing.
#include <algorithm>
#include <new>
#include <utility>

#include "filters/cuckoo/core.hpp"
#include "filters/cuckoo/slots.hpp"
#include "genista/detail/remote/record_check.hpp"

namespace genista::cuckoo {
namespace {

constexpr std::uint64_t no_key = ~std::uint64_t{0};
constexpr std::uint64_t keys_of_a_part = 1024;
// Below the threshold most hash functions place all keys, except in two tables of single slots at
// half load (four in five there); a small set may be unlucky more often, and another attempt is
// quick.
constexpr unsigned attempts = 16, attempts_for_few = 64;
constexpr std::size_t few_keys = 10'000;
// The moves for one key. With few keys, new hash functions are faster than a long walk.
std::uint64_t most_moves(std::size_t keys) noexcept {
    return std::min<std::uint64_t>(5'000, 200 + 20 * keys);
}

error no_memory(const member_of_family& who) noexcept {
    return error::make(error_code::out_of_memory, "%.*s: no memory to rehash the keys",
                       static_cast<int>(who.name.size()), who.name.data());
}

error out_of_step(const member_of_family& who, std::uint64_t seen, std::uint64_t keys) noexcept {
    return error::make(error_code::corrupt, "%.*s: the remote map has %llu keys in the slots of the filter's %llu",
                       static_cast<int>(who.name.size()), who.name.data(), static_cast<unsigned long long>(seen),
                       static_cast<unsigned long long>(keys));
}

error not_of_the_range(const member_of_family& who) noexcept {
    return error::make(error_code::corrupt, "%.*s: the remote map gave a record that does not belong to the range read",
                       static_cast<int>(who.name.size()), who.name.data());
}

}  // namespace

struct core::arrangement {
    salts under{};
    std::vector<std::uint64_t> owner;                       // of each slot: the number of its key, or no_key
    std::vector<std::pair<digest, std::uint64_t>> slot_of;  // sorted by digest
};

std::uint64_t core::parts() const noexcept {
    return shape().slots() / keys_of_a_part + 1;
}

result<void> core::visit_part(keys_from from, std::uint64_t part, batch_index_source& remote,
                              const index_source::take_record& take) {
    ++remote_reads_;
    if (from == keys_from::members) return visit_members(range_of_bin(part, parts()), remote, take);
    const std::uint64_t first = part * keys_of_a_part;
    const std::uint64_t last = std::min(first + keys_of_a_part, shape().slots()) - 1;
    if (first > last) return {};
    return visit_slots(first, last, remote, take);
}

result<void> core::visit_members(position_range range, batch_index_source& remote,
                                 const index_source::take_record& take) const {
    remote_detail::record_check records{range, hash_};
    bool starved = false;
    const auto check = [&](const digest& where, key_view key) noexcept {
        try {
            return records.passes(where, key) && take(where, key);
        } catch (const std::bad_alloc&) {
            starved = true;
            return false;
        }
    };
    const auto read = remote.each_member(range, check);
    if (starved) return no_memory(who_);
    if (records.failed()) return not_of_the_range(who_);
    return read;
}

result<void> core::visit_slots(std::uint64_t first, std::uint64_t last, batch_index_source& remote,
                               const index_source::take_record& take) const {
    bool lied = false;
    std::uint64_t next = in_remote(generation_, first);
    const std::uint64_t end = in_remote(generation_, last);
    const auto check = [&](const digest& where, key_view key) noexcept {
        const std::uint64_t number = where.position;
        const digest d = hash_(key);
        lied = lied || number < next || number > end || where.seed != 0 || !fits(d, number - in_remote(generation_, 0));
        if (lied) return false;
        next = number + 1;
        return take(d, key);
    };
    const auto read = remote.each({next, end}, check);
    if (lied) return not_of_the_range(who_);
    return read;
}

result<std::vector<digest>> core::digests(keys_from from, const element* more, batch_index_source& remote) {
    std::vector<digest> all;
    bool starved = false;
    const auto take = keeping(all, starved);
    for (std::uint64_t part = 0; part < parts(); ++part) {
        if (const auto read = visit_part(from, part, remote, take); !read) return read.error();
        if (starved) return no_memory(who_);
    }
    if (from == keys_from::slots && all.size() != keys_) return out_of_step(who_, all.size(), keys_);
    if (more != nullptr) all.push_back(more->where);
    return all;
}

// Inserts one key after the other by a random walk of displacements: in RAM a walk is faster than a
// search.
bool core::place_all(std::span<const digest> keys, arrangement& made) {
    std::fill(made.owner.begin(), made.owner.end(), no_key);
    for (std::uint64_t next = 0; next < keys.size(); ++next) {
        std::uint64_t moved = next, came_from = no_key;
        for (std::uint64_t moves = 0; moved != no_key; ++moves) {
            if (moves == most_moves(keys.size())) return false;
            const essence key{keys[moved], made.under};
            std::uint64_t to = no_key;
            // Begins at a random table: a fixed one would be full and the others empty, and later
            // walks long.
            const auto favourite = static_cast<unsigned>(chance_.below(shape().tables));
            any_slot_of(key, favourite, [&](std::uint64_t slot) {
                if (made.owner[slot] == no_key) to = slot;
                return to != no_key;
            });
            while (to == no_key) {
                const auto table = static_cast<unsigned>(chance_.below(shape().tables));
                to = first_slot(key, table) + chance_.below(shape().bin_slots);
                if (to == came_from) to = no_key;  // there is another slot: at least two tables
            }
            std::swap(made.owner[to], moved);
            came_from = to;
        }
    }
    return true;
}

std::optional<core::arrangement> core::arrange(std::span<const digest> keys) {
    if (keys.size() > shape().slots()) return std::nullopt;
    arrangement made;
    made.owner.resize(shape().slots());
    const unsigned tries = keys.size() < few_keys ? attempts_for_few : attempts;
    for (unsigned i = 0; i < tries; ++i) {
        for (std::uint64_t& salt : made.under) salt = chance_.word();
        if (!place_all(keys, made)) continue;
        made.slot_of.reserve(keys.size());
        for (std::uint64_t slot = 0; slot < shape().slots(); ++slot) {
            if (made.owner[slot] != no_key) made.slot_of.emplace_back(keys[made.owner[slot]], slot);
        }
        std::sort(made.slot_of.begin(), made.slot_of.end());
        return made;
    }
    return std::nullopt;
}

// A key that R gained meanwhile is skipped: the thread that put it there will call insert, which
// waits. A key that left R meanwhile keeps no slot. Keys with one digest may take each other's
// slots: look-ups cannot distinguish them. If R gained one more of them meanwhile, one would have
// no slot, and it need not be the new one: that is an error.
result<void> core::write_generation(keys_from from, const element* more, arrangement& made, std::uint64_t generation,
                                    batch_index_source& remote) {
    std::vector<bool> written(made.slot_of.size(), false);
    std::vector<std::pair<digest, std::string>> batch;
    bool starved = false, one_too_many = false;
    const auto take = [&](const digest& d, key_view key) noexcept {
        const auto first =
            std::lower_bound(made.slot_of.begin(), made.slot_of.end(), d,
                             [](const auto& known, const digest& wanted) { return known.first < wanted; });
        auto at = first;
        const auto number = [&] { return static_cast<std::size_t>(at - made.slot_of.begin()); };
        while (at != made.slot_of.end() && at->first == d && written[number()]) ++at;
        if (at == made.slot_of.end() || at->first != d) {
            one_too_many = one_too_many || at != first;
            return !one_too_many;
        }
        try {
            batch.emplace_back(place_in_remote(generation, at->second), key.text());
        } catch (const std::bad_alloc&) {
            starved = true;
            return false;
        }
        written[number()] = true;
        return true;
    };
    for (std::uint64_t part = 0; part < parts(); ++part) {
        batch.clear();
        if (const auto read = visit_part(from, part, remote, take); !read) return read.error();
        if (part == 0 && more != nullptr) take(more->where, key_view{more->key});
        if (starved) return no_memory(who_);
        if (one_too_many) {
            return error::make(error_code::timeout, "%.*s: while R was read it gained a key with the digest of another",
                               static_cast<int>(who_.name.size()), who_.name.data());
        }
        std::vector<record_change> changes;
        changes.reserve(batch.size());
        for (const auto& [where, key] : batch) changes.push_back({where, key_view{key}, true});
        if (changes.empty()) continue;
        if (const auto done = remote.apply(changes); !done) return done.error();
    }
    for (std::size_t i = 0; i < written.size(); ++i) {
        if (written[i]) continue;
        if (from == keys_from::slots) return out_of_step(who_, keys_ - 1, keys_);
        made.owner[made.slot_of[i].second] = no_key;
    }
    return {};
}

// Prepared in separate memory, so that look-ups wait only for a copy.
void core::put_in_place(const arrangement& made) {
    std::vector<std::uint64_t> words(words_for(shape().slots(), shape().slot_bits()), 0);
    std::uint64_t keys = 0;
    for (const auto& [d, slot] : made.slot_of) {
        if (made.owner[slot] == no_key) continue;
        write_slot(words.data(), slot, shape().slot_bits(), fingerprint(essence{d, made.under}, slot, 0));
        ++keys;
    }
    const changing now{*this};
    for (std::size_t i = 0; i < words.size(); ++i) __atomic_store_n(state_.words + i, words[i], __ATOMIC_RELEASE);
    for (std::size_t i = 0; i < made.under.size(); ++i) state_.salts[i].store(made.under[i], std::memory_order_release);
    keys_ = keys;
    ++rehashes_;
    futile_ = 0;
    unplaceable_ = ~std::uint64_t{0};
}

result<bool> core::rehash(keys_from from, const element* more, batch_index_source& remote) {
    const auto keys = digests(from, more, remote);
    if (!keys) return keys.error();
    auto made = arrange(*keys);
    if (!made) return false;
    const std::uint64_t next = generation_ % (most_generations - 1) + 1;
    const auto clear = [&](std::uint64_t generation) {
        return remote.erase_range({in_remote(generation, 0), in_remote(generation, shape().slots() - 1)});
    };
    if (const auto ready = clear(next); !ready) return ready.error();
    // Frees the places of a generation in R as far as R allows. A failure must not fail the
    // operation: the rest does no harm, and is removed when the generation is used again.
    const auto let_go = [&](std::uint64_t generation) noexcept {
        try {
            (void)clear(generation);
        } catch (...) {  // a caller's map may throw
        }
    };
    if (const auto written = write_generation(from, more, *made, next, remote); !written) {
        let_go(next);
        return written.error();
    }
    put_in_place(*made);
    let_go(std::exchange(generation_, next));
    return true;
}

result<void> core::rebuild(batch_index_source& remote) {
    const std::lock_guard held{mutex_};
    if (!index_is_ours_) {
        if (const auto cleared = remote.erase_range(whole_index); !cleared) return cleared.error();
    }
    const auto placed = rehash(keys_from::members, nullptr, remote);
    if (!placed) return placed.error();
    if (!*placed) {
        return error::make(error_code::invalid_argument,
                           "%.*s: no hash functions found that place all keys of R in %llu slots; made for %llu keys",
                           static_cast<int>(who_.name.size()), who_.name.data(),
                           static_cast<unsigned long long>(shape().slots()),
                           static_cast<unsigned long long>(capacity_));
    }
    index_is_ours_ = true;
    pending_.clear();  // these writes concerned the old generation
    return {};
}

}  // namespace genista::cuckoo
