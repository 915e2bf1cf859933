// Races between two steps of an operation, played in one fixed order: at the critical moment a hook
// of a scripted R (broom_scripted_map.hpp) does what another thread could have done. Each function
// returns a description of the failure, or "".
//
// docs/filters/broom.md lists the places where a wrong implementation loses keys. Each entry of
// that list has its function here.
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

// The usual hook: another caller's insert, into R and then into the filter. It runs on another
// thread, because the thread that runs the hook may hold a lock.
template <class Filter>
void insert_beside(broom_world<Filter>& w, std::uint64_t key) {
    std::jthread{[&] { (void)w.insert(key); }}.join();
}

// A filter of one bin with one key in it, key 0.
inline world_setup one_bin(std::uint64_t seed, unsigned history = 0) {
    return {.capacity = 40, .history = history, .seed = seed, .universe = 40};
}

template <class Filter>
std::string check_own_tombstone() {
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
inline digest digest_of_pair(const void* context, key_view key) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < key.size && i < 8; ++i) value |= std::to_integer<std::uint64_t>(key.data[i]) << (8 * i);
    value >>= 1;
    return (*static_cast<const hasher*>(context))(value);
}

template <class Filter>
std::string check_keys_with_one_digest() {
    for (unsigned history = 0; history < 3; ++history) {
        const hasher inner{hash_key::from_seed(8)};
        broom_world<Filter> w{
            {.capacity = 100, .history = history, .universe = 120, .hash = hasher::custom(digest_of_pair, &inner)}};
        const auto alive = [&](std::uint64_t key) {
            w.wrong.expect(w.filter.may_contain(key), "a false negative: another key with its digest was erased");
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

// R holds a key that has no slot yet and whose base equals that of a stored key. An adapt must
// extend the slot with bits of the slot's owner, not of that key.
template <class Filter>
std::string check_adapt_beside_commit() {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        broom_world<Filter> w{one_bin(seed)};
        (void)w.insert(0);
        const auto coming = w.find_false_positive(10'000'000);
        const auto absent_key = w.find_false_positive(10'000'000);
        if (!coming || !absent_key) return "no false positive was found";
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

// An insert failed at its range read, and the caller erases the key again: it matches a slot of
// another key, which must stay.
template <class Filter>
std::string check_roll_back() {
    for (unsigned history = 0; history < 3; ++history) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            broom_world<Filter> w{one_bin(seed, history)};
            for (std::uint64_t key = 0; key < 20; ++key) (void)w.insert(key);
            const auto found = w.find_false_positive(1'000'000);
            if (!found) return "no false positive was found";
            w.commit_and_roll_back(*found);
            w.scan();
            w.audit();
            if (!w.wrong.none()) return w.wrong.text();
        }
    }
    return {};
}

// The store commits first: R holds x when x is inserted, and x matches another key's slot. The
// insert must not conclude that x is already present.
template <class Filter>
std::string check_colliding_insert() {
    for (unsigned history = 0; history < 3; ++history) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            broom_world<Filter> w{one_bin(seed, history)};
            for (std::uint64_t key = 0; key < 20; ++key) (void)w.insert(key);
            const auto found = w.find_false_positive(1'000'000);
            if (!found) return "no false positive was found";
            const integer_key bytes{*found};
            (void)w.plain.put(w.filter.hash()(*found), bytes.view());
            const auto outcome = w.filter.insert(*found, w.plain);
            w.wrong.expect(outcome && *outcome == insert_outcome::inserted, "a new key is reported as present");
            w.wrong.expect(w.filter.may_contain(*found), "a false negative");
            w.scan();
            if (const auto sound = w.filter.audit(w.plain); !sound) w.wrong.note(std::string{sound.error().message()});
            if (!w.wrong.none()) return w.wrong.text();
        }
    }
    return {};
}

