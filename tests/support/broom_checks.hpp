// The checks that a broom filter must pass. Each is a function that returns a description of the
// failure, or "" if there is none.
//
// tests/filters/broom_threads_test.cpp runs them on the product filter.
// tests/planted/planted_test.cpp runs them on the filter with one planted bug, which at least one
// check must report. They are templates because the two versions of the filter must not be linked
// into one program.
//
// docs/filters/broom.md lists the places where a wrong implementation loses keys. Each entry of
// that list has its function here. Races between two steps of an operation are played in one fixed
// order: at the critical moment a hook of a scripted R (scripted_map) does what another thread
// could have done. Some checks require that an absent key does not become a certain false positive.
// They count over many filters, because the key may still match by chance.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/broom_history.hpp"
#include "tests/support/broom_model.hpp"
#include "tests/support/broom_world.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/wrapped_maps.hpp"

namespace genista::test {

// ---- the steps that checks share ----------------------------------------------------------------

// As many keys as one bin holds.
inline constexpr std::uint64_t keys_of_a_bin = 112;  // 48 slots and 64 entries

// A filter of one bin, whose keys are 0 .. keys-1.
inline world_setup one_bin(std::uint64_t seed, std::uint64_t keys = 40) {
    return {.capacity = 40, .seed = seed, .universe = keys};
}

template <class Filter>
struct checked_world : broom_world<Filter> {
    using broom_world<Filter>::broom_world, broom_world<Filter>::filter, broom_world<Filter>::plain,
        broom_world<Filter>::wrong;

    void insert_keys(std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t key = first; key < last; ++key) (void)this->insert(key);
    }
    // A false positive; without one the check fails.
    std::optional<std::uint64_t> hunt(std::uint64_t most = 1'000'000) {
        const auto found = this->find_false_positive(most);
        wrong.expect(found.has_value(), "no false positive was found");
        return found;
    }
    // The store alone.
    void put(std::uint64_t key) { (void)plain.put(filter.hash()(key), integer_key{key}.view()); }
    void take(std::uint64_t key) { (void)plain.erase(filter.hash()(key), integer_key{key}.view()); }
    // The filter alone.
    void insert_put(std::uint64_t key) { wrong.expect(filter.insert(key, plain).has_value(), "an insert failed"); }
    template <class R>
    void erase_from(R& from, std::uint64_t key) {
        wrong.expect(filter.erase(key, from).has_value(), "an erase failed");
    }
    void expect_maybe(std::uint64_t key, const char* what = "a false negative") {
        wrong.expect(filter.may_contain(key), what);
    }
    void expect_inserted(const result<insert_outcome>& outcome, const char* what) {
        wrong.expect(outcome && *outcome == insert_outcome::inserted, what);
    }
    void expect_sound() {
        if (const auto sound = filter.audit(plain); !sound) wrong.note(std::string{sound.error().message()});
    }
    // With `fail` every range read fails from now on; without it none does.
    void fail_ranges(bool fail) {
        fault_plan plan;
        if (fail) plan.rules = {fault_rule::from(fault_kind::error_before, 0, fault_scope::ranges)};
        wrong.expect(this->remote.set_plan(plan).has_value(), "the plan of faults is invalid");
    }
};

// Plays the same steps in a new world for each history and each seed from setup.seed on, until one
// finds a failure.
template <class Filter, class Play>
std::string play_in_worlds(world_setup setup, std::uint64_t seeds, unsigned histories, const Play& play) {
    const std::uint64_t first = setup.seed;
    for (setup.history = 0; setup.history < histories; ++setup.history) {
        for (setup.seed = first; setup.seed < first + seeds; ++setup.seed) {
            checked_world<Filter> w{setup};
            play(w);
            if (!w.wrong.none()) return w.wrong.text();
        }
    }
    return {};
}
// ---- keys that come back, collide, or share a digest --------------------------------------------

