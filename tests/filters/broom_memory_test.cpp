// Memory of the broom filter: every byte is counted, and a limit is kept.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "filters/broom/core.hpp"
#include "filters/broom/shape.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/remote/counting_map.hpp"
#include "tests/support/broom_world.hpp"
#include "tests/support/failing_allocations.hpp"
#include "tests/support/scale.hpp"

namespace genista::broom::broom_memory_test {
namespace {

// ---- accounting ---------------------------------------------------------------------------------

// Memory of the broom filter: every byte is counted; growth takes memory only when it needs it and
// gives the old table's memory back as it proceeds.

constexpr std::size_t page = buffer::page;

// The pages in this address range that the kernel has supplied.
std::uint64_t resident_bytes(const void* from, std::uint64_t length) {
    auto* const first = static_cast<std::byte*>(const_cast<void*>(from));
    std::vector<unsigned char> pages((length + page - 1) / page);
    EXPECT_EQ(::mincore(first, length, pages.data()), 0);
    return page * static_cast<std::uint64_t>(
                      std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return (p & 1) != 0; }));
}

// The same for memory that is filled from its start.
std::uint64_t resident_prefix(const void* from) {
    const auto* at = static_cast<const std::byte*>(from);
    std::uint64_t bytes = 0;
    while (resident_bytes(at + bytes, page) != 0) bytes += page;
    return bytes;
}

// A core and its R. Allocations of the core are recorded, those of R are not.
struct accounted {
    hasher hash{hash_key::from_seed(5)};
    memory_map remote;
    test::owned_blocks ledger;
    std::unique_ptr<core> filter;
    std::uint64_t next_key = 0;

    accounted(std::uint64_t bins, double rate, broom_options options = {}) {
        options.false_positive_rate = rate;
        options.random = repeatable(6);
        const test::owned_blocks::recording on{ledger};
        filter = *core::make(options, hash, shape::for_rate(rate), bins);
    }
    remote_source<memory_map> source(const integer_key& key) { return {remote, hash, hash(key.value()), key.view()}; }
    insert_outcome insert(std::uint64_t key) {
        const integer_key bytes{key};
        EXPECT_TRUE(remote.put(hash(key), bytes.view()));
        auto from = source(bytes);
        const test::owned_blocks::recording on{ledger};
        const auto outcome = filter->insert(hash(key), from);
        EXPECT_TRUE(outcome) << outcome.error().message();
        return outcome ? *outcome : insert_outcome::full;
    }
    void insert_more(std::uint64_t keys) {
        for (const std::uint64_t end = next_key + keys; next_key < end; ++next_key)
            ASSERT_EQ(insert(next_key), insert_outcome::inserted);
    }
    void erase(std::uint64_t key) {
        const integer_key bytes{key};
        auto from = source(bytes);
        const test::owned_blocks::recording on{ledger};
        EXPECT_TRUE(filter->erase(hash(key), from));
    }
    // Queries absent keys, and adapts the false positives.
    void query(std::uint64_t absent_keys) {
        for (std::uint64_t key = 1'000'000'000; key < 1'000'000'000 + absent_keys; ++key) {
            if (!filter->contains(hash(key))) continue;
            const integer_key bytes{key};
            auto from = source(bytes);
            const test::owned_blocks::recording on{ledger};
            EXPECT_TRUE(filter->adapt(hash(key), from));
        }
    }
    void grow() {
        remote_source<memory_map> from{remote, hash};
        const test::owned_blocks::recording on{ledger};
        EXPECT_TRUE(filter->grow(from));
    }
    void audit() {
        remote_source<memory_map> from{remote, hash};
        const auto sound = filter->audit(from);
        EXPECT_TRUE(sound) << sound.error().message();
    }
    [[nodiscard]] std::uint64_t bytes() const { return filter->stats().local_bytes; }
    [[nodiscard]] const broom_lookup_state& state() const { return *filter->state().load(); }

