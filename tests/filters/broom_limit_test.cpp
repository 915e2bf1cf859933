// memory_limit: how much memory the filter may take, what it refuses at the limit, and that no key
// is lost there.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "filters/broom/core.hpp"
#include "filters/broom/shape.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/remote/counting_map.hpp"
#include "tests/support/broom_effort.hpp"
#include "tests/support/broom_world.hpp"

namespace genista::broom_limit_test {
namespace {

struct limited {
    memory_map plain;
    counting_map<memory_map> remote{plain};
    broom_filter filter;
    std::vector<std::uint64_t> members;
    std::uint64_t next_key = 0;

    explicit limited(broom_options options)
        : filter{[&] {
              options.hash = hasher{hash_key::from_seed(2)};
              options.random = repeatable(3);
              auto made = broom_filter::make(options);
              EXPECT_TRUE(made) << made.error().message();
              return *std::move(made);
          }()} {}

    // As a store would: a refused key is taken back.
    insert_outcome insert(std::uint64_t key) {
        const digest where = filter.hash()(key);
        EXPECT_TRUE(plain.put(where, test::integer_key{key}.view()));
        const auto outcome = filter.insert(key, remote);
        EXPECT_TRUE(outcome) << outcome.error().message();
        if (!outcome || *outcome == insert_outcome::full) {
            EXPECT_TRUE(plain.erase(where, test::integer_key{key}.view()));
            return insert_outcome::full;
        }
        members.push_back(key);
        return *outcome;
    }
    // Inserts until so many keys have been refused.
    void insert_until_refused(int refusals) {
        while (refusals > 0 && !testing::Test::HasFailure())
            refusals -= insert(next_key++) == insert_outcome::full ? 1 : 0;
    }
    void expect_sound() {
        for (const std::uint64_t key : members) ASSERT_TRUE(filter.may_contain(key)) << "a stored key is answered no";
        const auto sound = filter.audit(plain);
        ASSERT_TRUE(sound) << sound.error().message();
        EXPECT_EQ(filter.stats().keys, members.size());
    }
};

std::uint64_t least_limit(std::uint64_t capacity, double rate) {
    return broom::core::least_limit(broom::shape::for_rate(rate), broom::bins_for(capacity));
}

TEST(broom_limit, a_capacity_that_cannot_fit_is_refused_with_both_numbers) {
    for (const std::uint64_t capacity : {1u, 1000u, 200'000u}) {
        const std::uint64_t least = least_limit(capacity, 0x1p-8);
        const auto refused = broom_filter::make({.capacity = capacity, .memory_limit = least - 1});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), error_code::invalid_argument);
        const std::string message{refused.error().message()};
        EXPECT_NE(message.find(std::to_string(least)), std::string::npos) << message;
        EXPECT_NE(message.find(std::to_string(least - 1)), std::string::npos) << message;
        EXPECT_TRUE(broom_filter::make({.capacity = capacity, .memory_limit = least}));
    }
    EXPECT_FALSE(broom_filter::make({.memory_limit = 0}));
}

TEST(broom_limit, the_smallest_limit_is_enough_for_the_capacity) {
    for (const double rate : {0x1p-8, 0x1p-16}) {
        for (const std::uint64_t capacity : {100u, 3000u, 60'000u}) {
            for (const bool grows : {false, true}) {
                limited w{{.capacity = capacity,
                           .false_positive_rate = rate,
                           .grows = grows,
                           .memory_limit = least_limit(capacity, rate)}};
                for (std::uint64_t key = 0; key < capacity; ++key)
                    ASSERT_EQ(w.insert(key), insert_outcome::inserted) << key << " of " << capacity;
                EXPECT_LE(w.filter.stats().local_bytes, least_limit(capacity, rate));
                w.expect_sound();
            }
        }
    }
}

TEST(broom_limit, inserts_at_the_limit_are_full_and_change_nothing_unless_they_collide) {
    const std::uint64_t limit = least_limit(20'000, 0x1p-8);
    limited w{{.capacity = 20'000, .memory_limit = limit}};
    w.insert_until_refused(1);
    EXPECT_GE(w.members.size(), 20'000u);
    EXPECT_EQ(w.filter.details().growths, 0u);
    // Keys that go into a slot still find one; the others are refused, every time.
    const std::uint64_t reads = w.remote.counts().range_reads;
    std::uint64_t refused = 0;
    for (int i = 0; i < 3000; ++i) {
        const filter_stats before = w.filter.stats();
        if (w.insert(w.next_key++) != insert_outcome::full) continue;
        ++refused;
        const filter_stats after = w.filter.stats();
        ASSERT_EQ(after.keys, before.keys);
        // A read that shows a collision is followed by a renewal without the key.
        ASSERT_LE(after.renewals - before.renewals, after.remote_reads - before.remote_reads);
        if (after.renewals == before.renewals) {
            ASSERT_EQ(after.local_bytes, before.local_bytes);
        }
        ASSERT_FALSE(after.renewals != before.renewals && w.filter.may_contain(w.next_key - 1));
    }
    EXPECT_GT(refused, 100u);
    EXPECT_LE(w.remote.counts().range_reads - reads, 300u) << "R is read for a growth that cannot begin";
    EXPECT_LE(w.filter.stats().local_bytes, limit);
    w.expect_sound();
}

TEST(broom_limit, erases_and_adapts_work_at_the_limit) {
    for (const broom_history history : {broom_history::tombstone, broom_history::renew, broom_history::soft}) {
        const std::uint64_t limit = least_limit(20'000, 0x1p-8);
        limited w{{.capacity = 20'000, .history = history, .memory_limit = limit}};
        w.insert_until_refused(200);
        // Far more false positives than there is room for extensions.
        std::uint64_t fixed = 0;
        for (std::uint64_t absent_key = 1u << 30; fixed < test::effort(6000, 2000, 20'000); ++absent_key) {
            if (!w.filter.may_contain(absent_key)) continue;
            const auto outcome = w.filter.adapt(absent_key, w.remote);
            ASSERT_TRUE(outcome) << outcome.error().message();
            ASSERT_EQ(*outcome, adapt_outcome::fixed);
            ASSERT_FALSE(w.filter.may_contain(absent_key));
            ++fixed;
        }
        const std::uint64_t after_adapts = w.filter.stats().local_bytes;
        EXPECT_LE(after_adapts, limit + limit / 32) << "an attack made the filter exceed its limit";
        w.expect_sound();
        // Half of the keys are erased, with and without `assume_present`, which frees memory.
        std::vector<std::uint64_t> stay;
        for (std::size_t i = 0; i < w.members.size(); ++i) {
            if (i % 2 == 0) {
                stay.push_back(w.members[i]);
                continue;
            }
            const auto outcome = i % 4 == 1 ? w.filter.erase(w.members[i], w.remote)
                                            : w.filter.erase(w.members[i], w.remote, assume_present);
            ASSERT_TRUE(outcome) << outcome.error().message();
            ASSERT_EQ(*outcome, erase_outcome::erased);
        }
        w.members = stay;
        w.expect_sound();
        EXPECT_LE(w.filter.stats().local_bytes, limit + limit / 32);
        ASSERT_TRUE(w.filter.rebuild(w.remote));
        for (int i = 0; i < 3000; ++i) ASSERT_EQ(w.insert(w.next_key++), insert_outcome::inserted);
        w.expect_sound();
    }
}

TEST(broom_limit, growth_begins_only_if_it_fits_and_stays_within_the_limit) {
    // Room for two growths, and not for a third.
    for (const double rate : {0x1p-8, 0x1p-14}) {
        if (test::sanitized && rate == 0x1p-8) continue;  // no tail, so less that could go wrong
        const std::uint64_t capacity = 100'000;           // tables that can give pages back
        const std::uint64_t limit = least_limit(5 * capacity, rate);
        limited w{{.capacity = capacity, .false_positive_rate = rate, .memory_limit = limit}};
        std::uint64_t peak = 0;
        for (int refused = 0; refused < 20 && !HasFailure();) {
            refused += w.insert(w.next_key++) == insert_outcome::full ? 1 : 0;
            if (w.next_key % 16 == 0) peak = std::max(peak, w.filter.stats().local_bytes);
        }
        EXPECT_EQ(w.filter.details().growths, 2u);
        EXPECT_GT(w.members.size(), 4 * capacity);
        EXPECT_LE(peak, limit);
        w.expect_sound();
        const auto more = w.filter.grow(w.remote);
        ASSERT_FALSE(more);
        EXPECT_EQ(more.error().code(), error_code::out_of_memory);
        EXPECT_NE(std::string{more.error().message()}.find(std::to_string(limit)), std::string::npos)
            << more.error().message();
        // A rebuild finds room in the existing bins.
        ASSERT_TRUE(w.filter.rebuild(w.remote));
        w.expect_sound();
        // Without the limit the filter grows again.
        w.filter.limit_memory(std::nullopt);
        for (std::uint64_t i = 0; i < 2 * capacity; ++i) ASSERT_EQ(w.insert(w.next_key++), insert_outcome::inserted);
        EXPECT_EQ(w.filter.details().growths, 3u);
        w.expect_sound();
    }
}

TEST(broom_limit, is_not_part_of_a_snapshot_and_can_be_set_again) {
    const std::uint64_t limit = least_limit(3000, 0x1p-8);
    limited w{{.capacity = 3000, .memory_limit = limit}};
    w.insert_until_refused(1);
    vector_sink out;
    ASSERT_TRUE(w.filter.save(out));
    w.filter = *broom_filter::load(out.bytes());
    w.filter.limit_memory(limit);
    w.insert_until_refused(50);
    EXPECT_EQ(w.filter.details().growths, 0u);
    w.filter.limit_memory(100);  // less than the filter has: nothing is taken away
    w.expect_sound();
    w.filter.limit_memory(std::nullopt);
    for (int i = 0; i < 5000; ++i) ASSERT_EQ(w.insert(w.next_key++), insert_outcome::inserted);
    EXPECT_GE(w.filter.details().growths, 1u);
    w.expect_sound();
}

}  // namespace
}  // namespace genista::broom_limit_test
