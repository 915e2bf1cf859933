// segmented_array: elements keep their values while the array grows and shrinks, a small array is
// small, and beyond 32 KiB no element is copied. Without reserved addresses the same holds on the
// heap.
#include "base/segmented_array.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdint>
#include <random>
#include <vector>

#include "tests/support/scale.hpp"

namespace genista::segmented_array_test {
namespace {

using words = segmented_array<std::uint64_t>;

TEST(segmented_array, keeps_its_elements_while_it_grows_and_shrinks) {
    segmented_array<std::uint32_t> all;
    constexpr std::uint32_t most = 1'500'000;  // four pieces
    EXPECT_EQ(all.room(), 0u);
    for (std::uint32_t size = 1; size <= most; ++size) {
        ASSERT_TRUE(all.make_room(size));
        ASSERT_EQ(all[size - 1], 0u) << "new elements are zero";
        all[size - 1] = size;
    }
    for (std::uint32_t i = 0; i < most; ++i) ASSERT_EQ(all[i], i + 1);
    for (std::uint32_t size = most; size > 0; --size) {
        all.give_back(size);
        ASSERT_GE(all.room(), size);
        ASSERT_LE(all.room() * sizeof(std::uint32_t), size * sizeof(std::uint32_t) + pages::page * 5 / 4);
        ASSERT_EQ(all[size - 1], size);
    }
    EXPECT_LT(all.allocated_bytes(), 512u);
}

TEST(segmented_array, a_small_one_is_small) {
    words all;
    ASSERT_TRUE(all.make_room(10));
    EXPECT_LT(all.allocated_bytes(), 512u);
    ASSERT_TRUE(all.make_room(1000));
    EXPECT_LE(all.allocated_bytes(), 8192u + 64u);
    all.give_back(10);
    EXPECT_LT(all.allocated_bytes(), 512u);
}

TEST(segmented_array, reports_what_is_left_of_a_piece) {
    constexpr std::uint64_t first = words::least_piece_bytes / sizeof(std::uint64_t);
    EXPECT_EQ(words::left_in_piece(0), first);
    EXPECT_EQ(words::left_in_piece(first - 1), 1u);
    EXPECT_EQ(words::left_in_piece(first), first);
    EXPECT_EQ(words::left_in_piece(2 * first + 3), 2 * first - 3);
    for (std::uint64_t index : {std::uint64_t{0}, first - 1, first, 2 * first - 1, 2 * first, 4 * first - 1, 4 * first})
        EXPECT_EQ(words::piece_of(index), static_cast<std::size_t>(std::bit_width(index / first)));
}

// Elements that move are copied. From 32 KiB on none moves, in either direction, until the array is
// small again.
TEST(segmented_array, beyond_the_heap_no_element_moves) {
    words all;
    constexpr std::uint64_t on_heap = words::most_on_heap / sizeof(std::uint64_t);
    ASSERT_TRUE(all.make_room(on_heap + 1));
    const std::uint64_t* const first = &all[0];
    for (std::uint64_t size = on_heap + 1; size <= 1'000'000; size += 61) {
        ASSERT_TRUE(all.make_room(size));
        all[size - 1] = size;
    }
    std::vector<const std::uint64_t*> at;
    for (std::uint64_t i = 0; i < 1'000'000 - 37; i += 5000) at.push_back(&all[i]);
    for (std::uint64_t i = 0; i < at.size(); ++i) ASSERT_EQ(at[i], &all[5000 * i]);
    for (std::uint64_t size = 900'000; size > on_heap; size -= 61) {
        all.give_back(size);
        ASSERT_EQ(first, &all[0]);
        ASSERT_EQ(at[(size - 1) / 5000], &all[(size - 1) / 5000 * 5000]);
    }
}

// One call gives back a bounded number of pages: a large array shrinks over many calls.
TEST(segmented_array, gives_a_few_pages_back_at_a_time) {
    words all;
    ASSERT_TRUE(all.make_room(1'000'000));
    std::uint64_t calls = 0;
    for (std::uint64_t before = all.room(); before > 1000; before = all.room(), ++calls) {
        all.give_back(100);
        ASSERT_LE(before - all.room(), words::pages_at_once * pages::page / sizeof(std::uint64_t));
        if (before == all.room()) break;
    }
    EXPECT_LT(all.room(), 1000u);
    EXPECT_GE(calls, 1'000'000u * 8 / pages::page / words::pages_at_once);
}

// 20,000 arrays beyond a page each use up neither mappings nor addresses.
TEST(segmented_array, thousands_of_them_leave_mappings_for_others) {
    const auto count = test::scaled<std::size_t>(5'000, 20'000);
    std::vector<words> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_TRUE(all[i].make_room(600));
        all[i][599] = i;
    }
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(all[i][599], i);
        ASSERT_LE(all[i].allocated_bytes(), 8192u + 64u);
    }
    void* const other = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(other, MAP_FAILED);
    ::munmap(other, 4096);
}

