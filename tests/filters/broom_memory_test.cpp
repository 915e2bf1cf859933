// Memory of the broom filter: every byte is counted; growth takes memory only when it needs it and
// gives the old table's memory back as it proceeds.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "filters/broom/core.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/broom_world.hpp"
#include "tests/support/failing_allocations.hpp"
#include "tests/support/scale.hpp"

namespace genista::broom::broom_memory_test {
namespace {

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
