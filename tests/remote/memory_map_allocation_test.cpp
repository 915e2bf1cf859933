// Without memory: each allocation of each put and of each batch fails once, and the map stays as it
// was. bytes() is exactly what was allocated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "genista/remote/memory_map.hpp"
#include "remote/remote_support.hpp"
#include "support/remote/counting_map.hpp"
#include "support/remote/faulty_map.hpp"
#include "tests/support/failing_allocator.hpp"

namespace genista::test::memory_map_allocation_test {
namespace {

// Inline and long keys, in an order that splits leaves and roots.
[[nodiscard]] record scripted(std::uint64_t index) {
    const std::uint64_t scattered = index * 0x9e3779b97f4a7c15u;
    return {digest{scattered >> 60, scattered}, index % 3 == 0 ? "short" : "a key beyond eight bytes"};
}

TEST(memory_map_allocation, a_put_without_memory_is_an_error_and_changes_nothing) {
    basic_memory_map<2, 4> map;
    std::uint64_t failed_puts = 0;
    std::uint64_t most_for_one_put = 0;
    for (std::uint64_t index = 0; index < 600; ++index) {
        const record next = scripted(index);
        const std::vector<record> before = read_all(map);
        const std::size_t bytes_before = map.bytes();
        for (std::uint64_t allowed = 0;; ++allowed) {
            result<bool> outcome = false;
            bool failed = false;
            {
                const failing_allocations armed{allowed};
                outcome = map.put(next.where, next.key);
                failed = armed.failed();
            }
            if (!failed) {
                ASSERT_TRUE(outcome && *outcome);
                most_for_one_put = std::max(most_for_one_put, allowed);
                break;
            }
            ++failed_puts;
            ASSERT_FALSE(outcome);
            ASSERT_EQ(outcome.error().code(), error_code::out_of_memory);
            ASSERT_NE(outcome.error().message().find(std::to_string(next.key.size()) + " bytes"), std::string::npos);
            ASSERT_EQ(map.bytes(), bytes_before);
            ASSERT_EQ(read_all(map), before);
            const auto valid = map.audit();
            ASSERT_TRUE(valid) << valid.error().message();
        }
    }
    EXPECT_GE(failed_puts, 600u);
    EXPECT_GE(most_for_one_put, 5u) << "a leaf, a key and a path of inner nodes with a new root were all reached";
}

TEST(memory_map_allocation, erase_contains_and_for_each_need_no_memory) {
    basic_memory_map<2, 4> map;
    for (std::uint64_t index = 0; index < 600; ++index) {
        const record next = scripted(index);
        ASSERT_TRUE(*map.put(next.where, next.key));
    }
    for (std::uint64_t index = 0; index < 600; ++index) {
        const record next = scripted(index);
        std::size_t seen = 0;
        const std::uint64_t allocations_before = this_thread_allocations.allocations;
        bool found = false, visited = false, erased = false;
        {
            const failing_allocations armed{0};
            found = *map.contains(next.where, next.key);
            visited = map.for_each(0, last_position, [&](const digest&, key_view) { return ++seen > 0; }).has_value();
            erased = *map.erase(next.where, next.key);
            ASSERT_FALSE(armed.failed());
        }
        ASSERT_EQ(this_thread_allocations.allocations, allocations_before);
        ASSERT_TRUE(found && visited && erased);
        ASSERT_EQ(seen, 600 - index);
    }
}

TEST(memory_map_allocation, bytes_counts_exactly_what_was_allocated) {
    basic_memory_map<8, 8> map;
    std::vector<record> script;
    for (std::uint64_t index = 0; index < 2000; ++index) script.push_back(scripted(index));
    const std::uint64_t asked_before = this_thread_allocations.bytes_asked;
    std::size_t fresh = 0;
    for (const record& each : script) fresh += *map.put(each.where, each.key) ? 1u : 0u;
    EXPECT_EQ(map.bytes() - sizeof map, this_thread_allocations.bytes_asked - asked_before);
    EXPECT_EQ(fresh, script.size());
    for (const record& each : script) ASSERT_TRUE(*map.erase(each.where, each.key));
    EXPECT_LT(map.bytes(), 1024u) << "only the root leaf is left";
}

TEST(memory_map_allocation, a_key_longer_than_any_memory_is_out_of_memory_and_no_overflow) {
    memory_map map;
    const std::byte one{};
    for (const std::size_t size : {std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max() - 7,
                                   std::numeric_limits<std::size_t>::max() / 2}) {
        const auto outcome = map.put(digest{1, 1}, key_view{&one, size});
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code(), error_code::out_of_memory);
    }
    EXPECT_EQ(map.bytes(), sizeof map);
}

TEST(faulty_map_allocation, a_fault_without_memory_is_reported_as_out_of_memory) {
    memory_map map;
    faulty_map faulty{map};
    for (std::uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(*faulty.put(digest{i, i}, "a key beyond eight bytes"));
    ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::from(fault_kind::stale, 0)}}));
    std::uint64_t failures = 0;
    for (std::uint64_t allowed = 0;; ++allowed) {
        std::size_t seen = 0;
        result<void> outcome{};
        bool failed = false;
        {
            const failing_allocations armed{allowed};
            outcome = faulty.for_each(0, last_position, [&](const digest&, key_view) { return ++seen > 0; });
            failed = armed.failed();
        }
        if (!failed) {
            ASSERT_TRUE(outcome);
            EXPECT_EQ(seen, 4u) << "20 records less the last 16 writes";
            break;
        }
        ++failures;
        if (outcome) continue;  // only the log entry is missing
        EXPECT_EQ(outcome.error().code(), error_code::out_of_memory);
        EXPECT_EQ(seen, 0u);
    }
    EXPECT_GE(failures, 20u);
}