// Without addresses the array grows and shrinks on the heap. A size that does not fit is refused,
// and every element is kept.
TEST(segmented_array, without_addresses_it_lies_on_the_heap) {
#if defined(GENISTA_ASAN) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers need addresses of their own";
#else
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
    std::vector<std::vector<char> > held(200, std::vector<char>(100'000));  // so that the heap itself has room
    rlimit none = before;
    none.rlim_cur = 1 << 20;  // less than is mapped already: nothing new can be mapped
    words all;
    held.clear();
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &none), 0);
    std::uint64_t size = 1;
    bool refused = false;
    for (; size < 100'000'000 && !refused; size += 1 + size / 16) {
        refused = !all.make_room(size);
        if (!refused) all[size - 1] = size;
    }
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
    EXPECT_TRUE(refused);
    EXPECT_GT(all.room(), 1000u) << "the heap has room for some";
    for (std::uint64_t i = 1; i < all.room(); i += 1 + i / 16) ASSERT_EQ(all[i - 1], i);
    ASSERT_TRUE(all.make_room(2'000'000)) << "with addresses again";
    for (std::uint64_t i = 1; i < 1000; i += 1 + i / 16) ASSERT_EQ(all[i - 1], i);
    for (int i = 0; i < 1000; ++i) all.give_back(10);
    EXPECT_LT(all.allocated_bytes(), 1024u);
    for (std::uint64_t i = 1; i <= 10; i += 1 + i / 16) ASSERT_EQ(all[i - 1], i);
#endif
}

// The address sanitizer does not see the elements of a mapping by itself, so every element that was
// not asked for is poisoned.
TEST(segmented_array, the_address_sanitizer_sees_an_element_that_was_not_asked_for) {
#if defined(GENISTA_ASAN)
    for (const std::uint64_t size : {std::uint64_t{10}, std::uint64_t{600}, std::uint64_t{200'001}}) {
        words all;
        ASSERT_TRUE(all.make_room(size));
        ASSERT_EQ(__asan_region_is_poisoned(&all[size - 1], sizeof(std::uint64_t)), nullptr);
        ASSERT_NE(__asan_region_is_poisoned(&all[size - 1] + 1, sizeof(std::uint64_t)), nullptr) << size;
        all.give_back(size - 2);
        ASSERT_EQ(__asan_region_is_poisoned(&all[size - 3], sizeof(std::uint64_t)), nullptr);
        ASSERT_NE(__asan_region_is_poisoned(&all[size - 3] + 1, sizeof(std::uint64_t)), nullptr) << size;
        ASSERT_TRUE(all.make_room(size + 1));
        ASSERT_EQ(__asan_region_is_poisoned(&all[size], sizeof(std::uint64_t)), nullptr);
    }
#else
    GTEST_SKIP() << "no sanitizer";
#endif
}

// Grows and shrinks by all sizes, compared with a vector.
TEST(segmented_array, holds_what_a_vector_holds) {
    std::mt19937_64 chance{3};
    words all;
    std::vector<std::uint64_t> model;
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t size = chance() >> (64 - 4 - chance() % 15);
        if (size > model.size()) {
            ASSERT_TRUE(all.make_room(size));
            for (std::uint64_t at = model.size(); at < size; ++at) model.push_back(all[at] = chance());
        } else {
            model.resize(size);
            for (int times = 0; times < 3; ++times) all.give_back(size);
        }
        ASSERT_GE(all.room(), size);
        if (size > 0) {
            for (int look = 0; look < 50; ++look) {
                const std::uint64_t at = chance() % size;
                ASSERT_EQ(all[at], model[at]);
            }
        }
        words moved = std::move(all);
        all = std::move(moved);
    }
}

}  // namespace
}  // namespace genista::segmented_array_test