template <class Filter>
std::string check_own_tombstone() {
    const world_setup setup{.capacity = 100, .seed = 2, .universe = 60};
    return play_in_worlds<Filter>(setup, 1, 3, [](auto& w) {
        w.insert_keys(0, 60);
        for (std::uint64_t round = 0; round < 200; ++round) {
            w.erase(round % 60);
            (void)w.insert(round % 60);
            w.audit();
        }
    });
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
    const hasher inner{hash_key::from_seed(8)};
    const world_setup setup{.capacity = 100, .universe = 120, .hash = hasher::custom(digest_of_pair, &inner)};
    return play_in_worlds<Filter>(setup, 1, 3, [](auto& w) {
        const auto alive = [&](std::uint64_t key) {
            w.expect_maybe(key, "a false negative: another key with its digest was erased");
        };
        for (std::uint64_t key = 0; key < 120; ++key) {
            w.put(key);
            w.insert_put(key);
        }
        for (std::uint64_t key = 0; key < 120; key += 2) {
            const std::uint64_t gone = key + (key / 2 % 2);
            w.erase_from(w.plain, gone);
            alive(gone ^ 1);
        }
        for (std::uint64_t key = 0; key < 120; key += 2) alive(key + 1 - (key / 2 % 2));
        w.expect_sound();
    });
}

// R holds a key that has no slot yet and whose base equals that of a stored key. An adapt must
// extend the slot with bits of the slot's owner, not of that key.
template <class Filter>
std::string check_adapt_beside_commit() {
    return play_in_worlds<Filter>(one_bin(0), 40, 1, [](auto& w) {
        (void)w.insert(0);
        const auto coming = w.hunt(10'000'000);
        const auto absent_key = w.hunt(10'000'000);
        if (!coming || !absent_key) return;
        w.put(*coming);
        w.adapt(*absent_key);
        w.expect_maybe(0, "a false negative: extended by another key's bits");
        w.insert_put(*coming);
        w.expect_maybe(*coming);
        w.expect_sound();
    });
}

// An insert failed at its range read, and the caller erases the key again: it matches a slot of
// another key, which must stay.
template <class Filter>
std::string check_roll_back() {
    return play_in_worlds<Filter>(one_bin(0), 20, 3, [](auto& w) {
        w.insert_keys(0, 20);
        const auto found = w.hunt();
        if (!found) return;
        w.commit_and_roll_back(*found);
        w.scan();
        w.audit();
    });
}

// The store commits first: R holds x when x is inserted, and x matches another key's slot. The
// insert must not conclude that x is already present.
template <class Filter>
std::string check_colliding_insert() {
    return play_in_worlds<Filter>(one_bin(0), 20, 3, [](auto& w) {
        w.insert_keys(0, 20);
        const auto found = w.hunt();
        if (!found) return;
        w.put(*found);
        w.expect_inserted(w.filter.insert(*found, w.plain), "a new key is reported as present");
        w.expect_maybe(*found);
        w.scan();
        w.expect_sound();
    });
}

// The one range read of an erase and of an adapt fails: the result is an error, and the range must
// not count as empty. An insert does not fail: it stores the key as an entry.
template <class Filter>
std::string check_failed_range() {
    return play_in_worlds<Filter>(one_bin(11), 1, 3, [](auto& w) {
        w.insert_keys(0, 20);
        const auto found = w.hunt();
        if (!found) return;
        const auto before = w.draw_portrait();
        const auto fail_once = [&] {
            (void)w.remote.set_plan({.rules = {fault_rule::once(fault_kind::error_midway, 0, fault_scope::ranges, 3)}});
        };
        fail_once();
        w.wrong.expect(!w.filter.adapt(*found, w.remote), "an adapt succeeded without its range");
        fail_once();
        w.wrong.expect(!w.filter.erase(std::uint64_t{3}, w.remote), "an erase succeeded without its range");
        w.wrong.expect(w.draw_portrait() == before, "failed operations changed the filter");
        w.put(*found);
        fail_once();
        w.expect_inserted(w.filter.insert(*found, w.remote), "a colliding insert failed without its range");
        w.expect_maybe(*found);
        w.scan();
        w.erase_from(w.plain, *found);
        w.scan();
        w.audit();
    });
}

// ---- races, played in one fixed order -----------------------------------------------------------

// erase(x) has erased x in R. Before it reaches the filter, another thread commits and inserts x
// again.
template <class Filter>
std::string check_erase_against_insert() {
    return play_in_worlds<Filter>(one_bin(4), 1, 3, [](auto& w) {
        w.insert_keys(0, 20);
        scripted_map<memory_map> remote{w.plain};
        remote.after_erase = [&] { w.insert_beside(7); };
        w.erase_from(remote, 7);
        w.scan();
        w.audit();
    });
}

