// Snapshots of the adaptive Bloom filter: equal after a round trip, refused where parameters and sections contradict each other;
// damaged and forged in bulk, with the figures of snapshot_sweep_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/adaptive_bloom_world.hpp"
#include "support/scale.hpp"
#include "support/snapshot_exercise.hpp"

namespace genista {
namespace {

using bytes = std::vector<std::byte>;
using world = test::adaptive_bloom_world;

// Full but for one key in eight, with repairs in all levels it reaches.
bytes lived_in(std::uint64_t capacity, double rate) {
    world w{{.capacity = capacity, .rate = rate, .seed = capacity}};
    for (std::uint64_t key = 0; key < capacity; ++key) w.put(key);
    EXPECT_TRUE(w.filter.rebuild(w.truth));
    for (std::uint64_t i = 0; i < capacity / 4; ++i) {
        if (const auto stranger = w.find_false_positive(2'000)) w.adapt(*stranger);
    }
    for (std::uint64_t key = 0; key < capacity; key += 8) {
        w.erase(key);
        w.adapt(key);
    }
    w.audit();
    EXPECT_TRUE(w.wrong.empty()) << w.text();
    return w.saved();
}

TEST(adaptive_bloom_snapshot_sweep, a_round_trip_gives_equal_bytes_and_answers) {
    for (const double rate : {0.5, 0.25, 0.1, 0x1p-8, 0x1p-20}) {
        for (const std::uint64_t capacity : {1u, 64u, 3'000u}) {
            const bytes file = lived_in(capacity, rate);
            const auto loaded = adaptive_bloom_filter::load(file);
            ASSERT_TRUE(loaded) << loaded.error().message();
            vector_sink again;
            ASSERT_TRUE(loaded->save(again));
            ASSERT_TRUE(std::ranges::equal(again.bytes(), file));
            for (std::uint64_t key = 0; key < capacity; ++key) {
                if (key % 8 != 0) {
                    ASSERT_TRUE(loaded->path_of(loaded->hash()(key)).maybe) << key;
                }
            }
            for (std::size_t shift = 1; shift < 9; ++shift) {  // from any address
                bytes moved(shift + file.size());
                std::ranges::copy(file, moved.begin() + static_cast<std::ptrdiff_t>(shift));
                ASSERT_TRUE(adaptive_bloom_filter::load(std::span{moved}.subspan(shift)));
            }
        }
    }
}

TEST(adaptive_bloom_snapshot_sweep, every_truncation_is_refused) {
    const bytes file = lived_in(8'000, 0.25);
    ASSERT_GT(file.size(), 4'096u);
    for (std::size_t length = 0; length < file.size(); ++length)
        ASSERT_FALSE(adaptive_bloom_filter::load(std::span{file}.first(length))) << length;
}

TEST(adaptive_bloom_snapshot_sweep, every_bit_flip_is_refused) {
    bytes file = lived_in(1'500, 0.25);
    ASSERT_TRUE(adaptive_bloom_filter::load(file));
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
        const auto mask = static_cast<std::byte>(1u << bit % 8);
        file[bit / 8] ^= mask;
        ASSERT_FALSE(adaptive_bloom_filter::load(file)) << bit;
        file[bit / 8] ^= mask;
    }
}

// docs/format.md: after the common 56 bytes the salts' beginning, queries, forgotten keys, and the keys of levels 1 to 5.
constexpr std::size_t own_fields_at = 192 + 56;

TEST(adaptive_bloom_snapshot_sweep, parameters_that_are_impossible_or_contradict_the_sections_are_refused) {
    const bytes file = lived_in(500, 0.25);
    const auto with = [&](std::size_t at, std::size_t width, std::uint64_t value) {
        bytes changed = file;
        test::put_little_endian(changed, at, width, value);
        test::fix_checksums(changed);
        const auto loaded = adaptive_bloom_filter::load(changed);
        return loaded ? std::string{"loaded"} : std::string{to_string(loaded.error().code())};
    };
    const auto real = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    EXPECT_EQ(with(192, 8, 500), "loaded");
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{400}, std::uint64_t{900},
                                      (std::uint64_t{1} << 36) + 1, max_capacity + 1, ~std::uint64_t{0}})
        EXPECT_EQ(with(192, 8, value), "corrupt") << "capacity " << value;
    using limits = std::numeric_limits<double>;
    for (const double value : {0.0, -1.0, 0.001, 0.5, 1.1, limits::infinity(), limits::quiet_NaN()})
        EXPECT_EQ(with(192 + 8, 8, real(value)), "corrupt") << "rate " << value;
    for (const std::uint64_t value : {std::uint64_t{501}, ~std::uint64_t{0}})
        EXPECT_EQ(with(192 + 16, 8, value), "corrupt") << "keys " << value;
    for (const std::uint64_t at : {24u, 32u, 40u, 48u, 56u})
        EXPECT_EQ(with(own_fields_at + at, 8, 100'000), "corrupt") << "keys of a level, at " << at;
    EXPECT_EQ(with(own_fields_at + 56, 8, 1), "corrupt") << "keys of a level that there is not";
    for (const std::uint64_t at : {0u, 8u, 16u})
        EXPECT_EQ(with(own_fields_at + at, 8, ~std::uint64_t{0}), "loaded") << "salts and counters may be anything";
    for (std::uint64_t kind = 0; kind < 32; ++kind) EXPECT_EQ(with(10, 2, kind), kind == 10 ? "loaded" : "mismatch");
    for (const std::uint64_t version : {0u, 2u, 65'535u}) EXPECT_EQ(with(12, 2, version), "unsupported");
}

// Loads bytes that may be forged; what comes out answers at once, must not change before a rebuild, and is a filter like any other
// behind it.
test::exercise_outcome exercise(std::span<const std::byte> forged) {
    auto filter = adaptive_bloom_filter::load(forged);
    if (!filter) return {.broken = filter.error().message().empty() ? "an error without words" : nullptr};
    const auto broken = [](const char* what) { return test::exercise_outcome{.loaded = true, .broken = what}; };
    vector_sink first;
    if (!filter->save(first)) return broken("a loaded filter that cannot be saved");
    if (!test::same_contents(first.bytes(), forged)) return broken("a save that differs from what was loaded");
    if (filter->stats().local_bytes > 2 * forged.size() + 8192) return broken("a filter much larger than its snapshot");
    for (std::uint64_t key = 0; key < 200; ++key) (void)filter->may_contain(key);
    memory_map map, index;
    with_index remote{map, index};
    if (filter->insert(std::uint64_t{1}, remote)) return broken("a loaded filter that changes");
    if (!filter->rebuild(remote)) return broken("no keys that find no place");
    const std::uint64_t count = std::min<std::uint64_t>(9, filter->stats().capacity);
    for (std::uint64_t key = 0; key < count; ++key) {
        if (!map.put(filter->hash()(key), integer_key{key}.view())) return broken("no memory");
        if (!filter->insert(key, remote)) return broken("an insert that fails with a sound store");
        if (!filter->adapt(1'000 + key, remote)) return broken("an adapt that fails with a sound store");
    }
    for (std::uint64_t key = 0; key < count; ++key) {
        if (!filter->may_contain(key)) return broken("a false negative");
    }
    if (!filter->audit(remote)) return broken("a filter that does not agree with its store");
    return {.loaded = true};
}

TEST(adaptive_bloom_snapshot_sweep, forgeries_with_valid_checksums_give_an_error_or_a_sound_filter) {
    test::splitmix chance{13};
    std::vector<bytes> originals;
    for (const double rate : {0.5, 0.25, 0x1p-8}) {
        originals.push_back(lived_in(1, rate));
        originals.push_back(lived_in(70, rate));
        originals.push_back(lived_in(500, rate));
    }
    const auto rounds = test::scaled<std::uint64_t>(20'000, 1'000'000);
    std::uint64_t accepted = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        bytes forged = originals[chance.below(originals.size())];
        for (auto edits = 1 + chance.below(3); edits > 0; --edits) {
            // Parameters, the header's lengths, or anywhere.
            const std::size_t at =
                chance.below(3) == 0 ? 192 + chance.below(120) : 56 + chance.below(forged.size() - 64);
            const std::size_t width = std::size_t{1} << chance.below(4);
            if (at + width > forged.size() || (at >= 128 && at < 192)) continue;
            if (chance.below(2) == 0) {
                forged[at] ^= static_cast<std::byte>(1u << chance.below(8));
            } else {
                test::put_little_endian(forged, at, width, chance.below(3) == 0 ? chance() : chance.below(64));
            }
        }
        test::fit_lengths(forged);
        test::fix_key_id(forged);
        test::fix_envelope(forged);
        const test::exercise_outcome outcome = exercise(forged);
        ASSERT_EQ(outcome.broken, nullptr) << outcome.broken << ", round " << round;
        accepted += outcome.loaded ? 1 : 0;
    }
    EXPECT_GT(accepted, rounds / 50);
    EXPECT_LT(accepted, rounds * 49 / 50);
}

}  // namespace
}  // namespace genista
