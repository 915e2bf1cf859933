// What must stay true when an operation is refused, fails halfway, or meets another one in the
// middle of its call to R: checks of broom_checks.hpp. Each function gives what went wrong, "" if
// nothing did.
//
// Some of them ask that an absent key is not a certain false positive afterwards. They count over
// many filters, because the key may still match by chance.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/broom_scripted_map.hpp"
#include "tests/support/broom_world.hpp"

namespace genista::test {

// As many keys in one bin as it takes, and then the first absent key that the filter lets through.
inline constexpr std::uint64_t keys_of_a_bin = 112;  // 48 slots and 64 entries

inline world_setup one_full_bin(std::uint64_t seed, unsigned history = 0) {
    return {.capacity = 40, .history = history, .seed = seed, .universe = keys_of_a_bin};
}

template <class Filter>
void put(broom_world<Filter>& w, std::uint64_t key) {
    (void)w.plain.put(w.filter.hash()(key), integer_key{key}.view());
}
template <class Filter>
void take(broom_world<Filter>& w, std::uint64_t key) {
    (void)w.plain.erase(w.filter.hash()(key), integer_key{key}.view());
}
// Every range read fails from now on, or none does.
template <class Filter>
void fail_ranges(broom_world<Filter>& w, bool fail) {
    fault_plan plan;
    if (fail) plan.rules = {fault_rule::from(fault_kind::error_before, 0, fault_scope::ranges)};
    w.wrong.expect(w.remote.set_plan(plan).has_value(), "the plan of faults is no plan");
}
template <class Filter>
void expect_sound(broom_world<Filter>& w) {
    if (const auto sound = w.filter.audit(w.plain); !sound) w.wrong.note(std::string{sound.error().message()});
}

// R has lost y, and the filter does not know yet; an insert finds y's slot without an owner and
// takes it for its own. The vouched erase of y must not bury it.
template <class Filter>
std::string check_vouched_against_insert() {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        broom_world<Filter> w{{.capacity = 40, .seed = seed, .universe = 40}};
        for (std::uint64_t key = 0; key < 2; ++key) (void)w.insert(key);
        w.erase(1);  // a bin with a dead slot: the next erase is a quick one
        const auto coming = w.find_false_positive(10'000'000);
        if (!coming) return "no false positives at all";
        scripted_map<memory_map> remote{w.plain};
        remote.after_erase = [&] {
            put(w, *coming);
            std::jthread{[&] {
                w.wrong.expect(w.filter.insert(*coming, w.plain).has_value(), "an insert failed");
            }}.join();
        };
        w.wrong.expect(w.filter.erase(std::uint64_t{0}, remote, assume_present).has_value(), "an erase failed");
        w.wrong.expect(w.filter.may_contain(*coming), "a false negative: its slot was buried with its former owner");
        expect_sound(w);
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// The same moment, and an insert that collides with a third key's slot: the bin is renewed without
// y and with x, and has as many keys as before. x was not there all the same.
template <class Filter>
std::string check_outcome_against_erase() {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        broom_world<Filter> w{{.capacity = 40, .seed = seed, .universe = 40}};
        (void)w.insert(0);
        const auto coming = w.find_false_positive(10'000'000);  // it can only be on the slot of key 0
        if (!coming) return "no false positives at all";
        (void)w.insert(1);
        scripted_map<memory_map> remote{w.plain};
        result<insert_outcome> outcome = insert_outcome::full;
        remote.after_erase = [&] {
            put(w, *coming);
            std::jthread{[&] { outcome = w.filter.insert(*coming, w.plain); }}.join();
        };
        w.wrong.expect(w.filter.erase(std::uint64_t{1}, remote).has_value(), "an erase failed");
        w.wrong.expect(outcome && *outcome == insert_outcome::inserted, "a new key that is said to have been there");
        w.wrong.expect(w.filter.may_contain(*coming), "a false negative");
        expect_sound(w);
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// A full bin refuses keys. An adversary sees which inserts read R, and claims those that were
// refused: no more of them may match than of any other keys. At 2^-8 that is one in 256; one in 32
// would be luck of less than 10^-100.
template <class Filter>
std::string check_refused_insert() {
    std::uint64_t claims = 0, right = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        broom_world<Filter> w{one_full_bin(seed)};
        for (std::uint64_t key = 0; key < keys_of_a_bin; ++key) (void)w.insert(key);
        for (std::uint64_t key = 10'000; key < 11'000; ++key) {
            const std::uint64_t reads = w.filter.stats().remote_reads;
            put(w, key);
            const auto outcome = w.filter.insert(key, w.plain);
            w.wrong.expect(outcome && *outcome == insert_outcome::full, "a key more than a bin can hold");
            take(w, key);
            if (w.filter.stats().remote_reads == reads) continue;
            ++claims;
            right += w.filter.may_contain(key) ? 1u : 0u;
        }
        w.scan();
        expect_sound(w);
        if (!w.wrong.none()) return w.wrong.text();
    }
    if (claims == 0) return "no insert that reads R: nothing was claimed";
    return right * 32 <= claims ? "" : std::to_string(right) + " of " + std::to_string(claims) + " refused keys match";
}

// x is stored, and R holds another key that fits its slot and has not come in. Inserted again into
// a full bin, x may be refused, but not thrown out.
template <class Filter>
std::string check_refused_overwrite() {
    for (unsigned history = 0; history < 3; ++history) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            broom_world<Filter> w{one_full_bin(seed, history)};
            for (std::uint64_t key = 0; key < keys_of_a_bin; ++key) (void)w.insert(key);
            const auto coming = w.find_false_positive(1'000'000);
            if (!coming) return "no false positives at all";
            put(w, *coming);
            for (std::uint64_t key = 0; key < keys_of_a_bin; ++key) {
                w.wrong.expect(w.filter.insert(key, w.plain).has_value(), "an insert failed");
                w.wrong.expect(w.filter.may_contain(key), "a false negative: inserted again, refused, and thrown out");
            }
            w.scan();
            if (!w.wrong.none()) return w.wrong.text();
        }
    }
    return {};
}