    // What the kernel has supplied for the current table, if the table's memory comes from the
    // kernel.
    [[nodiscard]] std::uint64_t mapped_bytes() const {
        const std::uint64_t lines = 64 * (state().bins + 1);
        const std::uint64_t tails =
            state().tail_bits == 0 ? 0 : 8 * ((6 * state().tail_bits * state().bins + 7) / 8 + 1);
        std::uint64_t bytes = resident_prefix(state().side_words);
        if (lines >= buffer::least_mapping) bytes += resident_bytes(state().lines, lines);
        if (tails >= buffer::least_mapping) bytes += resident_bytes(state().tails, tails);
        return bytes;
    }
    // Destroys the filter, and compares what it has freed with what it had counted.
    void expect_exact(const std::string& when) {
        const std::uint64_t counted = bytes();
        EXPECT_EQ(filter->bytes_spent(), counted) << when;
        const broom_details parts = filter->details();
        EXPECT_EQ(parts.line_bytes + parts.tail_bytes + parts.side_bytes + parts.other_bytes, counted) << when;
        const std::uint64_t mapped = mapped_bytes();
        const std::uint64_t owned = ledger.freed_by([&] { filter.reset(); });
        EXPECT_FALSE(ledger.overflowed());
        // The filter object itself is the caller's memory.
        EXPECT_EQ(owned + mapped + sizeof(broom_filter), counted) << when;
    }
};

