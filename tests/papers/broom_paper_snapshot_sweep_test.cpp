// Snapshots of broom_paper: equal after saving and loading, refused where parameters and sections
// contradict each other, and damaged and forged many times.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/learning_snapshot_exercise.hpp"
#include "tests/support/paper_world.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/snapshot_damage.hpp"

namespace genista::broom_paper_snapshot_sweep_test {
namespace {

using bytes = test::file_bytes;

// Full but for one key in eight, in the middle of a phase, with extensions and ghosts.
bytes after_use(std::uint64_t capacity, double rate, ghost_rule ghosts = ghost_rule::whole_match) {
    test::paper_world w{{.capacity = capacity, .false_positive_rate = rate, .repeatable = capacity, .ghosts = ghosts}};
    for (std::uint64_t key = 0; key < capacity; ++key) EXPECT_TRUE(w.insert(key));
    const std::uint64_t repairs = rate < 0x1p-9 ? 2 : capacity / 2 + 1;
    for (std::uint64_t i = 0; i < repairs; ++i) {
        if (const auto absent_key = w.find_false_positive(20'000)) w.adapt(*absent_key);
    }
    for (std::uint64_t key = 0; key < capacity; key += 8) w.erase(key);
    w.audit();
    EXPECT_TRUE(w.wrong.empty()) << w.text();
    return w.saved();
}

TEST(broom_paper_snapshot, a_round_trip_gives_equal_bytes_and_answers_in_every_shape) {
    for (const double rate : {0.5, 0x1p-3, 0x1p-8, 0x1p-13, 0x1p-26}) {
        for (const std::uint64_t capacity : {1u, 64u, 500u}) {
            const bytes file = after_use(capacity, rate);
            const auto loaded = broom_paper_filter::load(file);
            ASSERT_TRUE(loaded) << loaded.error().message();
            vector_sink again;
            ASSERT_TRUE(loaded->save(again));
            ASSERT_TRUE(std::ranges::equal(again.bytes(), file));
            for (std::uint64_t key = 0; key < capacity; ++key) {
                if (key % 8 != 0) {
                    ASSERT_TRUE(loaded->may_contain(key)) << key;
                }
            }
            EXPECT_EQ(loaded->rate(), rate);
            test::expect_loads_from_any_address<broom_paper_filter>(file);
        }
    }
}

TEST(broom_paper_snapshot, every_truncation_and_every_bit_flip_is_refused) {
    for (const double rate : {0x1p-3, 0x1p-8}) test::expect_damage_refused<broom_paper_filter>(after_use(700, rate));
}

// Found by fuzzing: an empty section has no address, and memory was copied from it.
TEST(broom_paper_snapshot, an_empty_section_is_refused_where_it_must_not_be_empty) {
    for (const double rate : {0x1p-3, 0x1p-8}) {
        const bytes file = after_use(200, rate);
        const auto view = open_snapshot(file);
        ASSERT_TRUE(view);
        for (std::size_t empty = 0; empty < view->section_count; ++empty) {
            auto sections = view->sections;
            if (sections[empty].empty()) continue;
            sections[empty] = {};
            vector_sink out;
            ASSERT_TRUE(
                write_snapshot(out, view->info, view->parameters, std::span{sections}.first(view->section_count)));
            EXPECT_FALSE(broom_paper_filter::load(out.bytes())) << empty;
        }
    }
}

// docs/format.md: after the common 56 bytes c, ghosts, rehashing, has a frontier (u32 each), the
// frontier (3 × u64), keys behind it (u64) and four salts.
constexpr std::size_t own_fields_at = 192 + 56;

TEST(broom_paper_snapshot, parameters_that_are_impossible_or_contradict_the_sections_are_refused) {
    for (const double rate : {0x1p-3, 0x1p-8}) {
        const bytes file = after_use(200, rate);
        const auto with = [&](std::size_t at, std::size_t width, std::uint64_t value) {
            return test::load_with<broom_paper_filter>(file, at, width, value);
        };
        const auto now = [&](std::size_t at) { return load_little_endian<std::uint64_t>(&file[at]); };
        for (const std::uint64_t c : {0u, 2u, 65u, 0xffff'ffffu}) EXPECT_EQ(with(own_fields_at, 4, c), "corrupt");
        EXPECT_EQ(with(own_fields_at, 4, 64), "loaded");
        EXPECT_EQ(with(own_fields_at + 4, 4, 2), "loaded");
        for (const std::uint64_t rule : {3u, 0xffff'ffffu}) EXPECT_EQ(with(own_fields_at + 4, 4, rule), "corrupt");
        for (const std::uint64_t rule : {2u, 0xffff'ffffu}) EXPECT_EQ(with(own_fields_at + 8, 4, rule), "corrupt");
        for (const std::uint64_t has : {2u, 0xffff'ffffu}) EXPECT_EQ(with(own_fields_at + 12, 4, has), "corrupt");
        EXPECT_EQ(with(own_fields_at + 12, 4, 0), "corrupt") << "without a frontier all keys are behind it";
        const std::uint64_t keys = now(192 + 16);
        EXPECT_EQ(with(own_fields_at + 40, 8, keys + 1), "corrupt") << "keys behind the frontier";
        for (const std::uint64_t few : {std::uint64_t{0}, keys - 1}) EXPECT_EQ(with(192 + 16, 8, few), "corrupt");
        for (const std::uint64_t capacity : {std::uint64_t{0}, std::uint64_t{1'000}, (std::uint64_t{1} << 36) + 1,
                                             std::uint64_t{1} << 36, ~std::uint64_t{0}})
            EXPECT_EQ(with(192, 8, capacity), "corrupt") << capacity;
        for (const double other : {0.0, -1.0, 0.01, 0x1p-26, 0x1p-27, std::numeric_limits<double>::quiet_NaN()})
            EXPECT_EQ(with(192 + 8, 8, std::bit_cast<std::uint64_t>(other)), "corrupt") << other;
        const auto own_kind = std::to_integer<std::uint64_t>(file[10]);
        EXPECT_EQ(own_kind, 9u);
        for (std::uint64_t kind = 0; kind < 32; ++kind) {
            EXPECT_EQ(with(10, 2, kind), kind == own_kind ? "loaded" : "mismatch") << kind;
        }
        for (const std::uint64_t version : {0u, 2u, 65'535u}) EXPECT_EQ(with(12, 2, version), "unsupported");
    }
}

TEST(broom_paper_snapshot, a_custom_hash_cannot_be_saved) {
    const auto function = [](const void*, key_view key) noexcept { return digest{key.size, 1}; };
    const auto made = broom_paper_filter::make({.capacity = 10, .hash = hasher::custom(function, nullptr)});
    vector_sink out;
    const auto saved = made->save(out);
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code(), error_code::unsupported);
}

TEST(broom_paper_snapshot, forgeries_with_valid_checksums_give_an_error_or_a_sound_filter) {
    std::vector<bytes> originals;
    for (const double rate : {0.5, 0x1p-3, 0x1p-8, 0x1p-26}) {
        originals.push_back(after_use(1, rate));
        originals.push_back(after_use(70, rate));
    }
    test::expect_edits_refused_or_sound(
        {originals, 13, test::scaled<std::uint64_t>(8'000, 1'000'000)}, 130, [](std::span<const std::byte> forged) {
            return test::exercise_learning_snapshot<broom_paper_filter>(forged, test::paper_bound);
        });
}

}  // namespace
}  // namespace genista::broom_paper_snapshot_sweep_test
