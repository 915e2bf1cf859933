// Snapshots of the exact table and of the oracles over sketches: saving and loading, golden bytes,
// damage, other versions and kinds, and forgeries whose checksums were repaired.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "genista/oracles/exact_oracle.hpp"
#include "genista/oracles/sketch_oracle.hpp"
#include "tests/support/oracle_snapshot_exercise.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/snapshot_damage.hpp"

namespace genista::oracle_snapshot_test {
namespace {

using bytes = test::file_bytes;
using test::saved;

// Two logs of so many keys: key i was stored 1 + 1000 / (i + 1) times, and queried as often as the
// key at the same distance from the other end was stored.
template <class Oracle>
Oracle sample(std::uint64_t size, std::uint64_t seed, hash_kind kind = hash_kind::keyed) {
    std::vector<integer_key> keys;
    for (std::uint64_t i = 0; i < size; ++i) keys.emplace_back(i);
    std::vector<counted_key> inserts, queries;
    for (std::uint64_t i = 0; i < size; ++i) {
        inserts.push_back({keys[i].view(), 1 + 1000 / (i + 1)});
        queries.push_back({keys[i].view(), 1 + 1000 / (size - i)});
    }
    const hasher hash{hash_key::from_seed(seed), kind};
    if constexpr (std::same_as<Oracle, exact_oracle>) {
        return *exact_oracle::from_counts(inserts, queries, {.hash = hash});
    } else {
        return *Oracle::train({.stored = {16 + size / 10, 3}, .asked = {20, 4}, .hash = hash}, inserts, queries);
    }
}

template <class Oracle>
struct about;
template <>
struct about<exact_oracle> {
    static constexpr const char* golden = "exact_oracle-v1-keyed.snapshot";
    static constexpr std::uint16_t kind = 20;
};
template <>
struct about<count_min_oracle> {
    static constexpr const char* golden = "count_min_oracle-v1-keyed.snapshot";
    static constexpr std::uint16_t kind = 21;
};
template <>
struct about<count_sketch_oracle> {
    static constexpr const char* golden = "count_sketch_oracle-v1-keyed.snapshot";
    static constexpr std::uint16_t kind = 22;
};

template <class Oracle>
class oracle_snapshots : public ::testing::Test {};
using all_oracles = ::testing::Types<exact_oracle, count_min_oracle, count_sketch_oracle>;
TYPED_TEST_SUITE(oracle_snapshots, all_oracles);

TYPED_TEST(oracle_snapshots, give_the_saved_odds_and_save_the_same_bytes) {
    for (const hash_kind kind : {hash_kind::keyed, hash_kind::trusted}) {
        for (const std::uint64_t size : {1u, 2u, 100u, 5'000u}) {
            const auto oracle = sample<TypeParam>(size, size, kind);
            const bytes file = saved(oracle);
            const auto loaded = TypeParam::load(file);
            ASSERT_TRUE(loaded) << loaded.error().message();
            EXPECT_EQ(saved(*loaded), file);
            EXPECT_EQ(loaded->memory_bytes(), oracle.memory_bytes());
            for (std::uint64_t key = 0; key < 2 * size + 100; ++key) ASSERT_EQ(loaded->odds(key), oracle.odds(key));
        }
    }
}

// tests/golden: GENISTA_WRITE_GOLDEN=1 writes the files that do not exist. An existing one is never
// overwritten.
TYPED_TEST(oracle_snapshots, golden_files_load_and_are_written_again) {
    const auto oracle = sample<TypeParam>(60, 20'240);
    const bytes file = test::golden_bytes(about<TypeParam>::golden, 8192, [&]() -> const TypeParam& { return oracle; });
    const auto loaded = TypeParam::load(file);
    ASSERT_TRUE(loaded) << loaded.error().message();
    EXPECT_EQ(saved(*loaded), file);
    EXPECT_EQ(saved(oracle), file) << "trained again";
    for (std::uint64_t key = 0; key < 100; ++key) EXPECT_EQ(loaded->odds(key), oracle.odds(key));
}

TYPED_TEST(oracle_snapshots, every_truncation_and_bit_flip_is_refused) {
    test::expect_damage_refused<TypeParam>(saved(sample<TypeParam>(40, 1)));
}

TYPED_TEST(oracle_snapshots, other_versions_and_kinds_are_refused_by_name) {
    const bytes file = saved(sample<TypeParam>(40, 1));
    const auto error_with = [&](std::size_t at, std::uint64_t value) {
        bytes forged = file;
        test::put_little_endian(forged, at, 2, value);
        test::fix_checksums(forged);
        return TypeParam::load(forged).error();
    };
    EXPECT_EQ(load_little_endian<std::uint16_t>(&file[10]), about<TypeParam>::kind);
    EXPECT_EQ(error_with(12, 2).code(), error_code::unsupported) << "a later version";
    EXPECT_NE(error_with(12, 2).message().find('2'), std::string_view::npos);
    EXPECT_FALSE(error_with(12, 0).message().empty());
    EXPECT_FALSE(error_with(10, 1).message().empty()) << "a Bloom filter";
    EXPECT_EQ(error_with(14, 7).code(), error_code::unsupported) << "an unknown hash function";
}

TYPED_TEST(oracle_snapshots, a_custom_hash_function_cannot_be_saved) {
    const auto own = hasher::custom([](const void*, key_view key) noexcept { return digest{key.size, 1}; }, nullptr);
    const std::vector<counted_key> log{{"a", 1}};
    vector_sink out;
    if constexpr (std::same_as<TypeParam, exact_oracle>) {
        EXPECT_EQ(exact_oracle::from_counts(log, log, {.hash = own})->save(out).error().code(),
                  error_code::unsupported);
    } else {
        EXPECT_EQ(TypeParam::train({.hash = own}, log, log)->save(out).error().code(), error_code::unsupported);
    }
}

TYPED_TEST(oracle_snapshots, forgeries_are_refused_or_give_a_sound_oracle) {
    std::vector<bytes> files;
    for (const std::uint64_t size : {1u, 7u, 60u}) files.push_back(saved(sample<TypeParam>(size, 4)));
    const auto forge = [](bytes& file, test::splitmix& chance) {
        const auto real = [](double value) { return std::bit_cast<std::uint64_t>(value); };
        test::edit_with(file, chance, 96,
                        {0, 1, 3, 33, std::uint64_t{1} << 32, ~std::uint64_t{0}, real(1.5), real(-0.0), real(1e-300),
                         real(std::numeric_limits<double>::quiet_NaN())});
        test::repair(file);
    };
    const auto rounds = test::scaled<std::uint64_t>(20'000, 2'000'000);
    test::expect_forgeries_refused_or_sound({files, 3, rounds, rounds / 50, rounds * 9 / 10}, forge,
                                            test::exercise_oracle_snapshot<TypeParam>);
}

TEST(exact_oracle_snapshot, keys_out_of_order_or_repeated_are_refused) {
    const bytes file = saved(sample<exact_oracle>(40, 1));
    const auto view = open_snapshot(file);
    ASSERT_TRUE(view);
    const auto first = static_cast<std::size_t>(view->sections[0].data() - file.data());
    const auto with_second = [&](std::uint64_t position) {
        bytes forged = file;
        test::put_little_endian(forged, first + 24, 8, position);
        test::fix_checksums(forged);
        return exact_oracle::load(forged);
    };
    const std::uint64_t position = load_little_endian<std::uint64_t>(&file[first]);
    EXPECT_TRUE(with_second(position + 1));
    for (const std::uint64_t wrong : {position, position - 1, ~std::uint64_t{0}}) {
        const auto loaded = with_second(wrong);
        ASSERT_FALSE(loaded) << wrong;
        EXPECT_EQ(loaded.error().code(), error_code::corrupt);
    }
}

}  // namespace
}  // namespace genista::oracle_snapshot_test
