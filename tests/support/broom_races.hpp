// Races, and other moments between two steps, played one way: a scripted R (broom_scripted_map.hpp)
// does at the critical moment what another thread could have done. Each function gives what went
// wrong, "" if nothing did.
//
// docs/filters/broom.md lists where keys get lost if one is careless; every entry of that list has
// its function here.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/broom_effort.hpp"
#include "tests/support/broom_history.hpp"
#include "tests/support/broom_scripted_map.hpp"
#include "tests/support/broom_world.hpp"

namespace genista::test {

// What the hooks of a scripted map do: an insert by somebody else, store first. (Another thread
// indeed, because the one that waits may hold a lock.)
template <class Filter>
void insert_beside(broom_world<Filter>& w, std::uint64_t key) {
    std::jthread{[&] { (void)w.insert(key); }}.join();
}

// A filter of one bin with one key in it, key 0.
inline world_setup one_bin(std::uint64_t seed, unsigned history = 0) {
    return {.capacity = 40, .history = history, .seed = seed, .universe = 40};
}

template <class Filter>
std::string check_own_dead_slot() {
    for (unsigned history = 0; history < 3; ++history) {
        broom_world<Filter> w{{.capacity = 100, .history = history, .seed = 2, .universe = 60}};
        for (std::uint64_t key = 0; key < 60; ++key) (void)w.insert(key);
        for (std::uint64_t round = 0; round < 200; ++round) {
            w.erase(round % 60);
            (void)w.insert(round % 60);
            w.audit();
        }
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// Keys 2k and 2k + 1 have one digest.
inline digest twin_digest(const void* context, key_view key) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < key.size && i < 8; ++i) value |= std::to_integer<std::uint64_t>(key.data[i]) << (8 * i);
    value >>= 1;
    return (*static_cast<const hasher*>(context))(value);
}

template <class Filter>
std::string check_twins() {
    for (unsigned history = 0; history < 3; ++history) {
        const hasher inner{hash_key::from_seed(8)};
        broom_world<Filter> w{
            {.capacity = 100, .history = history, .universe = 120, .hash = hasher::custom(twin_digest, &inner)}};
        const auto alive = [&](std::uint64_t key) {
            w.wrong.expect(w.filter.may_contain(key), "a false negative: a key whose twin was erased");
        };
        const auto put = [&](std::uint64_t key) {
            const integer_key bytes{key};
            (void)w.plain.put(w.filter.hash()(key), bytes.view());
            w.wrong.expect(w.filter.insert(key, w.plain).has_value(), "an insert failed");
        };
        for (std::uint64_t key = 0; key < 120; ++key) put(key);
        for (std::uint64_t key = 0; key < 120; key += 2) {
            const std::uint64_t gone = key + (key / 2 % 2);
            w.wrong.expect(w.filter.erase(gone, w.plain).has_value(), "an erase failed");
            alive(gone ^ 1);
        }
        for (std::uint64_t key = 0; key < 120; key += 2) alive(key + 1 - (key / 2 % 2));
        if (const auto sound = w.filter.audit(w.plain); !sound) w.wrong.note(std::string{sound.error().message()});
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// Two candidates for one slot: a key that R holds and that has no slot yet shares the owner's base.
// Whose bits extend it?
template <class Filter>
std::string check_adapt_beside_commit() {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        broom_world<Filter> w{one_bin(seed)};
        (void)w.insert(0);
        const auto coming = w.find_false_positive(10'000'000);
        const auto absent_key = w.find_false_positive(10'000'000);
        if (!coming || !absent_key) return "no false positives at all";
        const integer_key bytes{*coming};
        (void)w.plain.put(w.filter.hash()(*coming), bytes.view());
        w.adapt(*absent_key);
        w.wrong.expect(w.filter.may_contain(std::uint64_t{0}), "a false negative: extended by another key's bits");
        w.wrong.expect(w.filter.insert(*coming, w.plain).has_value(), "an insert failed");
        w.wrong.expect(w.filter.may_contain(*coming), "a false negative");
        if (const auto sound = w.filter.audit(w.plain); !sound) w.wrong.note(std::string{sound.error().message()});
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// An insert failed on its range read, and the caller takes the key back: it matches a slot that is
// another's.
template <class Filter>
std::string check_roll_back() {
    for (unsigned history = 0; history < 3; ++history) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            broom_world<Filter> w{one_bin(seed, history)};
            for (std::uint64_t key = 0; key < 20; ++key) (void)w.insert(key);
            const auto found = w.find_false_positive(1'000'000);
            if (!found) return "no false positives at all";
            w.commit_and_roll_back(*found);
            w.scan();
            w.audit();
            if (!w.wrong.none()) return w.wrong.text();
        }
    }
    return {};
}

// The store commits first: by the time of the insert R holds x, which matches another key's slot.
// That is no presence.
template <class Filter>
std::string check_colliding_insert() {
    for (unsigned history = 0; history < 3; ++history) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            broom_world<Filter> w{one_bin(seed, history)};
            for (std::uint64_t key = 0; key < 20; ++key) (void)w.insert(key);
            const auto found = w.find_false_positive(1'000'000);
            if (!found) return "no false positives at all";
            const integer_key bytes{*found};
            (void)w.plain.put(w.filter.hash()(*found), bytes.view());
            const auto outcome = w.filter.insert(*found, w.plain);
            w.wrong.expect(outcome && *outcome == insert_outcome::inserted, "a new key that is taken for present");
            w.wrong.expect(w.filter.may_contain(*found), "a false negative");
            w.scan();
            if (const auto sound = w.filter.audit(w.plain); !sound) w.wrong.note(std::string{sound.error().message()});
            if (!w.wrong.none()) return w.wrong.text();
        }
    }
    return {};
}