// The store has erased x, and forget(x) has read a range without it. Before it reaches the bin,
// another thread commits and inserts x again: the slot that forget finds belongs to the new x.
template <class Filter>
std::string check_forget_against_insert() {
    return play_in_worlds<Filter>(one_bin(4), 1, 3, [](auto& w) {
        w.insert_keys(0, 20);
        scripted_map<memory_map> remote{w.plain};
        w.take(7);
        remote.after_range = [&] { w.insert_beside(7); };
        w.wrong.expect(w.filter.forget(std::uint64_t{7}, remote).has_value(), "a forget failed");
        w.scan();
        w.audit();
    });
}

// erase(x) has read its range. Before it reaches the bin, another key is inserted there. A renewal
// from the old range would lose that key.
template <class Filter>
std::string check_erase_against_neighbour() {
    return play_in_worlds<Filter>(one_bin(6, 70), 1, 3, [](auto& w) {
        w.insert_keys(0, 60);  // a full bin is renewed by every erase
        for (std::uint64_t key = 0; key < 10; ++key) {
            scripted_map<memory_map> remote{w.plain};
            remote.after_range = [&] { w.insert_beside(60 + key); };
            w.erase_from(remote, key);
            w.expect_maybe(60 + key, "a false negative: a key inserted during an erase");
        }
        w.expect_sound();
    });
}

// The same with an adapt that has to renew: five false positives in one bin are more than
// extensions can hold.
template <class Filter>
std::string check_adapt_against_neighbour() {
    return play_in_worlds<Filter>(one_bin(7, 100), 1, 1, [](auto& w) {
        w.insert_keys(0, 40);
        for (std::uint64_t next = 40; next < 70; ++next) {
            const auto found = w.hunt();
            if (!found) return;
            scripted_map<memory_map> remote{w.plain};
            remote.after_range = [&] { w.insert_beside(next); };
            w.wrong.expect(w.filter.adapt(*found, remote).has_value(), "an adapt failed");
            w.scan();
            w.audit();
        }
    });
}

// Growth has read a bin's range from R, and a key is inserted before the bin is built in the new
// table.
template <class Filter>
std::string check_growth_against_insert() {
    const world_setup setup{.capacity = 200, .grows = true, .seed = 9, .universe = 400};
    return play_in_worlds<Filter>(setup, 1, 1, [](auto& w) {
        w.insert_keys(0, 150);
        scripted_map<memory_map> remote{w.plain};
        std::vector<std::uint64_t> first_bin;  // keys of the bin that moves first
        for (std::uint64_t key = 150; first_bin.size() < 6 && key < 400; ++key) {
            if (scale(w.filter.hash()(key).position, w.filter.details().bins) == 0) first_bin.push_back(key);
        }
        // One key after each of the first range reads, because any of them may be the one from
        // which the bin is built. Growth holds its lock during the hook, so an insert that has to
        // grow would wait forever: six keys do not make it grow.
        const std::function<void()> join_one = [&] {
            if (first_bin.empty()) return;
            w.insert_beside(first_bin.back());
            first_bin.pop_back();
            remote.after_range = join_one;
        };
        remote.after_range = join_one;
        w.wrong.expect(w.filter.grow(remote).has_value(), "a growth failed");
        w.scan();
        w.audit();
    });
}

// y has left R, and the filter still has its slot. An insert matches y's slot, finds no owner of it
// in R and claims it. The `assume_present` erase of y must then not bury the slot.
template <class Filter>
std::string check_assume_present_against_insert() {
    return play_in_worlds<Filter>(one_bin(0), 20, 1, [](auto& w) {
        w.insert_keys(0, 2);
        w.erase(1);  // a bin with a tombstone: the next erase is a quick one
        const auto coming = w.hunt(10'000'000);
        if (!coming) return;
        scripted_map<memory_map> remote{w.plain};
        remote.after_erase = [&] {
            w.put(*coming);
            std::jthread{[&] { w.insert_put(*coming); }}.join();
        };
        w.wrong.expect(w.filter.erase(std::uint64_t{0}, remote, assume_present).has_value(), "an erase failed");
        w.expect_maybe(*coming, "a false negative: its slot was buried with its former owner");
        w.expect_sound();
    });
}

