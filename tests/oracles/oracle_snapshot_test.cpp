// Snapshots of the exact table and of the oracles over sketches: there and back, golden bytes, damage, other versions and kinds, and
// forgeries whose checksums were repaired.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "genista/format/mapped_file.hpp"
#include "genista/oracles/exact_oracle.hpp"
#include "genista/oracles/sketch_oracle.hpp"
#include "support/oracle_snapshot_exercise.hpp"
#include "support/scale.hpp"
#include "support/splitmix.hpp"

namespace genista {
namespace {

using bytes = std::vector<std::byte>;
constexpr std::size_t parameters_at = 192;

template <class Oracle>
bytes saved(const Oracle& oracle) {
    vector_sink out;
    const auto written = oracle.save(out);
    EXPECT_TRUE(written) << written.error().message();
    return std::move(out).take();
}

// Two logs of so many keys: key i was stored 1 + 1000 / (i + 1) times, and asked for as often as the key at the other end was stored.
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

TYPED_TEST(oracle_snapshots, tell_what_was_saved_and_save_the_same_bytes) {
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

// tests/golden: GENISTA_WRITE_GOLDEN=1 writes the files that do not exist. An existing one is never overwritten.
TYPED_TEST(oracle_snapshots, golden) {
    const std::string path = std::string{GENISTA_SOURCE_DIR} + "/tests/golden/" + about<TypeParam>::golden;
    const auto oracle = sample<TypeParam>(60, 20'240);
    if (std::getenv("GENISTA_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path)) {
        ASSERT_TRUE(save_file(path, [&](sink& out) { return oracle.save(out); }));
        std::filesystem::permissions(path, static_cast<std::filesystem::perms>(0644));
    }
    const result<buffer> file = read_file(path, 8192);
    ASSERT_TRUE(file) << file.error().message();
    const auto loaded = TypeParam::load(file->bytes());
    ASSERT_TRUE(loaded) << loaded.error().message();
    EXPECT_TRUE(std::ranges::equal(saved(*loaded), file->bytes()));
    EXPECT_TRUE(std::ranges::equal(saved(oracle), file->bytes())) << "trained again";
    for (std::uint64_t key = 0; key < 100; ++key) EXPECT_EQ(loaded->odds(key), oracle.odds(key));
}

TYPED_TEST(oracle_snapshots, every_truncation_and_bit_flip_is_refused) {
    bytes file = saved(sample<TypeParam>(40, 1));
    for (std::size_t length = 0; length < file.size(); ++length)
        ASSERT_FALSE(TypeParam::load(std::span{file}.first(length))) << length;
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
        const auto mask = static_cast<std::byte>(1u << bit % 8);
        file[bit / 8] ^= mask;
        ASSERT_FALSE(TypeParam::load(file)) << bit;
        file[bit / 8] ^= mask;
    }
    EXPECT_TRUE(TypeParam::load(file));
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
    EXPECT_EQ(error_with(12, 2).code(), error_code::unsupported) << "a version of later";
    EXPECT_NE(error_with(12, 2).message().find('2'), std::string_view::npos);
    EXPECT_FALSE(error_with(12, 0).message().empty());
    EXPECT_FALSE(error_with(10, 1).message().empty()) << "a Bloom filter";
    EXPECT_EQ(error_with(14, 7).code(), error_code::unsupported) << "a hash function nobody knows";
}

TYPED_TEST(oracle_snapshots, a_hash_function_of_the_callers_own_cannot_be_saved) {
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

TYPED_TEST(oracle_snapshots, what_a_forgery_loads_as_is_a_sound_oracle) {
    test::splitmix chance{3};
    std::vector<bytes> files;
    for (const std::uint64_t size : {1u, 7u, 60u}) files.push_back(saved(sample<TypeParam>(size, 4)));
    std::uint64_t loaded = 0;
    const auto rounds = test::scaled(20'000u, 2'000'000u);
    for (std::uint64_t i = 0; i < rounds; ++i) {
        bytes file = files[chance.below(files.size())];
        for (auto edits = 1 + chance.below(2); edits > 0; --edits) {
            const std::size_t at =
                chance.below(2) != 0 ? parameters_at + chance.below(96) : 10 + chance.below(file.size() - 10);
            const std::uint64_t special[] = {0,
                                             1,
                                             3,
                                             33,
                                             std::uint64_t{1} << 32,
                                             ~std::uint64_t{0},
                                             std::bit_cast<std::uint64_t>(1.5),
                                             std::bit_cast<std::uint64_t>(-0.0),
                                             std::bit_cast<std::uint64_t>(1e-300),
                                             std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()),
                                             chance()};
            const std::size_t width = std::min(std::size_t{1} << chance.below(4), file.size() - at);
            test::put_little_endian(file, at, width, special[chance.below(std::size(special))]);
        }
        if (chance.below(4) == 0)
            file.resize(file.size() + 64 * chance.below(5) - std::min<std::size_t>(file.size() - 192, 128));
        test::fit_lengths(file);
        test::fix_key_id(file);
        test::fix_envelope(file);
        const auto outcome = test::exercise_oracle_snapshot<TypeParam>(file);
        ASSERT_EQ(outcome.broken, nullptr) << outcome.broken << ", forgery " << i;
        loaded += outcome.loaded ? 1u : 0u;
    }
    EXPECT_GT(loaded, rounds / 50) << "forgeries that never load try nothing";
    EXPECT_LT(loaded, rounds * 9 / 10);
}

TEST(exact_oracle_snapshot, keys_out_of_order_or_twice_are_refused) {
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
}  // namespace genista