TEST(memory_map_allocation, a_batch_without_memory_is_an_error_and_changes_nothing) {
    basic_memory_map<2, 4> map;
    std::uint64_t failed_batches = 0;
    for (std::uint64_t round = 0; round < 100; ++round) {
        // New records, records that change place and records that go in one batch, with keys that
        // need an allocation of their own.
        const std::string key = "a key that needs memory of its own, number " + std::to_string(round);
        const std::string former = "a key that needs memory of its own, number " + std::to_string(round / 2);
        const std::vector<record_change> changes = {{digest{64 * round, 0}, key_view{key}},
                                                    {digest{round, 0}, key_view{key}},
                                                    {digest{64 * (round / 2), 0}, key_view{former}, false},
                                                    {digest{1'000'000 + 64 * round, 0}, key_view{key}}};
        const std::vector<record> before = read_all(map);
        for (std::uint64_t allowed = 0;; ++allowed) {
            result<void> outcome{};
            bool failed = false;
            {
                const failing_allocations armed{allowed};
                outcome = map.apply(changes);
                failed = armed.failed();
            }
            ASSERT_EQ(outcome.has_value(), !failed);
            if (!failed) break;
            ++failed_batches;
            ASSERT_EQ(outcome.error().code(), error_code::out_of_memory);
            ASSERT_EQ(read_all(map), before);
            const auto valid = map.audit();
            ASSERT_TRUE(valid) << valid.error().message();
        }
        ASSERT_TRUE(*map.contains(digest{1'000'000 + 64 * round, 0}, key));
    }
    EXPECT_GE(failed_batches, 400u);
}

TEST(memory_map_allocation, a_range_erase_needs_no_memory) {
    basic_memory_map<2, 4> map;
    for (std::uint64_t index = 0; index < 600; ++index) {
        const record next = scripted(index);
        ASSERT_TRUE(*map.put(next.where, next.key));
    }
    for (std::uint64_t position = 0; position <= 16; ++position) {
        const failing_allocations armed{0};
        ASSERT_TRUE(map.erase_range(0, position));
        ASSERT_FALSE(armed.failed());
    }
    EXPECT_EQ(map.size(), 0u);
    EXPECT_TRUE(map.audit());
}

TEST(memory_map_allocation, a_batch_with_a_key_longer_than_any_memory_is_out_of_memory_and_no_exception) {
    memory_map map;
    const std::byte one{};
    const record_change change{digest{1, 0}, key_view{&one, std::numeric_limits<std::size_t>::max() / 2 + 1}};
    const auto outcome = map.apply({&change, 1});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), error_code::out_of_memory);
}

}  // namespace
}  // namespace genista::test::memory_map_allocation_test