// The same moment, with an insert that collides with a third key's slot: the bin is renewed without
// y and with x, and has as many keys as before. The outcome must still be `inserted`.
template <class Filter>
std::string check_outcome_against_erase() {
    return play_in_worlds<Filter>(one_bin(0), 20, 1, [](auto& w) {
        (void)w.insert(0);
        const auto coming = w.hunt(10'000'000);  // it can only be on the slot of key 0
        if (!coming) return;
        (void)w.insert(1);
        scripted_map<memory_map> remote{w.plain};
        result<insert_outcome> outcome = insert_outcome::full;
        remote.after_erase = [&] {
            w.put(*coming);
            std::jthread{[&] { outcome = w.filter.insert(*coming, w.plain); }}.join();
        };
        w.erase_from(remote, 1);
        w.expect_inserted(outcome, "a new key is reported as present");
        w.expect_maybe(*coming);
        w.expect_sound();
    });
}

// ---- operations that are refused, or fail halfway -----------------------------------------------

// A full bin refuses keys. An adversary sees which inserts read R, and claims that those that were
// refused match: no more of them may match than of other absent keys. At 2^-8 that is one in 256;
// one in 32 has a chance of less than 10^-100.
template <class Filter>
std::string check_refused_insert() {
    std::uint64_t claims = 0, right = 0;
    const std::string wrong = play_in_worlds<Filter>(one_bin(0, keys_of_a_bin), 20, 1, [&](auto& w) {
        w.insert_keys(0, keys_of_a_bin);
        for (std::uint64_t key = 10'000; key < 11'000; ++key) {
            const std::uint64_t reads = w.filter.stats().remote_reads;
            w.put(key);
            const auto outcome = w.filter.insert(key, w.plain);
            w.wrong.expect(outcome && *outcome == insert_outcome::full, "the bin took more keys than it can hold");
            w.take(key);
            if (w.filter.stats().remote_reads == reads) continue;
            ++claims;
            right += w.filter.may_contain(key) ? 1u : 0u;
        }
        w.scan();
        w.expect_sound();
    });
    if (!wrong.empty()) return wrong;
    if (claims == 0) return "no refused insert read R: nothing was claimed";
    return right * 32 <= claims ? "" : std::to_string(right) + " of " + std::to_string(claims) + " refused keys match";
}

// x is stored, and R holds another key that matches its slot and is not inserted. When x is
// inserted again into the full bin it may be refused, but it must stay stored.
template <class Filter>
std::string check_refused_overwrite() {
    return play_in_worlds<Filter>(one_bin(0, keys_of_a_bin), 20, 3, [](auto& w) {
        w.insert_keys(0, keys_of_a_bin);
        const auto coming = w.hunt();
        if (!coming) return;
        w.put(*coming);
        for (std::uint64_t key = 0; key < keys_of_a_bin; ++key) {
            w.insert_put(key);
            w.expect_maybe(key, "a false negative: inserted again, refused, and lost");
        }
        w.scan();
    });
}

// Ten live keys and thirty tombstones leave room for a hundred and two keys more, not for
// seventy-two: the bin is renewed.
template <class Filter>
std::string check_full_with_tombstones() {
    return play_in_worlds<Filter>(one_bin(0, 200), 10, 1, [](auto& w) {
        w.insert_keys(0, 40);
        for (std::uint64_t key = 0; key < 30; ++key) w.erase(key);
        for (std::uint64_t key = 40; key < 30 + keys_of_a_bin; ++key)
            w.wrong.expect(w.insert(key), "refused although tombstones take up the room");
        w.scan();
        w.audit();
    });
}

// Keys that were refused stay in R, as a guard leaves them. The bin must still adapt, erase and
// take keys.
template <class Filter>
std::string check_refused_keys_in_r() {
    return play_in_worlds<Filter>(one_bin(0, keys_of_a_bin), 10, 1, [](auto& w) {
        w.insert_keys(0, keys_of_a_bin);
        for (std::uint64_t key = 0; key < 20; ++key) {
            w.put(5000 + key);
            const auto outcome = w.filter.insert(5000 + key, w.plain);
            w.wrong.expect(outcome && *outcome == insert_outcome::full, "the bin took more keys than it can hold");
        }
        for (int i = 0; i < 20; ++i) {
            const auto found = w.hunt();
            if (!found) return;
            const auto outcome = w.filter.adapt(*found, w.plain);
            w.wrong.expect(outcome && *outcome == adapt_outcome::fixed, "a false positive can no longer be repaired");
            w.wrong.expect(!w.filter.may_contain(*found), "repaired, and still a false positive");
            w.scan();
        }
    });
}

