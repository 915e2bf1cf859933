// Snapshots of the filters that learn: equal after saving and loading, refused where parameters and
// sections contradict each other, and damaged and forged as often as in snapshot_sweep_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "filters/cuckoo_family_filters.hpp"
#include "tests/support/adaptive_bloom_world.hpp"
#include "tests/support/cuckoo_world.hpp"
#include "tests/support/learning_snapshot_exercise.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/snapshot_damage.hpp"

namespace genista::learning_snapshot_sweep_test {
namespace {

// ---- adaptive_bloom_filter ----------------------------------------------------------------------

using bytes = test::file_bytes;
using world = test::adaptive_bloom_world;

// Full but for one key in eight, with repairs in all levels that it reaches.
bytes after_use(std::uint64_t capacity, double rate) {
    world w{{.capacity = capacity, .rate = rate, .seed = capacity}};
    for (std::uint64_t key = 0; key < capacity; ++key) w.put(key);
    EXPECT_TRUE(w.filter.rebuild(w.truth));
    for (std::uint64_t i = 0; i < capacity / 4; ++i) {
        if (const auto absent_key = w.find_false_positive(2'000)) w.adapt(*absent_key);
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
            const bytes file = after_use(capacity, rate);
            const auto loaded = test::loaded_as_saved<adaptive_bloom_filter>(file);
            ASSERT_TRUE(loaded && !HasFailure());
            for (std::uint64_t key = 0; key < capacity; ++key) {
                if (key % 8 != 0) {
                    ASSERT_TRUE(loaded->path_of(loaded->hash()(key)).maybe) << key;
                }
            }
            test::expect_loads_from_any_address<adaptive_bloom_filter>(file);
        }
    }
}

TEST(adaptive_bloom_snapshot_sweep, every_truncation_is_refused) {
    const bytes file = after_use(8'000, 0.25);
    ASSERT_GT(file.size(), 4'096u);
    test::expect_truncations_refused<adaptive_bloom_filter>(file);
}

TEST(adaptive_bloom_snapshot_sweep, every_bit_flip_is_refused) {
    test::expect_bit_flips_refused<adaptive_bloom_filter>(after_use(1'500, 0.25));
}

// docs/format.md: after the common 56 bytes the first salts, queries, forgotten keys, and the keys
// of levels 1 to 5.
constexpr std::size_t own_fields_at = 192 + 56;

TEST(adaptive_bloom_snapshot_sweep, parameters_that_are_impossible_or_contradict_the_sections_are_refused) {
    const bytes file = after_use(500, 0.25);
    const auto with = [&](std::size_t at, std::size_t width, std::uint64_t value) {
        return test::load_with<adaptive_bloom_filter>(file, at, width, value);
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
    EXPECT_EQ(with(own_fields_at + 56, 8, 1), "corrupt") << "keys of a level that does not exist";
    for (const std::uint64_t at : {0u, 8u, 16u})
        EXPECT_EQ(with(own_fields_at + at, 8, ~std::uint64_t{0}), "loaded") << "salts and counters may be anything";
    for (std::uint64_t kind = 0; kind < 32; ++kind)
        EXPECT_EQ(with(10, 2, kind), kind == 10 ? "loaded" : test::refusal_of(kind));
    for (const std::uint64_t version : {0u, 2u, 65'535u}) EXPECT_EQ(with(12, 2, version), "unsupported");
}

TEST(adaptive_bloom_snapshot_sweep, forgeries_with_valid_checksums_give_an_error_or_a_sound_filter) {
    std::vector<bytes> originals;
    for (const double rate : {0.5, 0.25, 0x1p-8}) {
        originals.push_back(after_use(1, rate));
        originals.push_back(after_use(70, rate));
        originals.push_back(after_use(500, rate));
    }
    test::expect_edits_refused_or_sound({originals, 13, test::scaled<std::uint64_t>(20'000, 1'000'000)}, 120,
                                        [](std::span<const std::byte> forged) {
                                            return test::exercise_learning_snapshot<adaptive_bloom_filter>(forged);
                                        });
}

// ---- cuckooing_filter ---------------------------------------------------------------------------

// Full but for one key in eight, with repairs.
bytes after_use(const test::cuckoo_form& form, std::uint64_t capacity, unsigned bits) {
    test::cuckoo_world<cuckooing_filter> w{test::cuckoo_made(form, capacity, bits, capacity)};
    for (std::uint64_t key = 0; key < capacity; ++key) EXPECT_TRUE(w.insert(key));
    for (std::uint64_t key = 0; key < capacity; key += 8) w.erase(key);
    for (std::uint64_t absent_key = 1'000'000; absent_key < 1'001'000; ++absent_key) w.adapt(absent_key);
    w.audit();
    EXPECT_TRUE(w.wrong.empty()) << w.text();
    return w.saved();
}

TEST(cuckooing_snapshot_sweep, a_round_trip_gives_equal_bytes_and_answers_in_every_shape) {
    for (const test::cuckoo_form& form : test::cuckoo_forms<cuckooing_filter>()) {
        for (const unsigned bits : {2u, 3u, 8u, 13u, 29u, 32u}) {
            for (const std::uint64_t capacity : {1u, 64u, 500u}) {
                const bytes file = after_use(form, capacity, bits);
                const auto loaded = test::loaded_as_saved<cuckooing_filter>(file);
                ASSERT_TRUE(loaded && !HasFailure());
                for (std::uint64_t key = 0; key < capacity; ++key) {
                    if (key % 8 != 0) {
                        ASSERT_TRUE(loaded->may_contain(key)) << key;
                    }
                }
                test::expect_loads_from_any_address<cuckooing_filter>(file);
            }
        }
    }
}

TEST(cuckooing_snapshot_sweep, every_truncation_is_refused) {
    const bytes file = after_use(test::cuckoo_forms<cuckooing_filter>().back(), 10'000, 14);
    ASSERT_GT(file.size(), 16'384u);
    test::expect_truncations_refused<cuckooing_filter>(file);
}

TEST(cuckooing_snapshot_sweep, every_bit_flip_is_refused) {
    test::expect_bit_flips_refused<cuckooing_filter>(
        after_use(test::cuckoo_forms<cuckooing_filter>().back(), 2'000, 12));
}

// docs/format.md: after the common 56 bytes tables, slots per bin, fingerprint bits, selector bits
// (u32 each), bins (u64), load (f64) and four salts.

TEST(cuckooing_snapshot_sweep, parameters_that_are_impossible_or_contradict_the_table_are_refused) {
    const bytes file = after_use(test::cuckoo_forms<cuckooing_filter>().back(), 500, 10);
    const auto with = [&](std::size_t at, std::size_t width, std::uint64_t value) {
        return test::load_with<cuckooing_filter>(file, at, width, value);
    };
    const auto real = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    const auto now = [&](std::size_t at) { return load_little_endian<std::uint32_t>(&file[own_fields_at + at]); };
    for (const std::size_t at : {0u, 4u, 8u, 12u}) {
        EXPECT_EQ(with(own_fields_at + at, 4, now(at)), "loaded");
        for (const std::uint64_t value : {0u, 1u, 3u, 5u, 9u, 33u, 64u, 0x8000'0000u, 0xffff'ffffu}) {
            if (value == now(at)) continue;
            EXPECT_EQ(with(own_fields_at + at, 4, value), "corrupt") << "field " << at << ": " << value;
        }
    }
    const std::uint64_t bins = load_little_endian<std::uint64_t>(&file[own_fields_at + 16]);
    for (const std::uint64_t value : {std::uint64_t{0}, bins + 100, bins / 2, std::uint64_t{1} << 40,
                                      std::uint64_t{1} << 62, ~bins, ~std::uint64_t{0}}) {
        EXPECT_EQ(with(own_fields_at + 16, 8, value), "corrupt") << value;
    }
    using limits = std::numeric_limits<double>;
    for (const double value :
         {0.0, -1.0, 0.001, 0.5, 1.1, limits::infinity(), limits::quiet_NaN(), limits::denorm_min()}) {
        EXPECT_EQ(with(own_fields_at + 24, 8, real(value)), "corrupt") << "load " << value;
        EXPECT_EQ(with(192 + 8, 8, real(value)), "corrupt") << "rate " << value;
    }
    const std::uint64_t keys = load_little_endian<std::uint64_t>(&file[192 + 16]);
    for (const std::uint64_t value : {std::uint64_t{0}, keys - 1, keys + 1, ~std::uint64_t{0}}) {
        EXPECT_EQ(with(192 + 16, 8, value), "corrupt") << "keys " << value;
    }
    for (const std::uint64_t value : {std::uint64_t{0}, max_capacity + 1}) EXPECT_EQ(with(192, 8, value), "corrupt");
    const std::size_t table_at = 320, table_bytes = load_little_endian<std::uint64_t>(&file[64]);
    EXPECT_EQ(with(table_at + table_bytes - 8, 8, 0), "loaded") << "the word beyond the last slot";
    EXPECT_EQ(with(table_at + table_bytes - 8, 8, std::uint64_t{1} << 63), "corrupt") << "a bit in it";
    const auto own_kind = std::to_integer<std::uint64_t>(file[10]);
    for (std::uint64_t kind = 0; kind < 32; ++kind) {
        EXPECT_EQ(with(10, 2, kind), kind == own_kind ? "loaded" : test::refusal_of(kind)) << kind;
    }
    for (const std::uint64_t version : {0u, 2u, 65'535u}) EXPECT_EQ(with(12, 2, version), "unsupported");
}

TEST(cuckooing_snapshot_sweep, forgeries_with_valid_checksums_give_an_error_or_a_sound_filter) {
    std::vector<bytes> originals;
    for (const test::cuckoo_form& form : test::cuckoo_forms<cuckooing_filter>()) {
        for (const unsigned bits : {2u, 8u, 32u}) {
            originals.push_back(after_use(form, 1, bits));
            originals.push_back(after_use(form, 70, bits));
        }
    }
    test::expect_edits_refused_or_sound(
        {originals, 13, test::scaled<std::uint64_t>(30'000, 1'000'000)}, 130,
        [](std::span<const std::byte> forged) { return test::exercise_learning_snapshot<cuckooing_filter>(forged); });
}

}  // namespace
}  // namespace genista::learning_snapshot_sweep_test
