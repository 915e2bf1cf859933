// Snapshots of broom_filter and daisy_broom_filter, damaged and forged as often as in
// snapshot_sweep_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "genista/filters/daisy_broom.hpp"
#include "genista/format/mapped_file.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/broom_snapshot_exercise.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/daisy_snapshot_exercise.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/snapshot_damage.hpp"

namespace genista::broom_snapshot_sweep_test {
namespace {

// ---- broom_filter -------------------------------------------------------------------------------

// Snapshots of the broom filter, damaged and forged as often as in snapshot_sweep_test.cpp: during
// a growth and without one.

using bytes = test::file_bytes;

// Stored keys, tombstones, extensions and backyard entries. `growing`: stops during a growth.
bytes after_use(std::uint64_t keys, double rate, bool growing) {
    auto filter = *broom_filter::make({.capacity = growing ? keys / 2 + 1 : keys,
                                       .false_positive_rate = rate,
                                       .hash = hasher{hash_key::from_seed(keys)},
                                       .key_is_new = keys % 2 == 0,
                                       .grows = growing,
                                       .random = repeatable(3)});
    memory_map remote;
    for (std::uint64_t key = 0; key < keys; ++key) {
        EXPECT_TRUE(remote.put(filter.hash()(key), key_view{reinterpret_cast<const std::byte*>(&key), sizeof key}));
        EXPECT_TRUE(filter.insert(key, remote));
        if (key % 8 == 3) {
            EXPECT_TRUE(filter.erase(key / 2, remote));
        }
        for (std::uint64_t absent_key = 0; absent_key < 20; ++absent_key) {
            EXPECT_TRUE(filter.adapt((std::uint64_t{1} << 40) + 100 * key + absent_key, remote));
        }
        if (growing && key > keys / 2 && filter.details().growth_done > 0.3) break;
    }
    if (growing) {
        EXPECT_GT(filter.details().growth_done, 0.0);
    }
    EXPECT_TRUE(filter.audit(remote));
    vector_sink out;
    EXPECT_TRUE(filter.save(out));
    return std::move(out).take();
}

TEST(broom_snapshot_sweep, every_truncation_is_refused) {
    const bytes file = after_use(25'000, 1.0 / 256, false);
    ASSERT_GT(file.size(), 32'768u);
    test::expect_truncations_refused<broom_filter>(file);
}

TEST(broom_snapshot_sweep, every_bit_flip_is_refused) {
    test::expect_bit_flips_refused<broom_filter>(after_use(2'000, 1.0 / 1024, true));
}

TEST(broom_snapshot_sweep, forgeries_with_valid_checksums_give_an_error_or_a_sound_filter) {
    std::vector<bytes> originals;
    for (const double rate : {0.02, 1.0 / 256, 1.0 / 4096, 1e-7}) {
        originals.push_back(after_use(2, rate, false));
        originals.push_back(after_use(401, rate, false));
        originals.push_back(after_use(600, rate, true));
    }
    test::expect_edits_refused_or_sound({originals, 12, test::scaled<std::uint64_t>(30'000, 3'000'000)}, 100,
                                        test::exercise_broom_snapshot);
}

// ---- daisy_broom_filter -------------------------------------------------------------------------

// Snapshots of daisy_broom_filter: the same answers after loading, only with the right oracle, and
// much damage: every truncation, every bit, and forgeries with valid checksums, outside and in the
// nested broom filters.

using test::daisy_world_oracle, test::saved;
using filter = daisy_broom_filter<test::scripted_oracle>;

// Stored keys, tombstones and extensions in the bands, and exceptions. The deferred band does not
// exist, or is open and built in part, or wholly if it has one range.
filter after_use(std::uint64_t keys, memory_map& remote, bool late = false) {
    daisy_broom_options options;
    options.hash = hasher{hash_key::from_seed(keys)};
    options.random = repeatable(3);
    options.exception_bytes = 4 * absent_cells::bucket_bytes;
    options.deferred_band = late;
    auto f = *filter::make(options, test::daisy_world_plan(static_cast<double>(keys)),
                           daisy_world_oracle(static_cast<double>(keys)));
    for (std::uint64_t key = 0; key < keys; ++key) {
        EXPECT_TRUE(remote.put(f.hash()(key), integer_key{key}.view()));
        EXPECT_TRUE(f.insert(key, remote));
        if (key % 8 == 3) {
            EXPECT_TRUE(f.erase(key / 2, remote));
        }
        for (std::uint64_t absent_key = 0; absent_key < 20; ++absent_key) {
            const std::uint64_t asked = (std::uint64_t{1} << 40) + 100 * key + absent_key;
            const bool enough = f.deferred() != nullptr && f.deferred()->built() >= f.deferred()->ranges() / 2 + 1;
            if (f.class_of(integer_key{asked}.view()) == 0 && enough) continue;
            EXPECT_TRUE(f.adapt(asked, remote));
        }
    }
    EXPECT_TRUE(f.audit(remote));
    EXPECT_EQ(f.deferred() != nullptr, late);
    EXPECT_EQ(f.exceptions().size() == 0, late && f.deferred()->is_all_built());
    return f;
}

TEST(daisy_broom_snapshot, a_loaded_filter_answers_the_same) {
    for (const bool late : {false, true}) {
        memory_map remote;
        const filter f = after_use(600, remote, late);
        auto again = filter::load(saved(f), daisy_world_oracle(600));
        ASSERT_TRUE(again) << again.error().message();
        for (std::uint64_t key = 0; key < 40'000; ++key) {
            const std::uint64_t asked = key % 2 == 0 ? key / 2 : (std::uint64_t{1} << 40) + key;
            ASSERT_EQ(again->may_contain(asked), f.may_contain(asked)) << asked;
        }
        EXPECT_TRUE(again->audit(remote));
        EXPECT_EQ(again->stats().keys, f.stats().keys);
        EXPECT_EQ(again->stats().false_positive_rate, f.stats().false_positive_rate);
        EXPECT_EQ(again->bands().expected_rate(), f.bands().expected_rate());
        // The loaded filter continues: the other ranges are built, or the list stays as it is.
        EXPECT_TRUE(!late || !again->deferred()->is_all_built());
        for (std::uint64_t key = 0; key < 400; ++key) EXPECT_TRUE(again->adapt((std::uint64_t{1} << 41) + key, remote));
        EXPECT_EQ(again->deferred() != nullptr, late);
        EXPECT_TRUE(!late || again->deferred()->is_all_built());
        EXPECT_TRUE(again->audit(remote));
    }
}

// A golden file: written once with GENISTA_WRITE_GOLDEN=1, and loaded ever since with the same
// answers. (Not saved again bit for bit: a loaded broom filter draws other salts.)
TEST(daisy_broom_snapshot, the_golden_file_answers_as_when_it_was_written) {
    const std::string path = std::string{GENISTA_SOURCE_DIR} + "/tests/golden/daisy_broom-v5-late.snapshot";
    memory_map remote;
    const filter f = after_use(300, remote, true);
    if (std::getenv("GENISTA_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path)) {
        ASSERT_TRUE(save_file(path, [&f](sink& out) { return f.save(out); }));
    }
    const auto file = mapped_file::open(path);
    ASSERT_TRUE(file) << file.error().message();
    const auto golden = filter::load(file->bytes(), daisy_world_oracle(300));
    ASSERT_TRUE(golden) << golden.error().message();
    EXPECT_TRUE(golden->audit(remote));
    ASSERT_NE(golden->deferred(), nullptr);
    std::uint64_t count = 0, sum = 0;
    for (std::uint64_t i = 0; i < 50'000; ++i) {
        if (!golden->may_contain((std::uint64_t{1} << 42) + i)) continue;
        ++count;
        sum += i;
    }
    EXPECT_EQ(golden->deferred()->ranges(), 3u);
    EXPECT_EQ(golden->deferred()->built(), 2u);
    EXPECT_EQ(golden->exceptions().size(), 80u);
    EXPECT_EQ(count, 4'985u);
    EXPECT_EQ(sum, 124'904'717u);
}

TEST(daisy_broom_snapshot, versions_before_the_first_release_are_refused) {
    for (const unsigned version : {1u, 2u, 3u, 4u}) {
        memory_map remote;
        bytes file = saved(after_use(40, remote));
        test::put_little_endian(file, 12, 2, version);
        test::fix_nested(file);
        const auto refused = filter::load(file, daisy_world_oracle(40));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), error_code::unsupported) << refused.error().message();
    }
}

TEST(daisy_broom_snapshot, another_oracle_is_refused) {
    memory_map remote;
    const bytes file = saved(after_use(200, remote));
    const auto odds = [](std::uint64_t key) { return daisy_world_oracle(200)->odds(integer_key{key}.view()); };
    // Another identity; then the same identity with other odds.
    const auto other_number = std::make_shared<test::scripted_oracle>(odds, 9);
    auto refused = filter::load(file, other_number);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::mismatch);
    EXPECT_NE(refused.error().message().find("another oracle"), std::string_view::npos);
    const auto other_odds = std::make_shared<test::scripted_oracle>(
        [odds](std::uint64_t key) {
            key_odds of = odds(key);
            of.asked *= 1 + 0x1p-52;  // as another mathematics library might compute it
            return of;
        },
        7);
    refused = filter::load(file, other_odds);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::mismatch);
    EXPECT_NE(refused.error().message().find("other odds"), std::string_view::npos);
}

// Has odds, and no identity.
struct nameless_oracle {
    [[nodiscard]] key_odds odds(key_view key) const noexcept { return daisy_world_oracle(200)->odds(key); }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return sizeof *this; }
};
// Has bytes that can be saved, which identify it.
struct written_oracle : nameless_oracle {
    std::byte text{};
    [[nodiscard]] result<void> save(sink& out) const { return out.write(std::span{&text, 1}); }
};

TEST(daisy_broom_snapshot, an_oracle_without_an_identity_needs_one_from_the_caller) {
    using nameless = daisy_broom_filter<nameless_oracle>;
    const auto oracle = std::make_shared<nameless_oracle>();
    const auto plan = test::daisy_world_plan(200);
    vector_sink out;
    const auto refused = nameless::make({}, plan, oracle)->save(out);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::unsupported);
    daisy_broom_options options;
    options.oracle = oracle_identity{{std::byte{5}}};
    ASSERT_TRUE(nameless::make(options, plan, oracle)->save(out));
    EXPECT_TRUE(nameless::load(out.bytes(), oracle, options.oracle));
    EXPECT_FALSE(nameless::load(out.bytes(), oracle));
    EXPECT_FALSE(nameless::load(out.bytes(), oracle, oracle_identity{{std::byte{6}}}));
}

TEST(daisy_broom_snapshot, the_bytes_that_an_oracle_saves_identify_it) {
    using written = daisy_broom_filter<written_oracle>;
    vector_sink out;
    ASSERT_TRUE(written::make({}, test::daisy_world_plan(200), std::make_shared<written_oracle>())->save(out));
    EXPECT_TRUE(written::load(out.bytes(), std::make_shared<written_oracle>()));
    auto other = std::make_shared<written_oracle>();
    other->text = std::byte{1};
    EXPECT_FALSE(written::load(out.bytes(), other));
}

TEST(daisy_broom_snapshot_sweep, every_truncation_is_refused) {
    memory_map remote;
    test::expect_truncations_refused(saved(after_use(300, remote, true)), [](std::span<const std::byte> file) {
        return filter::load(file, daisy_world_oracle(300)).has_value();
    });
}

TEST(daisy_broom_snapshot_sweep, every_bit_flip_is_refused) {
    memory_map remote;
    const auto load = [](std::span<const std::byte> file) {
        return filter::load(file, daisy_world_oracle(40)).has_value();
    };
    test::expect_bit_flips_refused(saved(after_use(40, remote, true)), load, test::scaled<std::size_t>(7, 1));
}

TEST(daisy_broom_snapshot_sweep, forgeries_with_valid_checksums_give_an_error_or_a_sound_filter) {
    std::vector<bytes> originals;
    for (const std::uint64_t keys : {30u, 40u, 300u}) {
        for (const bool late : {false, true}) {
            memory_map remote;
            originals.push_back(saved(after_use(keys, remote, late)));
        }
    }
    const auto rounds = test::scaled<std::uint64_t>(3'000, 300'000);
    const auto forge = [](bytes& file, test::splitmix& chance) {
        test::edit(file, chance, 320);
        test::fix_nested(file);
    };
    test::expect_forgeries_refused_or_sound({originals, 12, rounds, rounds / 200}, forge,
                                            test::exercise_daisy_broom_snapshot);
}

}  // namespace
}  // namespace genista::broom_snapshot_sweep_test