// The one range read of an erase and an adapt fails: an error, and not an empty range. An insert
// takes an entry.
template <class Filter>
std::string check_failed_range() {
    for (unsigned history = 0; history < 3; ++history) {
        broom_world<Filter> w{one_bin(11, history)};
        for (std::uint64_t key = 0; key < 20; ++key) (void)w.insert(key);
        const auto found = w.find_false_positive(1'000'000);
        if (!found) return "no false positives at all";
        const auto before = w.draw_portrait();
        const auto fail_once = [&] {
            (void)w.remote.set_plan({.rules = {fault_rule::once(fault_kind::error_midway, 0, fault_scope::ranges, 3)}});
        };
        const integer_key bytes{*found};
        fail_once();
        w.wrong.expect(!w.filter.adapt(*found, w.remote), "an adapt without its range");
        fail_once();
        w.wrong.expect(!w.filter.erase(std::uint64_t{3}, w.remote), "an erase without its range");
        w.wrong.expect(w.draw_portrait() == before, "failed operations changed the filter");
        (void)w.plain.put(w.filter.hash()(*found), bytes.view());
        fail_once();
        const auto outcome = w.filter.insert(*found, w.remote);
        w.wrong.expect(outcome && *outcome == insert_outcome::inserted, "a colliding insert without its range");
        w.wrong.expect(w.filter.may_contain(*found), "a false negative");
        w.scan();
        w.wrong.expect(w.filter.erase(*found, w.plain).has_value(), "an erase failed");
        w.scan();
        w.audit();
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// erase(x) has taken x out of R; before it reaches the filter somebody commits and inserts x again.
template <class Filter>
std::string check_erase_against_insert() {
    for (unsigned history = 0; history < 3; ++history) {
        broom_world<Filter> w{one_bin(4, history)};
        for (std::uint64_t key = 0; key < 20; ++key) (void)w.insert(key);
        scripted_map<memory_map> remote{w.plain};
        remote.after_erase = [&] { insert_beside(w, 7); };
        w.wrong.expect(w.filter.erase(std::uint64_t{7}, remote).has_value(), "an erase failed");
        w.scan();
        w.audit();
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// The store has erased x, and forget(x) has read a range without it; before it reaches the bin
// somebody commits and inserts x again. The slot it finds is then the new x's.
template <class Filter>
std::string check_forget_against_insert() {
    for (unsigned history = 0; history < 3; ++history) {
        broom_world<Filter> w{one_bin(4, history)};
        for (std::uint64_t key = 0; key < 20; ++key) (void)w.insert(key);
        scripted_map<memory_map> remote{w.plain};
        const integer_key seven{7};
        (void)w.plain.erase(w.filter.hash()(std::uint64_t{7}), seven.view());
        remote.after_range = [&] { insert_beside(w, 7); };
        w.wrong.expect(w.filter.forget(std::uint64_t{7}, remote).has_value(), "a forget failed");
        w.scan();
        w.audit();
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// erase(x) has read its range; before it comes to the bin somebody else's key joins it. A renewal
// from the old reading would lose that key.
template <class Filter>
std::string check_erase_against_neighbour() {
    for (unsigned history = 0; history < 3; ++history) {
        broom_world<Filter> w{{.capacity = 40, .history = history, .seed = 6, .universe = 70}};
        for (std::uint64_t key = 0; key < 60; ++key) (void)w.insert(key);  // a full bin is renewed by every erase
        for (std::uint64_t key = 0; key < 10; ++key) {
            scripted_map<memory_map> remote{w.plain};
            remote.after_range = [&] { insert_beside(w, 60 + key); };
            w.wrong.expect(w.filter.erase(key, remote).has_value(), "an erase failed");
            w.wrong.expect(w.filter.may_contain(60 + key), "a false negative: a key that joined during an erase");
        }
        if (const auto sound = w.filter.audit(w.plain); !sound) w.wrong.note(std::string{sound.error().message()});
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// The same with an adapt that has to renew: five false positives in one bin are more than it
// extends.
template <class Filter>
std::string check_adapt_against_neighbour() {
    broom_world<Filter> w{{.capacity = 40, .seed = 7, .universe = 100}};
    for (std::uint64_t key = 0; key < 40; ++key) (void)w.insert(key);
    for (std::uint64_t next = 40; next < 70; ++next) {
        const auto found = w.find_false_positive(1'000'000);
        if (!found) return "no false positives at all";
        scripted_map<memory_map> remote{w.plain};
        remote.after_range = [&] { insert_beside(w, next); };
        w.wrong.expect(w.filter.adapt(*found, remote).has_value(), "an adapt failed");
        w.scan();
        w.audit();
    }
    return w.wrong.text();
}

// A bin is about to move: R was read, and a key joins before the bin is laid into the new table.
template <class Filter>
std::string check_growth_against_insert() {
    broom_world<Filter> w{{.capacity = 200, .grows = true, .seed = 9, .universe = 400}};
    for (std::uint64_t key = 0; key < 150; ++key) (void)w.insert(key);
    scripted_map<memory_map> remote{w.plain};
    std::vector<std::uint64_t> first_bin;  // keys of the bin that moves first
    for (std::uint64_t key = 150; first_bin.size() < 6 && key < 400; ++key) {
        if (scale(w.filter.hash()(key).position, w.filter.details().bins) == 0) first_bin.push_back(key);
    }
    // One key after each of the first range reads, whichever of them is the one that the bin is
    // laid from. Growth holds its lock meanwhile, so nobody else must have to grow: six keys do
    // not.
    const std::function<void()> join_one = [&] {
        if (first_bin.empty()) return;
        insert_beside(w, first_bin.back());
        first_bin.pop_back();
        remote.after_range = join_one;
    };
    remote.after_range = join_one;
    w.wrong.expect(w.filter.grow(remote).has_value(), "a growth failed");
    w.scan();
    w.audit();
    return w.wrong.text();
}

// Threads: luck, but the luck of many tries. A duel of one writer, whose every erase lays the one
// bin anew, and one reader who asks the plain look-up, whose window is widest where it reads tails
// as well; then a crowd on few bins, and on a filter that grows.
template <class Filter>
std::string check_history() {
    findings wrong;
    const auto run = [&wrong](history_setup setup) {
        for (setup.seed = 1; setup.seed <= 3 && wrong.none(); ++setup.seed) {
            setup.through_trace = true;
            const auto check = std::make_unique<history_check<Filter>>(setup);
            check->run(wrong);
        }
    };
    run({.capacity = 40,
         .rate = 0x1p-13,
         .history = 1,
         .grows = false,
         .keys_per_writer = 60,
         .steps_per_writer = sanitized ? 6000u : 20'000u,
         .writers = 1,
         .readers = 1,
         .batch_readers = 0,
         .adapters = 0,
         .maintenance = false});
    run({.capacity = 100, .grows = false, .keys_per_writer = 60, .steps_per_writer = sanitized ? 1500u : 6000u});
    run({.keys_per_writer = 800, .steps_per_writer = sanitized ? 1500u : 5000u, .maintenance = false});
    return wrong.text();
}

}  // namespace genista::test