// Ten live keys and thirty dead slots leave room for a hundred and two keys more, not for
// seventy-two.
template <class Filter>
std::string check_full_with_dead_slots() {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        broom_world<Filter> w{{.capacity = 40, .seed = seed, .universe = 200}};
        for (std::uint64_t key = 0; key < 40; ++key) (void)w.insert(key);
        for (std::uint64_t key = 0; key < 30; ++key) w.erase(key);
        for (std::uint64_t key = 40; key < 30 + keys_of_a_bin; ++key)
            w.wrong.expect(w.insert(key), "refused although dead slots take up the room");
        w.scan();
        w.audit();
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// Keys that were refused stay in R, as a guard leaves them. The bin must go on learning, losing and
// taking keys.
template <class Filter>
std::string check_refused_keys_in_r() {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        broom_world<Filter> w{one_full_bin(seed)};
        for (std::uint64_t key = 0; key < keys_of_a_bin; ++key) (void)w.insert(key);
        for (std::uint64_t key = 0; key < 20; ++key) {
            put(w, 5000 + key);
            const auto outcome = w.filter.insert(5000 + key, w.plain);
            w.wrong.expect(outcome && *outcome == insert_outcome::full, "a key more than a bin can hold");
        }
        for (int i = 0; i < 20; ++i) {
            const auto found = w.find_false_positive(1'000'000);
            if (!found) return "no false positives at all";
            const auto outcome = w.filter.adapt(*found, w.plain);
            w.wrong.expect(outcome && *outcome == adapt_outcome::fixed, "a mistake that cannot be repaired any more");
            w.wrong.expect(!w.filter.may_contain(*found), "repaired, and still a false positive");
            w.scan();
        }
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// R cannot be read by ranges, and a key that collides is inserted: no error, or the error would
// tell that it collides. The key is never denied afterwards, whatever becomes of the one it
// collides with, and neither is that one.
template <class Filter>
std::string check_insert_without_ranges() {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        broom_world<Filter> w{{.capacity = 40, .seed = seed, .universe = 300}};
        for (std::uint64_t key = 0; key < 100; ++key) (void)w.insert(key);  // a bin with a backyard
        std::vector<std::uint64_t> taken;
        fail_ranges(w, true);
        while (taken.size() < 4) {
            const auto found = w.find_false_positive(1'000'000);
            if (!found) return "no false positives at all";
            put(w, *found);
            const auto outcome = w.filter.insert(*found, w.remote);
            w.wrong.expect(outcome && *outcome == insert_outcome::inserted, "an insert fails because it collides");
            taken.push_back(*found);
        }
        fail_ranges(w, false);
        const auto all_there = [&](const char* when) {
            for (const std::uint64_t key : taken) w.wrong.expect(w.filter.may_contain(key), when);
            w.scan();
        };
        all_there("a false negative: inserted while R could not be read");
        expect_sound(w);
        switch (seed % 4) {
            case 0:  // its neighbours go, one of whom has its base or tag
                for (std::uint64_t key = 0; key < 100; ++key) {
                    w.erase(key);
                    all_there("a false negative: its neighbour was erased");
                }
                break;
            case 1:
                for (std::uint64_t key = 0; key < 100; ++key) {
                    w.erase_assuming_present(key);
                    all_there("a false negative: its neighbour was erased by a caller who vouched");
                }
                break;
            case 2:  // it goes itself, and comes back
                for (const std::uint64_t key : std::vector<std::uint64_t>{taken}) {
                    w.wrong.expect(w.filter.erase(key, w.plain, assume_present).has_value(), "an erase failed");
                    w.scan();
                    put(w, key);
                    w.wrong.expect(w.filter.insert(key, w.plain).has_value(), "an insert failed");
                    all_there("a false negative after an erase and an insert");
                }
                break;
            default:
                for (int i = 0; i < 60; ++i) {
                    const auto found = w.find_false_positive(1'000'000);
                    if (!found) break;
                    w.adapt(*found);
                    all_there("a false negative after an adapt");
                }
        }
        expect_sound(w);
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// A snapshot of an empty bin is restored after the bin was filled and attacked: filled again, it
// must not let the same keys through. Of 40 known false positives 0.2 return by chance; 8 would be
// luck of less than 10^-10.
template <class Filter>
std::string check_restored_empty_bins() {
    broom_world<Filter> w{{.capacity = 40, .seed = 12, .universe = 100}};
    vector_sink out;
    w.wrong.expect(w.filter.save(out).has_value(), "an empty filter that cannot be saved");
    for (std::uint64_t key = 0; key < 40; ++key) (void)w.insert(key);
    std::vector<std::uint64_t> known;
    while (known.size() < 40) {
        const auto found = w.find_false_positive(1'000'000);
        if (!found) return "no false positives at all";
        known.push_back(*found);
    }
    for (const bool rebuilt : {false, true}) {
        auto loaded = Filter::load(out.bytes());
        if (!loaded) return std::string{loaded.error().message()};
        w.filter = *std::move(loaded);
        if (rebuilt) {
            w.rebuild();
        } else {
            for (std::uint64_t key = 0; key < 40; ++key)
                w.wrong.expect(w.filter.insert(key, w.plain).has_value(), "an insert failed");
        }
        std::uint64_t back = 0;
        for (const std::uint64_t key : known) back += w.filter.may_contain(key) ? 1u : 0u;
        if (back >= 8) w.wrong.note(std::to_string(back) + " of 40 known false positives are back after a restore");
        w.scan();
        w.audit();
    }
    return w.wrong.text();
}

}  // namespace genista::test