TEST(broom_memory, every_byte_is_counted_after_any_history) {
    struct stage {
        const char* name;
        std::function<void(accounted&)> live;
    };
    const stage stages[] = {
        {"empty", [](accounted&) {}},
        {"one key", [](accounted& w) { w.insert_more(1); }},
        {"full", [](accounted& w) { w.insert_more(w.state().bins * 45); }},
        {"erased and adapted",
         [](accounted& w) {
             w.insert_more(w.state().bins * 45);
             for (std::uint64_t key = 0; key < w.next_key; key += 7) w.erase(key);
             w.query(20'000);
         }},
        {"grown three times",
         [](accounted& w) {
             w.insert_more(w.state().bins * 45);
             w.query(2000);
             for (int i = 0; i < 3; ++i) w.grow();
             w.query(2000);
         }},
        {"grown by inserts",
         [](accounted& w) {
             const std::uint64_t bins = w.state().bins;
             while (w.state().bins == bins || w.filter->details().growth_done > 0) w.insert_more(1 + bins / 4);
         }},
    };
    for (const double rate : {0x1p-8, 0x1p-20}) {
        // Lines from the C++ allocator; small pages; large enough for huge pages.
        for (const std::uint64_t bins : {1u, 40u, 2100u, 8000u}) {
            for (const stage& s : stages) {
                if (test::sanitized && bins > 2100) continue;
                accounted w{bins, rate};
                s.live(w);
                w.expect_exact(std::string{s.name} + ", " + std::to_string(bins) + " bins");
                if (HasFailure()) return;
            }
        }
    }
}

TEST(broom_memory, a_loaded_filter_counts_every_byte) {
    for (const double grown : {0.0, 0.4}) {
        accounted w{2100, 0x1p-8, {.grows = grown > 0}};
        w.insert_more(2100 * 45);
        while (w.filter->details().growth_done < grown) w.insert_more(50);
        vector_sink out;
        ASSERT_TRUE(w.filter->save(out, {}));
        {
            const test::owned_blocks::recording on{w.ledger};
            w.filter = *core::load(out.bytes());
        }
        w.audit();
        if (grown > 0) w.grow();
        w.expect_exact(grown > 0 ? "loaded in the middle of a growth" : "loaded");
    }
}

TEST(broom_memory, growth_gives_the_old_pages_back_as_it_takes_new_ones) {
    // Small pages only; lines and tails that begin and end inside huge pages; twice in a row.
    struct plan {
        std::uint64_t bins;
        double rate;
    };
    for (const plan p : {plan{2100, 0x1p-8}, plan{5000, 0x1p-16}, plan{20'000, 0x1p-8}, plan{40'000, 0x1p-12}}) {
        if (test::sanitized && p.bins > 5000) continue;
        accounted w{p.bins, p.rate};
        w.insert_more(p.bins * 45);
        const std::uint64_t before = w.bytes();
        std::uint64_t peak = before;
        std::uint64_t steps = 0;
        while (w.state().bins == p.bins) {
            w.insert_more(16);
            peak = std::max(peak, w.bytes());
            // The count for the old and the new lines together is never less than the resident
            // memory of the old ones.
            if (w.state().bins == p.bins && ++steps % 400 == 0) {
                const std::uint64_t old = resident_bytes(w.state().lines, 64 * (p.bins + 1));
                ASSERT_LE(old, w.filter->details().line_bytes);
                const double left = 1 - w.filter->details().growth_done;
                ASSERT_LE(static_cast<double>(old), left * 64 * static_cast<double>(p.bins) +
                                                        static_cast<double>(buffer::piece_for(64 * p.bins) + 2 * page));
            }
        }
        const std::uint64_t after = w.bytes();
        EXPECT_LE(peak, after + after * 6 / 10) << p.bins << " bins";
        EXPECT_GT(after, before);
        test::record_figure("peak_percent_of_final_" + std::to_string(p.bins), 100 * peak / after);
        w.audit();
        w.expect_exact("grown");
    }
}

TEST(broom_memory, a_growth_that_begins_touches_hardly_any_memory) {
    accounted w{40'000, 0x1p-8};
    w.insert_more(40'000 * 46);
    for (const broom_lookup_state* const at_first = &w.state(); &w.state() == at_first;) w.insert_more(1);
    w.insert_more(1);
    const broom_details now = w.filter->details();
    EXPECT_LE(now.line_bytes, 40'001 * 64 + buffer::huge_page + page) << "untouched lines take memory";
}

TEST(broom_memory, snapshots_in_the_middle_of_a_growth_load_at_every_front) {
    for (const double rate : {0x1p-8, 0x1p-13}) {
        if (test::sanitized && rate == 0x1p-8) continue;  // no tail, so less that could go wrong
        accounted w{2100, rate};
        w.insert_more(2100 * 45);
        for (std::uint64_t key = 0; key < w.next_key; key += 11) w.erase(key);
        w.query(3000);
        std::uint64_t saved = 0;
        for (double wanted = 0.001; w.state().bins == 2100; w.insert_more(53)) {
            const double done = w.filter->details().growth_done;
            if (done < wanted) continue;
            wanted = done + 0.06;
            vector_sink out;
            ASSERT_TRUE(w.filter->save(out, {}));
            const auto loaded = core::load(out.bytes());
            ASSERT_TRUE(loaded) << done << ": " << loaded.error().message();
            remote_source<memory_map> from{w.remote, w.hash};
            const auto sound = (*loaded)->audit(from);
            ASSERT_TRUE(sound) << done << ": " << sound.error().message();
            EXPECT_EQ((*loaded)->keys(), w.filter->keys());
            vector_sink again;
            ASSERT_TRUE((*loaded)->save(again, {}));
            EXPECT_EQ(again.bytes().size(), out.bytes().size());
            ASSERT_TRUE((*loaded)->grow(from));
            ASSERT_TRUE((*loaded)->audit(from));
            ++saved;
        }
        EXPECT_GT(saved, 10u);
    }
}

}  // namespace
}  // namespace genista::broom::broom_memory_test

namespace genista::broom_memory_test {
namespace {

// ---- the limit ----------------------------------------------------------------------------------

// memory_limit: how much memory the filter may take, what it refuses at the limit, and that no key
// is lost there.

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
        EXPECT_TRUE(plain.put(where, integer_key{key}.view()));
        const auto outcome = filter.insert(key, remote);
        EXPECT_TRUE(outcome) << outcome.error().message();
        if (!outcome || *outcome == insert_outcome::full) {
            EXPECT_TRUE(plain.erase(where, integer_key{key}.view()));
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
}  // namespace genista::broom_memory_test
