// Golden snapshots: files written once, under tests/golden, which every later version must read, answer from as on that
// day, and write again bit for bit. The numbers below are golden: pinned, not derived.
//
// GENISTA_WRITE_GOLDEN=1 filters_tests --gtest_filter='golden*' writes those files that do not exist and prints their
// numbers. An existing file is never overwritten: a new format gets a new file beside the old one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "genista/filters/blocked_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/broom_paper.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/cuckoo.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/cuckooing.hpp"
#include "genista/filters/cyclic.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "genista/filters/spectral.hpp"
#include "genista/filters/swapping.hpp"
#include "genista/format/mapped_file.hpp"
#include "genista/format/snapshot.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "genista/remote/memory_slots.hpp"

namespace genista {
namespace {

constexpr std::uint64_t members = 300;  // integers 0..299, and as many texts of 1 to 40 bytes
constexpr std::uint64_t strangers = 20'000;

// Lengths on both sides of the 15 bytes where the keyed hash changes.
std::string text_key(std::uint64_t i) {
    return std::string(1 + i % 36, static_cast<char>('a' + i % 26)) + std::to_string(i);
}

std::string path_of(const std::string& name) {
    return std::string{GENISTA_SOURCE_DIR} + "/tests/golden/" + name;
}

// How many strangers are let in, and which: the sum of their numbers.
struct mistakes {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    friend bool operator==(const mistakes&, const mistakes&) = default;
};

template <class Filter>
mistakes mistakes_of(const Filter& filter) {
    mistakes found;
    for (std::uint64_t i = members; i < members + strangers; ++i) {
        for (const bool positive : {filter.may_contain(i), filter.may_contain(text_key(i))}) {
            found.count += positive;
            found.sum += positive ? i : 0;
        }
    }
    return found;
}

template <local_filter Filter>
void fill_golden(Filter& filter) {
    for (std::uint64_t i = 0; i < members; ++i) {
        ASSERT_NE(filter.insert(i), insert_outcome::full);
        ASSERT_NE(filter.insert(text_key(i)), insert_outcome::full);
    }
}

// Those that know their keys through R have also learnt from some mistakes.
template <class Filter>
void fill_golden(Filter& filter) {
    memory_map map, index;
    memory_slots slots;
    auto remote = [&] {
        if constexpr (adaptive_filter<Filter, with_index<memory_map, memory_map>>)
            return with_index{map, index};
        else
            return with_slots{map, slots};
    }();
    for (std::uint64_t i = 0; i < members; ++i) {
        for (const std::string& key : {std::string{integer_key{i}.view().text()}, text_key(i)}) {
            ASSERT_TRUE(map.put(filter.hash()(key), key));
            ASSERT_EQ(*filter.insert(key, remote), insert_outcome::inserted);
        }
    }
    for (std::uint64_t stranger = 1'000'000; stranger < 1'030'000; ++stranger) {
        if (!filter.may_contain(stranger)) continue;
        ASSERT_TRUE(filter.adapt(stranger, remote));
    }
}

template <class Filter>
void write_golden(const std::string& name, hash_kind kind, double rate) {
    auto filter = Filter::make(
        {.capacity = 2 * members, .false_positive_rate = rate, .hash = hasher{hash_key::from_seed(20'240), kind}});
    ASSERT_TRUE(filter);
    fill_golden(*filter);
    if (::testing::Test::HasFatalFailure()) return;
    const result<void> saved = save_file(path_of(name), [&](sink& out) { return filter->save(out); });
    ASSERT_TRUE(saved) << saved.error().message();
    std::filesystem::permissions(path_of(name), static_cast<std::filesystem::perms>(0644));
    const mistakes found = mistakes_of(*filter);
    std::printf("%s: {%llu, %llu}\n", name.c_str(), static_cast<unsigned long long>(found.count),
                static_cast<unsigned long long>(found.sum));
}

template <class Filter>
void check_golden(const std::string& name, hash_kind kind, double rate, mistakes golden) {
    if (std::getenv("GENISTA_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path_of(name))) {
        write_golden<Filter>(name, kind, rate);
        if (::testing::Test::HasFatalFailure()) return;
    }
    const result<buffer> file = read_file(path_of(name), 4096);
    ASSERT_TRUE(file) << file.error().message();
    const result<Filter> filter = Filter::load(file->bytes());
    ASSERT_TRUE(filter) << filter.error().message();

    EXPECT_EQ(filter->hash().kind(), kind);
    EXPECT_EQ(filter->hash().key(), hash_key::from_seed(20'240));
    EXPECT_EQ(filter->stats().capacity, 2 * members);
    if constexpr (local_filter<Filter>) {
        EXPECT_EQ(filter->stats().false_positive_rate, rate);
    } else {
        EXPECT_LE(filter->stats().false_positive_rate, rate);  // whole bits
    }
    for (std::uint64_t i = 0; i < members; ++i) {
        ASSERT_TRUE(filter->may_contain(i)) << i;
        ASSERT_TRUE(filter->may_contain(text_key(i))) << text_key(i);
    }
    const mistakes found = mistakes_of(*filter);
    EXPECT_EQ(found, golden) << found.count << ", " << found.sum;

    vector_sink again;
    ASSERT_TRUE(filter->save(again));
    EXPECT_TRUE(std::ranges::equal(again.bytes(), file->bytes()));
}

TEST(golden, bloom_keyed) {
    check_golden<bloom_filter>("bloom-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256, {149, 1'575'078});
}
TEST(golden, bloom_trusted) {
    check_golden<bloom_filter>("bloom-v1-trusted.snapshot", hash_kind::trusted, 1.0 / 64, {516, 5'195'441});
}
TEST(golden, blocked_bloom_keyed) {
    check_golden<blocked_bloom_filter>("blocked_bloom-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256,
                                       {124, 1'278'546});
}
TEST(golden, blocked_bloom_trusted) {
    check_golden<blocked_bloom_filter>("blocked_bloom-v1-trusted.snapshot", hash_kind::trusted, 1.0 / 64,
                                       {493, 5'248'624});
}
TEST(golden, cuckoo_partial_keyed_with_12_bit_tags) {
    check_golden<cuckoo_partial_filter>("cuckoo_partial-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256, {66, 701'072});
}
TEST(golden, cuckoo_partial_trusted_with_16_bit_tags) {
    check_golden<cuckoo_partial_filter>("cuckoo_partial-v1-trusted.snapshot", hash_kind::trusted, 1.0 / 4096,
                                        {3, 26'937});
}
TEST(golden, cleary_keyed) {
    check_golden<cleary_filter>("cleary-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256, {152, 1'621'732});
}
TEST(golden, cleary_trusted_with_6_bit_remainders) {
    check_golden<cleary_filter>("cleary-v1-trusted.snapshot", hash_kind::trusted, 1.0 / 64, {561, 5'683'770});
}
TEST(golden, cuckoo_keyed) {
    check_golden<cuckoo_filter>("cuckoo-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256, {135, 1'353'428});
}
TEST(golden, cuckooing_keyed) {
    check_golden<cuckooing_filter>("cuckooing-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256, {150, 1'603'415});
}
TEST(golden, cyclic_keyed_with_two_selector_bits) {
    check_golden<cyclic_filter<2>>("cyclic-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256, {128, 1'350'125});
}
TEST(golden, swapping_keyed) {
    check_golden<swapping_filter>("swapping-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256, {138, 1'492'298});
}
TEST(golden, optimal_filter_keyed) {
    check_golden<optimal_filter>("optimal_filter-v1-keyed.snapshot", hash_kind::keyed, 1.0 / 256, {163, 1'672'552});
}
TEST(golden, spectral_trusted) {
    check_golden<spectral_filter>("spectral-v1-trusted.snapshot", hash_kind::trusted, 1.0 / 64, {642, 6'834'912});
}
TEST(golden, broom_paper_small) {
    check_golden<broom_paper_filter>("broom_paper-v1-small.snapshot", hash_kind::keyed, 1.0 / 16, {1'630, 16'542'993});
}
TEST(golden, broom_paper_large) {
    check_golden<broom_paper_filter>("broom_paper-v1-large.snapshot", hash_kind::keyed, 1.0 / 256, {120, 1'232'092});
}

}  // namespace
}  // namespace genista