// The one range read of an erase and of an adapt fails: the result is an error, and the range must
// not count as empty. An insert does not fail: it stores the key as an entry.
template <class Filter>
std::string check_failed_range() {
    for (unsigned history = 0; history < 3; ++history) {
        broom_world<Filter> w{one_bin(11, history)};
        for (std::uint64_t key = 0; key < 20; ++key) (void)w.insert(key);
        const auto found = w.find_false_positive(1'000'000);
        if (!found) return "no false positive was found";
        const auto before = w.draw_portrait();
        const auto fail_once = [&] {
            (void)w.remote.set_plan({.rules = {fault_rule::once(fault_kind::error_midway, 0, fault_scope::ranges, 3)}});
        };
        const integer_key bytes{*found};
        fail_once();
        w.wrong.expect(!w.filter.adapt(*found, w.remote), "an adapt succeeded without its range");
        fail_once();
        w.wrong.expect(!w.filter.erase(std::uint64_t{3}, w.remote), "an erase succeeded without its range");
        w.wrong.expect(w.draw_portrait() == before, "failed operations changed the filter");
        (void)w.plain.put(w.filter.hash()(*found), bytes.view());
        fail_once();
        const auto outcome = w.filter.insert(*found, w.remote);
        w.wrong.expect(outcome && *outcome == insert_outcome::inserted, "a colliding insert failed without its range");
        w.wrong.expect(w.filter.may_contain(*found), "a false negative");
        w.scan();
        w.wrong.expect(w.filter.erase(*found, w.plain).has_value(), "an erase failed");
        w.scan();
        w.audit();
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// erase(x) has erased x in R. Before it reaches the filter, another thread commits and inserts x
// again.
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

// The store has erased x, and forget(x) has read a range without it. Before it reaches the bin,
// another thread commits and inserts x again: the slot that forget finds belongs to the new x.
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

// erase(x) has read its range. Before it reaches the bin, another key is inserted there. A renewal
// from the old range would lose that key.
template <class Filter>
std::string check_erase_against_neighbour() {
    for (unsigned history = 0; history < 3; ++history) {
        broom_world<Filter> w{{.capacity = 40, .history = history, .seed = 6, .universe = 70}};
        for (std::uint64_t key = 0; key < 60; ++key) (void)w.insert(key);  // a full bin is renewed by every erase
        for (std::uint64_t key = 0; key < 10; ++key) {
            scripted_map<memory_map> remote{w.plain};
            remote.after_range = [&] { insert_beside(w, 60 + key); };
            w.wrong.expect(w.filter.erase(key, remote).has_value(), "an erase failed");
            w.wrong.expect(w.filter.may_contain(60 + key), "a false negative: a key inserted during an erase");
        }
        if (const auto sound = w.filter.audit(w.plain); !sound) w.wrong.note(std::string{sound.error().message()});
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// The same with an adapt that has to renew: five false positives in one bin are more than
// extensions can hold.
template <class Filter>
std::string check_adapt_against_neighbour() {
    broom_world<Filter> w{{.capacity = 40, .seed = 7, .universe = 100}};
    for (std::uint64_t key = 0; key < 40; ++key) (void)w.insert(key);
    for (std::uint64_t next = 40; next < 70; ++next) {
        const auto found = w.find_false_positive(1'000'000);
        if (!found) return "no false positive was found";
        scripted_map<memory_map> remote{w.plain};
        remote.after_range = [&] { insert_beside(w, next); };
        w.wrong.expect(w.filter.adapt(*found, remote).has_value(), "an adapt failed");
        w.scan();
        w.audit();
    }
    return w.wrong.text();
}

// Growth has read a bin's range from R, and a key is inserted before the bin is built in the new
// table.
template <class Filter>
std::string check_growth_against_insert() {
    broom_world<Filter> w{{.capacity = 200, .grows = true, .seed = 9, .universe = 400}};
    for (std::uint64_t key = 0; key < 150; ++key) (void)w.insert(key);
    scripted_map<memory_map> remote{w.plain};
    std::vector<std::uint64_t> first_bin;  // keys of the bin that moves first
    for (std::uint64_t key = 150; first_bin.size() < 6 && key < 400; ++key) {
        if (scale(w.filter.hash()(key).position, w.filter.details().bins) == 0) first_bin.push_back(key);
    }
    // One key after each of the first range reads, because any of them may be the one from which
    // the bin is built. Growth holds its lock during the hook, so an insert that has to grow would
    // wait forever: six keys do not make it grow.
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

// Threads without a script: the races occur by chance, in many tries. First one writer, each of
// whose erases renews the only bin, and one reader that calls the scalar look-up, whose window is
// widest where it also reads tails. Then many threads on few bins, and on a filter that grows.
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
