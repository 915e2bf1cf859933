// Snapshots of the filters without a remote map: equal after saving and loading, refused where
// parameters and table contradict each other. Damage and forgeries in large numbers:
// snapshot_sweep_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "bits/words.hpp"
#include "filters/filter_snapshots.hpp"
#include "genista/detail/format/snapshot.hpp"
#include "tests/support/fix_checksums.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"
#include "tests/support/succinct_snapshot_exercise.hpp"

namespace genista::snapshot_test {
namespace {

using bytes = test::file_bytes;
using test::saved, test::filled, test::expect_equal_answers, test::load_with, test::parameters_at;

template <class Filter>
class filter_snapshot : public ::testing::Test {};
TYPED_TEST_SUITE(filter_snapshot, test::all_local_filters, test::filter_names);

TYPED_TEST(filter_snapshot, a_round_trip_gives_equal_answers_and_equal_bytes) {
    for (const std::uint64_t keys : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1'000}, std::uint64_t{50'000}}) {
        for (const double rate : {0.5, 1.0 / 256, 1.0 / 4096}) {
            for (const hash_kind kind : {hash_kind::keyed, hash_kind::trusted}) {
                const TypeParam filter = filled<TypeParam>(keys, rate, kind);
                const bytes file = saved(filter);
                const result<TypeParam> loaded = TypeParam::load(file);
                ASSERT_TRUE(loaded) << loaded.error().message();
                expect_equal_answers(filter, *loaded, 3 * keys);
                ASSERT_EQ(saved(*loaded), file);
            }
        }
    }
}