// R cannot be read by ranges, and a key that collides is inserted. There must be no error: it would
// reveal that the key collides. Afterwards neither this key nor the key with which it collides is
// ever answered no.
template <class Filter>
std::string check_insert_without_ranges() {
    std::uint64_t turn = 0;
    return play_in_worlds<Filter>(one_bin(0, 300), 60, 1, [&turn](auto& w) {
        w.insert_keys(0, 100);  // a bin with a backyard
        std::vector<std::uint64_t> taken;
        w.fail_ranges(true);
        while (taken.size() < 4) {
            const auto found = w.hunt();
            if (!found) return;
            w.put(*found);
            w.expect_inserted(w.filter.insert(*found, w.remote), "an insert fails because it collides");
            taken.push_back(*found);
        }
        w.fail_ranges(false);
        const auto all_there = [&](const char* when) {
            for (const std::uint64_t key : taken) w.expect_maybe(key, when);
            w.scan();
        };
        all_there("a false negative: inserted while R could not be read");
        w.expect_sound();
        switch (turn++ % 4) {
            case 0:  // its neighbours are erased; one of them has its base or tag
                for (std::uint64_t key = 0; key < 100; ++key) {
                    w.erase(key);
                    all_there("a false negative: its neighbour was erased");
                }
                break;
            case 1:
                for (std::uint64_t key = 0; key < 100; ++key) {
                    w.erase_assuming_present(key);
                    all_there("a false negative: its neighbour was erased by a caller with `assume_present`");
                }
                break;
            case 2:  // it is erased itself, and inserted again
                for (const std::uint64_t key : std::vector<std::uint64_t>{taken}) {
                    w.wrong.expect(w.filter.erase(key, w.plain, assume_present).has_value(), "an erase failed");
                    w.scan();
                    w.put(key);
                    w.insert_put(key);
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
        w.expect_sound();
    });
}

// A snapshot of an empty bin is restored after the bin was filled and attacked. Filled again, the
// bin must not match the same keys. Of 40 known false positives 0.2 return by chance; 8 have a
// chance of less than 10^-10.
template <class Filter>
std::string check_restored_empty_bins() {
    return play_in_worlds<Filter>(one_bin(12, 100), 1, 1, [](auto& w) {
        vector_sink out;
        w.wrong.expect(w.filter.save(out).has_value(), "an empty filter cannot be saved");
        w.insert_keys(0, 40);
        std::vector<std::uint64_t> known;
        while (known.size() < 40) {
            const auto found = w.hunt();
            if (!found) return;
            known.push_back(*found);
        }
        for (const bool rebuilt : {false, true}) {
            auto loaded = Filter::load(out.bytes());
            if (!loaded) return w.wrong.note(std::string{loaded.error().message()});
            w.filter = *std::move(loaded);
            if (rebuilt) {
                w.rebuild();
            } else {
                for (std::uint64_t key = 0; key < 40; ++key) w.insert_put(key);
            }
            std::uint64_t back = 0;
            for (const std::uint64_t key : known) back += w.filter.may_contain(key) ? 1u : 0u;
            if (back >= 8) w.wrong.note(std::to_string(back) + " of 40 known false positives are back after a restore");
            w.scan();
            w.audit();
        }
    });
}

// After its bin is renewed, an adapted false positive comes back with probability ε only, because
// the bin has a new salt [law L1]. All bins are renewed by erases. Of about 500 false positives 2
// are expected to return; 40 have a chance of less than 10^-30.
template <class Filter>
std::string check_renewal_forgets_no_salt() {
    broom_world<Filter> w{{.capacity = 4500, .history = 1, .seed = 3, .universe = 4000}};
    for (std::uint64_t key = 0; key < 4000; ++key) (void)w.insert(key);
    std::vector<std::uint64_t> fixed;
    while (fixed.size() < 500) {
        const auto found = w.find_false_positive(1'000'000);
        if (!found) return "no false positive was found";
        w.adapt(*found);
        fixed.push_back(*found);
    }
    for (std::uint64_t key = 0; key < 4000; key += 4) w.erase(key);
    std::uint64_t back = 0;
    for (const std::uint64_t key : fixed) back += w.filter.may_contain(key) ? 1u : 0u;
    if (back >= 40) w.wrong.note("false positives came back with their old salt: " + std::to_string(back) + " of 500");
    return w.wrong.text();
}

// ---- growth, snapshots, the model and threads without a script ----------------------------------

// Growth at several loads: by grow() and by inserts.
template <class Filter>
std::string check_growth() {
    for (const std::uint64_t keys : {30u, 200u, 700u}) {
        broom_world<Filter> w{{.capacity = 700, .grows = true, .seed = keys, .universe = 3000}};
        for (std::uint64_t key = 0; key < keys; ++key) (void)w.insert(key);
        w.grow();
        w.audit();
        for (std::uint64_t key = keys; key < 3000; ++key) (void)w.insert(key);
        w.scan();
        w.audit();
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

// A snapshot of a filter whose bins overflow, and that has extensions and tombstones.
template <class Filter>
std::string check_snapshot() {
    for (const double rate : {0x1p-8, 0x1p-13}) {
        broom_world<Filter> w{{.capacity = 430, .rate = rate, .seed = 5, .universe = 800}};
        for (std::uint64_t key = 0; key < 700; ++key) (void)w.insert(key);
        for (std::uint64_t key = 0; key < 40; ++key) w.erase(key * 7);
        for (int i = 0; i < 30; ++i) {
            if (const auto found = w.find_false_positive(20'000); found) w.adapt(*found);
        }
        for (int life = 0; life < 3; ++life) {
            if (!w.save_and_load()) return {};  // not yet
            w.audit();
        }
        for (std::uint64_t key = 0; key < 40; ++key) (void)w.insert(key * 7);
        w.scan();
        w.audit();
        if (!w.wrong.none()) return w.wrong.text();
    }
    return {};
}

template <class Filter>
std::string check_model() {
    findings wrong;
    for (unsigned history = 0; history < 3 && wrong.none(); ++history) {
        drive_small_filters<Filter>(0x1p-8, history, 50, 8, sanitized ? 120 : 1200, wrong);
        drive_small_filters<Filter>(0x1p-11, history, 90, 4, sanitized ? 120 : 1200, wrong);
    }
    return wrong.text();
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

struct broom_check {
    std::string_view name;
    std::string (*run)();
    bool has_threads = false;
};

template <class Filter>
inline constexpr std::array<broom_check, 24> broom_checks = {{
    {"an erased key comes back", check_own_tombstone<Filter>},
    {"a colliding insert", check_colliding_insert<Filter>},
    {"a range read that fails", check_failed_range<Filter>},
    {"keys with one digest", check_keys_with_one_digest<Filter>},
    {"an adapt while R holds a key that is not inserted yet", check_adapt_beside_commit<Filter>},
    {"rolling back a commit that collides", check_roll_back<Filter>},
    {"an erase while its key is inserted again", check_erase_against_insert<Filter>, true},
    {"a forget while its key is inserted again", check_forget_against_insert<Filter>, true},
    {"an erase while a neighbour is inserted", check_erase_against_neighbour<Filter>, true},
    {"an adapt while a neighbour is inserted", check_adapt_against_neighbour<Filter>, true},
    {"growth while a key is inserted", check_growth_against_insert<Filter>, true},
    {"an assume_present erase while its slot is claimed", check_assume_present_against_insert<Filter>, true},
    {"an outcome while a neighbour is erased", check_outcome_against_erase<Filter>, true},
    {"an insert that is refused", check_refused_insert<Filter>},
    {"a stored key that is refused", check_refused_overwrite<Filter>},
    {"a full bin with tombstones", check_full_with_tombstones<Filter>},
    {"refused keys that stay in R", check_refused_keys_in_r<Filter>},
    {"an insert while R cannot be read", check_insert_without_ranges<Filter>},
    {"a restore of empty bins", check_restored_empty_bins<Filter>},
    {"a renewal repeats no salt", check_renewal_forgets_no_salt<Filter>},
    {"growth", check_growth<Filter>},
    {"snapshots", check_snapshot<Filter>},
    {"the model", check_model<Filter>},
    {"the history of threads", check_history<Filter>, true},
}};

}  // namespace genista::test
