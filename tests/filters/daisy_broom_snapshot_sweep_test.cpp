// Snapshots of daisy_broom_filter: the same answers afterwards, the right oracle or none, and damage in bulk: every truncation, every bit, and forgeries with
// valid checksums, outside and in the nested broom filters.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "genista/filters/daisy_broom.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/daisy_broom_snapshot_exercise.hpp"
#include "support/daisy_oracles.hpp"
#include "support/scale.hpp"
#include "support/snapshot_damage.hpp"

namespace genista {
namespace {

using bytes = test::file_bytes;
using test::daisy_world_oracle, test::saved;
using filter = daisy_broom_filter<test::scripted_oracle>;

// Members, dead slots and extensions in the bands, exceptions beside them.
filter lived_in(std::uint64_t keys, memory_map& remote) {
    daisy_broom_options options;
    options.hash = hasher{hash_key::from_seed(keys)};
    options.repeatable = 3;
    options.exception_bytes = 4 * absent_cells::bucket_bytes;
    auto f = *filter::make(options, test::daisy_world_plan(static_cast<double>(keys)),
                           daisy_world_oracle(static_cast<double>(keys)));
    for (std::uint64_t key = 0; key < keys; ++key) {
        EXPECT_TRUE(remote.put(f.hash()(key), integer_key{key}.view()));
        EXPECT_TRUE(f.insert(key, remote));
        if (key % 8 == 3) {
            EXPECT_TRUE(f.erase(key / 2, remote));
        }
        for (std::uint64_t stranger = 0; stranger < 20; ++stranger) {
            EXPECT_TRUE(f.adapt((std::uint64_t{1} << 40) + 100 * key + stranger, remote));
        }
    }
    EXPECT_TRUE(f.audit(remote));
    EXPECT_GT(f.exceptions().size(), 0u);
    return f;
}

TEST(daisy_broom_snapshot, a_loaded_filter_answers_the_same) {
    memory_map remote;
    const filter f = lived_in(600, remote);
    auto again = filter::load(saved(f), daisy_world_oracle(600));
    ASSERT_TRUE(again) << again.error().message();
    for (std::uint64_t key = 0; key < 40'000; ++key) {
        const std::uint64_t asked = key % 2 == 0 ? key / 2 : (std::uint64_t{1} << 40) + key;
        ASSERT_EQ(again->may_contain(asked), f.may_contain(asked)) << asked;
    }
    EXPECT_TRUE(again->audit(remote));
    EXPECT_EQ(again->stats().keys, f.stats().keys);
    EXPECT_EQ(again->bands().expected_rate(), f.bands().expected_rate());
}

TEST(daisy_broom_snapshot, another_oracle_is_refused) {
    memory_map remote;
    const bytes file = saved(lived_in(200, remote));
    const auto odds = [](std::uint64_t key) { return daisy_world_oracle(200)->odds(integer_key{key}.view()); };
    // Another identity; the same identity with other odds.
    const auto other_number = std::make_shared<test::scripted_oracle>(odds, 9);
    auto refused = filter::load(file, other_number);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::mismatch);
    EXPECT_NE(refused.error().message().find("another oracle"), std::string_view::npos);
    const auto other_odds = std::make_shared<test::scripted_oracle>(
        [odds](std::uint64_t key) {
            key_odds of = odds(key);
            of.asked *= 1 + 0x1p-52;  // what another mathematics library might make of it
            return of;
        },
        7);
    refused = filter::load(file, other_odds);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::mismatch);
    EXPECT_NE(refused.error().message().find("other odds"), std::string_view::npos);
}

// Odds, and no word about which oracle it is.
struct nameless_oracle {
    [[nodiscard]] key_odds odds(key_view key) const noexcept { return daisy_world_oracle(200)->odds(key); }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return sizeof *this; }
};
// One that can be written down.
struct written_oracle : nameless_oracle {
    std::byte text{};
    [[nodiscard]] result<void> save(sink& out) const { return out.write(std::span{&text, 1}); }
};

TEST(daisy_broom_snapshot, an_oracle_that_cannot_say_which_it_is_needs_a_caller_who_can) {
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

TEST(daisy_broom_snapshot, the_bytes_that_an_oracle_saves_say_which_it_is) {
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
    test::expect_truncations_refused(saved(lived_in(300, remote)), [](std::span<const std::byte> file) {
        return filter::load(file, daisy_world_oracle(300)).has_value();
    });
}

TEST(daisy_broom_snapshot_sweep, every_bit_flip_is_refused) {
    memory_map remote;
    const auto load = [](std::span<const std::byte> file) {
        return filter::load(file, daisy_world_oracle(40)).has_value();
    };
    test::expect_bit_flips_refused(saved(lived_in(40, remote)), load, test::scaled<std::size_t>(7, 1));
}

TEST(daisy_broom_snapshot_sweep, forgeries_with_valid_checksums_give_an_error_or_a_sound_filter) {
    std::vector<bytes> originals;
    for (const std::uint64_t keys : {30u, 40u, 300u}) {
        memory_map remote;
        originals.push_back(saved(lived_in(keys, remote)));
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
}  // namespace genista