TYPED_TEST(filter_snapshot, an_empty_filter_can_be_saved_and_loaded) {
    const auto made = TypeParam::make({.capacity = 100});
    ASSERT_TRUE(made);
    const result<TypeParam> loaded = TypeParam::load(saved(*made));
    ASSERT_TRUE(loaded) << loaded.error().message();
    expect_equal_answers(*made, *loaded, 1'000);
}

TYPED_TEST(filter_snapshot, a_loaded_filter_continues_like_the_saved_one) {
    auto made = TypeParam::make({.capacity = 2'000, .hash = hasher{hash_key::from_seed(9)}});
    ASSERT_TRUE(made);
    for (std::uint64_t key = 0; key < 1'000; ++key) ASSERT_NE(made->insert(key), insert_outcome::full);
    result<TypeParam> loaded = TypeParam::load(saved(*made));
    ASSERT_TRUE(loaded);
    for (std::uint64_t key = 1'000; key < 2'000; ++key) ASSERT_EQ(made->insert(key), loaded->insert(key));
    EXPECT_EQ(saved(*made), saved(*loaded));
}

TYPED_TEST(filter_snapshot, loads_from_any_address) {
    const TypeParam filter = filled<TypeParam>(500, 1.0 / 256);
    const bytes file = saved(filter);
    for (std::size_t shift = 0; shift < 64; ++shift) {
        bytes moved(shift + file.size());
        std::copy(file.begin(), file.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
        const result<TypeParam> loaded = TypeParam::load(std::span{moved}.subspan(shift));
        ASSERT_TRUE(loaded) << shift;
        expect_equal_answers(filter, *loaded, 1'000);
    }
}

TYPED_TEST(filter_snapshot, a_custom_hash_cannot_be_saved) {
    const auto function = [](const void*, key_view key) noexcept { return digest{key.size, key.size}; };
    const auto made = TypeParam::make({.capacity = 10, .hash = hasher::custom(function, nullptr)});
    ASSERT_TRUE(made);
    vector_sink out;
    const result<void> written = made->save(out);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code(), error_code::unsupported);
    EXPECT_TRUE(out.bytes().empty());
}

TYPED_TEST(filter_snapshot, a_failing_sink_is_reported_from_every_write) {
    class failing_sink final : public sink {
      public:
        explicit failing_sink(std::size_t succeed) : left{succeed} {}
        result<void> write(std::span<const std::byte>) override {
            if (left == 0) return error::make(error_code::timeout, "no more");
            --left;
            return {};
        }
        std::size_t left;
    };
    const TypeParam filter = filled<TypeParam>(500, 1.0 / 256);
    for (std::size_t succeed = 0;; ++succeed) {
        failing_sink out{succeed};
        const result<void> written = filter.save(out);
        if (written) {
            EXPECT_GE(succeed, 2u);
            break;
        }
        EXPECT_EQ(written.error().code(), error_code::timeout);
    }
}

TYPED_TEST(filter_snapshot, another_kind_and_a_newer_kind_version_are_refused) {
    const bytes file = saved(filled<TypeParam>(500, 1.0 / 256));
    const auto with = [&](std::size_t at, std::uint64_t value) {
        bytes other = file;
        test::put_little_endian(other, at, 2, value);
        test::fix_checksums(other);
        const result<TypeParam> loaded = TypeParam::load(other);
        return loaded ? std::string{"loaded"} : std::string{to_string(loaded.error().code())};
    };
    const auto own_kind = std::to_integer<std::uint64_t>(file[10]);
    for (std::uint64_t kind = 0; kind < 65'536; ++kind) {
        ASSERT_EQ(with(10, kind), kind == own_kind ? "loaded" : test::refusal_of(kind)) << kind;
    }
    for (const std::uint64_t version : {0u, 2u, 65'535u}) EXPECT_EQ(with(12, version), "unsupported");
    for (const std::uint64_t hash : {0u, 3u, 65'535u}) EXPECT_EQ(with(14, hash), "unsupported");
    EXPECT_EQ(with(16, 0x5555), "corrupt") << "the key id belongs to another key";
}

TYPED_TEST(filter_snapshot, options_outside_their_ranges_are_refused) {
    const bytes file = saved(filled<TypeParam>(500, 1.0 / 256));
    const auto capacity = [&](std::uint64_t value) { return load_with<TypeParam>(file, parameters_at, 8, value); };
    const auto rate = [&](double value) {
        return load_with<TypeParam>(file, parameters_at + 8, 8, std::bit_cast<std::uint64_t>(value));
    };
    EXPECT_EQ(capacity(501), "loaded");
    for (const std::uint64_t value : {std::uint64_t{0}, max_capacity + 1, ~std::uint64_t{0}}) {
        EXPECT_EQ(capacity(value), "corrupt") << value;
    }
    using limits = std::numeric_limits<double>;
    for (const double value :
         {0.0, -0.0, -1.0, 0.51, 1.0, limits::denorm_min(), limits::infinity(), limits::quiet_NaN()}) {
        EXPECT_EQ(rate(value), "corrupt") << value;
    }
}

TYPED_TEST(filter_snapshot, a_parameter_block_of_another_length_is_refused) {
    const bytes file = saved(filled<TypeParam>(500, 1.0 / 256));
    const std::uint64_t length = load_little_endian<std::uint32_t>(&file[56]);
    ASSERT_LE(length, 128u);
    for (std::uint64_t other = length < 65 ? 1 : 65; other <= (length < 65 ? 64u : 128u); ++other) {
        bytes changed = file;
        std::fill(changed.begin() + static_cast<std::ptrdiff_t>(parameters_at + std::min(length, other)),
                  changed.begin() + static_cast<std::ptrdiff_t>(length < 65 ? 256 : 320), std::byte{0});
        const std::string said = load_with<TypeParam>(changed, 56, 4, other);
        EXPECT_EQ(said, other == length ? "loaded" : "corrupt") << other;
    }
}

TEST(bloom_snapshot, a_table_that_contradicts_its_parameters_is_refused) {
    const bytes file = saved(filled<bloom_filter>(500, 1.0 / 256));
    const std::uint64_t bits = load_little_endian<std::uint64_t>(&file[parameters_at + 60]);
    const auto probes = [&](std::uint64_t value) {
        return load_with<bloom_filter>(file, parameters_at + 56, 4, value);
    };
    const auto size = [&](std::uint64_t value) { return load_with<bloom_filter>(file, parameters_at + 60, 8, value); };
    EXPECT_EQ(probes(1), "loaded");
    EXPECT_EQ(probes(bloom_filter::max_probes), "loaded");
    for (const std::uint64_t value : {0u, bloom_filter::max_probes + 1, ~0u})
        EXPECT_EQ(probes(value), "corrupt") << value;
    EXPECT_EQ(size(bits), "loaded");
    for (const std::uint64_t value : {std::uint64_t{0}, bits - 512, bits - 1, bits + 1, bits + 512, ~bits}) {
        EXPECT_EQ(size(value), "corrupt") << value;
    }
}

TEST(blocked_bloom_snapshot, a_table_that_contradicts_its_parameters_is_refused) {
    const bytes file = saved(filled<blocked_bloom_filter>(500, 1.0 / 256));
    const std::uint64_t blocks = load_little_endian<std::uint64_t>(&file[parameters_at + 57]);
    const auto size = [&](std::uint64_t value) {
        return load_with<blocked_bloom_filter>(file, parameters_at + 57, 8, value);
    };
    EXPECT_EQ(size(blocks), "loaded");
    for (const std::uint64_t value :
         {std::uint64_t{0}, blocks - 1, blocks + 1, blocks + (std::uint64_t{1} << 58), ~blocks}) {
        EXPECT_EQ(size(value), "corrupt") << value;
    }
    EXPECT_EQ(load_with<blocked_bloom_filter>(file, parameters_at + 56, 1, 255), "corrupt")
        << "the layout does not exist";
}

TEST(cuckoo_partial_snapshot, a_table_that_contradicts_its_parameters_is_refused) {
    using filter = cuckoo_partial_filter;
    const bytes file = saved(filled<filter>(500, 1.0 / 256));
    const std::uint64_t buckets = load_little_endian<std::uint64_t>(&file[parameters_at + 60]);
    const auto keys = [&](std::uint64_t value) { return load_with<filter>(file, parameters_at + 16, 8, value); };
    const auto tag_bits = [&](std::uint64_t value) { return load_with<filter>(file, parameters_at + 56, 4, value); };
    const auto size = [&](std::uint64_t value) { return load_with<filter>(file, parameters_at + 60, 8, value); };
    EXPECT_EQ(keys(500), "loaded");
    for (const std::uint64_t value : {0u, 499u, 501u}) EXPECT_EQ(keys(value), "corrupt") << value;
    EXPECT_EQ(tag_bits(12), "loaded");
    for (const std::uint64_t value : {0u, 8u, 11u, 13u, 16u, 64u, ~0u}) EXPECT_EQ(tag_bits(value), "corrupt") << value;
    EXPECT_EQ(size(buckets), "loaded");
    for (const std::uint64_t value :
         {std::uint64_t{0}, buckets - 1, buckets + 1, ~buckets, buckets + (std::uint64_t{1} << 63)}) {
        EXPECT_EQ(size(value), "corrupt") << value;
    }
    const result<snapshot_view> view = open_snapshot(file);
    ASSERT_TRUE(view);
    const auto last = static_cast<std::size_t>(&view->sections[0].back() - file.data());
    EXPECT_EQ(load_with<filter>(file, last, 1, 1), "corrupt") << "the bytes after the last bucket are zero";
}

// ---- bloomier_filter ----------------------------------------------------------------------------

// Snapshots of bloomier_filter: saving and loading, golden bytes, damage, and forgeries whose
// checksums were repaired.

bloomier_filter sample(std::uint64_t count, unsigned value_bits, std::uint64_t seed,
                       hash_kind kind = hash_kind::keyed) {
    std::vector<std::uint64_t> keys(count), values(count);
    test::splitmix chance{seed};
    for (std::uint64_t i = 0; i < count; ++i) keys[i] = i, values[i] = chance() & bits::low_mask(value_bits);
    auto made = bloomier_filter::build({.value_bits = value_bits, .hash = hasher{hash_key::from_seed(seed), kind}},
                                       std::span<const std::uint64_t>{keys}, values);
    EXPECT_TRUE(made) << made.error().message();
    return *std::move(made);
}

TEST(bloomier_snapshot, a_loaded_filter_answers_as_before_and_saves_the_same_bytes) {
    for (const hash_kind kind : {hash_kind::keyed, hash_kind::trusted}) {
        for (const std::uint64_t count : {0u, 1u, 2u, 3u, 500u, 10'000u}) {
            for (const unsigned value_bits : {0u, 1u, 20u, 64u}) {
                const auto filter = sample(count, value_bits, count + 1, kind);
                const bytes file = test::saved(filter);
                const auto loaded = bloomier_filter::load(file);
                ASSERT_TRUE(loaded) << loaded.error().message();
                EXPECT_EQ(test::saved(*loaded), file);
                test::expect_equal_answers(filter, *loaded, count + 2'000);
                for (std::uint64_t key = 0; key < count; ++key) ASSERT_EQ(loaded->find(key), filter.find(key));
            }
        }
    }
}

// tests/golden: GENISTA_WRITE_GOLDEN=1 writes the file if it does not exist. The sum is golden:
// pinned, not derived.
TEST(bloomier_snapshot, the_golden_file_loads_and_is_built_again) {
    const bytes file = test::golden_bytes("bloomier-v1-keyed.snapshot", 8192, [&] { return sample(600, 13, 20'240); });
    const auto filter = bloomier_filter::load(file);
    ASSERT_TRUE(filter) << filter.error().message();
    EXPECT_EQ(test::saved(*filter), file);
    EXPECT_EQ(test::saved(sample(600, 13, 20'240)), file) << "built again";
    std::uint64_t sum = 0, absent_keys = 0;
    for (std::uint64_t key = 0; key < 20'600; ++key) {
        const auto found = filter->find(key);
        ASSERT_TRUE(found || key >= 600) << key;
        sum += key * found.value_or(0);
        absent_keys += key >= 600 && found ? 1u : 0u;
    }
    EXPECT_EQ(sum, 2'297'569'441u);
    EXPECT_EQ(absent_keys, 36u);
}

TEST(bloomier_snapshot, every_truncation_and_bit_flip_is_refused) {
    test::expect_damage_refused<bloomier_filter>(test::saved(sample(400, 5, 1)));
}

TEST(bloomier_snapshot, parameters_that_contradict_the_sections_are_refused) {
    const bytes file = test::saved(sample(500, 5, 2));
    const auto number = [&](std::size_t at, std::size_t width, std::uint64_t value) {
        return load_with<bloomier_filter>(file, parameters_at + at, width, value);
    };
    EXPECT_EQ(number(0, 8, 500), "loaded");
    for (const std::uint64_t capacity : {std::uint64_t{0}, std::uint64_t{499}, std::uint64_t{501}, max_capacity + 1})
        EXPECT_EQ(number(0, 8, capacity), "corrupt") << capacity;
    EXPECT_EQ(number(8, 8, std::bit_cast<std::uint64_t>(0x1.1p-8)), "loaded") << "a check of as many bits";
    for (const double rate : {0.0, -1.0, 0.51, 0x1p-7, 0x1p-9, 0x1p-60, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_EQ(number(8, 8, std::bit_cast<std::uint64_t>(rate)), "corrupt") << rate;
    for (const std::uint64_t keys : {std::uint64_t{0}, std::uint64_t{499}, std::uint64_t{501}, ~std::uint64_t{0}})
        EXPECT_EQ(number(16, 8, keys), "corrupt") << keys;
    for (const std::uint64_t value_bits : {4u, 6u, 65u, ~0u})
        EXPECT_EQ(number(56, 4, value_bits), "corrupt") << value_bits;
    EXPECT_EQ(number(60, 4, 1), "loaded") << "another salt: useless, but sound";
    EXPECT_EQ(number(60, 4, 4), "corrupt");
    const auto view = open_snapshot(file);
    ASSERT_TRUE(view);
    const auto last = static_cast<std::size_t>(&view->sections[2].back() - file.data());
    EXPECT_EQ(load_with<bloomier_filter>(file, last, 1, 0xff), "corrupt") << "the bits behind the last entry are zero";
    const auto width = static_cast<std::size_t>(&view->sections[0].front() - file.data());
    EXPECT_EQ(load_with<bloomier_filter>(file, width, 1, 21), "corrupt") << "a seed of 21 bits";
}

TEST(bloomier_snapshot, forgeries_are_refused_or_give_a_sound_filter) {
    std::vector<bytes> files;
    for (const std::uint64_t count : {0u, 1u, 70u, 300u, 5'000u}) files.push_back(test::saved(sample(count, 7, 4)));
    const auto forge = [](bytes& file, test::splitmix& chance) {
        test::edit_with(file, chance, 512, {0, 1, 255, 256, 65'535, std::uint64_t{1} << 40, ~std::uint64_t{0}});
        test::repair(file);
    };
    const auto rounds = test::scaled<std::uint64_t>(20'000, 2'000'000);
    test::expect_forgeries_refused_or_sound({files, 3, rounds, 100, rounds}, forge,
                                            test::exercise_snapshot<bloomier_filter>);
}

}  // namespace
}  // namespace genista::snapshot_test
