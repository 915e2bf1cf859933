// Filters built in one call: from keys in any order and from R, on one thread and on several.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "genista/filters/broom.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/remote/counting_map.hpp"
#include "tests/support/broom_world.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"
#include "tests/support/wrapped_maps.hpp"

namespace genista::broom_bulk_test {
namespace {

const hasher& the_hash() {
    static const hasher hash{hash_key::from_seed(31)};
    return hash;
}

broom_options options_for(std::uint64_t capacity, double rate, bool grows = true) {
    return {
        .capacity = capacity, .false_positive_rate = rate, .hash = the_hash(), .grows = grows, .random = repeatable(6)};
}

// Distinct keys in random order, and an R that holds them.
struct integer_set {
    std::vector<std::uint64_t> keys;
    memory_map remote;

    explicit integer_set(std::size_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            keys.push_back(i * 0x9e3779b97f4a7c15 + 5);
            EXPECT_TRUE(remote.put(the_hash()(keys.back()), integer_key{keys.back()}.view()));
        }
    }
};

struct text_set {
    std::vector<std::string> texts;
    std::vector<key_view> keys;
    memory_map remote;

    explicit text_set(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) texts.push_back(std::string(i % 23, '-') + std::to_string(i));
        for (const std::string& each : texts) {
            keys.emplace_back(each);
            EXPECT_TRUE(remote.put(the_hash()(keys.back()), keys.back()));
        }
    }
};

// Every third key twice, every ninth three times, and all of them in random order.
template <class Key>
std::vector<Key> shuffled_with_repeats(const std::vector<Key>& keys) {
    std::vector<Key> made = keys;
    for (std::size_t i = 0; i < keys.size(); i += 3) made.insert(made.end(), i % 9 == 0 ? 2 : 1, keys[i]);
    test::splitmix chance{made.size()};
    for (std::size_t i = made.size(); i > 1; --i) std::swap(made[i - 1], made[chance.below(i)]);
    return made;
}

template <class Set>
void expect_holds(const broom_filter& filter, Set& set) {
    std::uint64_t denied = 0;
    for (const auto& key : set.keys) denied += filter.may_contain(key) ? 0u : 1u;
    EXPECT_EQ(denied, 0u) << "false negatives";
    EXPECT_EQ(filter.stats().keys, set.keys.size());
    const auto sound = filter.audit(set.remote);
    EXPECT_TRUE(sound) << sound.error().message();
}

// Slots and backyard entries in use: one per key if no key was erased.
std::uint64_t places_used(const broom_filter& filter) {
    const broom_details seen = filter.details();
    return seen.slots_used + seen.backyard_keys;
}

template <class Set>
class broom_bulk : public testing::Test {};

struct set_names {
    template <class Set>
    static std::string GetName(int) {
        return std::is_same_v<Set, integer_set> ? "integers" : "texts";
    }
};
using sets = testing::Types<integer_set, text_set>;
TYPED_TEST_SUITE(broom_bulk, sets, set_names);

TYPED_TEST(broom_bulk, keys_in_any_order_some_more_than_once_make_a_sound_filter) {
    using key = typename decltype(TypeParam::keys)::value_type;
    const std::size_t most = test::effort(100'000, 20'000, 3'000'000);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{47}, std::size_t{1000}, most}) {
        TypeParam set{count};
        const std::vector<key> given = shuffled_with_repeats(set.keys);
        for (const double rate : {0x1p-8, 0x1p-12}) {
            for (unsigned threads = 1; threads <= 3; ++threads) {
                const auto options = options_for(std::max<std::size_t>(count, 1), rate);
                auto built = broom_filter::build(options, std::span<const key>{given}, threads);
                ASSERT_TRUE(built) << built.error().message();
                EXPECT_EQ(built->stats().remote_reads, 0u) << "no R was given";
                expect_holds(*built, set);
                if (this->HasFailure()) FAIL() << count << " keys on " << threads << " threads";
            }
        }
    }
}

TYPED_TEST(broom_bulk, a_built_filter_works_like_any_other) {
    using key = typename decltype(TypeParam::keys)::value_type;
    for (const double rate : {0x1p-8, 0x1p-12}) {
        TypeParam set{3000};
        // The last third is inserted later, the first third is erased.
        auto built = broom_filter::build(options_for(1000, rate), std::span<const key>{set.keys}.first(2000), 2);
        ASSERT_TRUE(built) << built.error().message();
        for (std::size_t i = 2000; i < 3000; ++i) ASSERT_TRUE(built->insert(set.keys[i], set.remote));
        for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(*built->erase(set.keys[i], set.remote), erase_outcome::erased);
        set.keys.erase(set.keys.begin(), set.keys.begin() + 1000);
        expect_holds(*built, set);
        std::uint64_t fixed = 0;
        for (std::uint64_t absent_key = 1; absent_key < 100'000; ++absent_key) {
            const auto outcome = built->adapt(absent_key, set.remote);
            ASSERT_TRUE(outcome) << outcome.error().message();
            fixed += *outcome == adapt_outcome::fixed ? 1u : 0u;
            ASSERT_FALSE(built->may_contain(absent_key));
        }
        EXPECT_GT(fixed, 0u);
        expect_holds(*built, set);
    }
}

// Any number of copies of a key is one key.
TYPED_TEST(broom_bulk, a_key_given_a_thousand_times_counts_once) {
    using key = typename decltype(TypeParam::keys)::value_type;
    for (const bool grows : {false, true}) {
        TypeParam set{100};
        std::vector<key> given = set.keys;
        given.insert(given.end(), 1000, set.keys[42]);
        auto built = broom_filter::build(options_for(200, 0x1p-8, grows), std::span<const key>{given});
        ASSERT_TRUE(built) << built.error().message();
        EXPECT_LT(built->details().bins, 100u) << "copies take no room";
        expect_holds(*built, set);
    }
}

TYPED_TEST(broom_bulk, every_key_given_twelve_times_counts_once) {
    using key = typename decltype(TypeParam::keys)::value_type;
    TypeParam set{5000};
    std::vector<key> given;
    for (int copy = 0; copy < 12; ++copy) given.insert(given.end(), set.keys.begin(), set.keys.end());
    auto built = broom_filter::build(options_for(5000, 0x1p-8), std::span<const key>{given}, 2);
    ASSERT_TRUE(built) << built.error().message();
    EXPECT_EQ(built->details().growths, 0u) << "copies take no room";
    expect_holds(*built, set);
}

TYPED_TEST(broom_bulk, too_many_keys_are_an_error_or_make_the_filter_grow) {
    using key = typename decltype(TypeParam::keys)::value_type;
    TypeParam set{test::effort(20'000, 4000, 100'000)};
    for (const double rate : {0x1p-8, 0x1p-12}) {
        for (unsigned threads = 1; threads <= 3; ++threads) {
            for (const std::uint64_t capacity : {set.keys.size() / 200, set.keys.size() / 4}) {
                const auto refused =
                    broom_filter::build(options_for(capacity, rate, false), std::span<const key>{set.keys}, threads);
                ASSERT_FALSE(refused);
                EXPECT_EQ(refused.error().code(), error_code::unsupported);
                const auto grown =
                    broom_filter::build(options_for(capacity, rate, true), std::span<const key>{set.keys}, threads);
                ASSERT_TRUE(grown) << grown.error().message();
                EXPECT_GE(grown->details().growths, 1u);
                EXPECT_EQ(grown->stats().remote_reads, 0u);
                expect_holds(*grown, set);
            }
        }
    }
}

TEST(broom_build, zero_threads_mean_one_and_bad_options_are_an_error) {
    integer_set set{500};
    auto built = broom_filter::build(options_for(500, 0x1p-8), std::span<const std::uint64_t>{set.keys}, 0);
    ASSERT_TRUE(built);
    expect_holds(*built, set);
    EXPECT_TRUE(built->rebuild(set.remote, 0));
    expect_holds(*built, set);
    EXPECT_FALSE(broom_filter::build(options_for(0, 0x1p-8), std::span<const std::uint64_t>{set.keys}));
}

// ---- from R -------------------------------------------------------------------------------------

TEST(broom_rebuild, any_number_of_threads_builds_the_same_from_r) {
    integer_set set{test::effort(50'000, 10'000, 1'000'000)};
    for (const double rate : {0x1p-8, 0x1p-12}) {
        std::uint64_t reads_of_one = 0;
        for (unsigned threads = 1; threads <= 4; ++threads) {
            counting_map<memory_map> remote{set.remote};
            auto built = broom_filter::build(options_for(set.keys.size(), rate), remote, threads);
            ASSERT_TRUE(built) << built.error().message();
            expect_holds(*built, set);
            EXPECT_EQ(places_used(*built), set.keys.size());
            EXPECT_EQ(built->details().tombstones, 0u);
            EXPECT_EQ(built->stats().remote_reads, remote.counts().range_reads);
            // The last cluster of each thread may be incomplete; no record is read twice.
            if (threads == 1) reads_of_one = remote.counts().range_reads;
            EXPECT_LT(remote.counts().range_reads, reads_of_one + threads);
            EXPECT_EQ(remote.counts().keys_visited, set.keys.size());
        }
    }
}

TEST(broom_rebuild, threads_drop_every_key_that_r_does_not_hold) {
    for (const double rate : {0x1p-8, 0x1p-12}) {
        for (unsigned threads = 1; threads <= 4; ++threads) {
            integer_set set{6000};
            auto filter =
                *broom_filter::build(options_for(6000, rate), std::span<const std::uint64_t>{set.keys}, threads);
            // Erased and adapted keys, and keys erased and put in R only.
            for (std::size_t i = 0; i < 1000; ++i) ASSERT_TRUE(filter.erase(set.keys[i], set.remote));
            for (std::uint64_t absent_key = 1; absent_key < 20'000; ++absent_key)
                ASSERT_TRUE(filter.adapt(absent_key, set.remote));
            for (std::size_t i = 1000; i < 2000; ++i)
                ASSERT_TRUE(set.remote.erase(the_hash()(set.keys[i]), integer_key{set.keys[i]}.view()));
            for (std::size_t i = 0; i < 500; ++i)
                ASSERT_TRUE(set.remote.put(the_hash()(set.keys[i]), integer_key{set.keys[i]}.view()));
            set.keys.erase(set.keys.begin() + 500, set.keys.begin() + 2000);
            EXPECT_GT(filter.details().tombstones, 0u);
            const auto rebuilt = filter.rebuild(set.remote, threads);
            ASSERT_TRUE(rebuilt) << rebuilt.error().message();
            expect_holds(filter, set);
            EXPECT_EQ(places_used(filter), set.keys.size());
            EXPECT_EQ(filter.details().extended_slots, 0u);
        }
    }
}

TEST(broom_rebuild, threads_that_find_too_many_keys_in_r_report_it_or_grow) {
    for (unsigned threads = 1; threads <= 4; ++threads) {
        for (const bool grows : {false, true}) {
            integer_set set{test::effort(20'000, 4000, 100'000)};
            auto filter = *broom_filter::make(options_for(set.keys.size() / 10, 0x1p-8, grows));
            const auto rebuilt = filter.rebuild(set.remote, threads);
            ASSERT_EQ(rebuilt.has_value(), grows);
            if (grows) {
                expect_holds(filter, set);
            } else {
                EXPECT_EQ(rebuilt.error().code(), error_code::unsupported);
            }
        }
    }
}

TEST(broom_rebuild, threads_finish_a_growth_that_has_begun) {
    for (unsigned threads = 1; threads <= 4; ++threads) {
        integer_set set{0};
        auto filter = *broom_filter::make(options_for(5000, 0x1p-8));
        for (std::uint64_t key = 1; filter.details().growth_done == 0; ++key) {
            for (int i = 0; i < 20; ++i) set.keys.push_back(key * 20 + static_cast<unsigned>(i));
            for (const std::uint64_t each : std::span<const std::uint64_t>{set.keys}.last(20)) {
                ASSERT_TRUE(set.remote.put(the_hash()(each), integer_key{each}.view()));
                ASSERT_TRUE(filter.insert(each, set.remote));
            }
        }
        const auto rebuilt = filter.rebuild(set.remote, threads);
        ASSERT_TRUE(rebuilt) << rebuilt.error().message();
        EXPECT_EQ(filter.details().growth_done, 0.0);
        expect_holds(filter, set);
    }
}

// A snapshot of a filter that was growing, loaded when R has become eight times as large.
TEST(broom_rebuild, a_loaded_growth_that_is_too_small_for_r_does_not_prevent_a_rebuild) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        integer_set set{0};
        auto filter = *broom_filter::make(options_for(5000, 0x1p-8));
        const auto commit_one = [&] {
            const std::uint64_t key = set.keys.size();
            set.keys.push_back(key);
            EXPECT_TRUE(set.remote.put(the_hash()(key), integer_key{key}.view()));
        };
        while (filter.details().growth_done == 0) {
            commit_one();
            ASSERT_TRUE(filter.insert(set.keys.back(), set.remote));
        }
        while (set.keys.size() < test::effort(40'000, 15'000, 40'000)) commit_one();
        const auto rebuilt = filter.rebuild(set.remote, threads);
        ASSERT_TRUE(rebuilt) << rebuilt.error().message();
        expect_holds(filter, set);
    }
}

// More keys at one position than a bin takes: no table is large enough. Each call says so, and the
// table does not double at each.
TEST(broom_rebuild, keys_that_no_bin_can_hold_do_not_double_the_table_at_each_call) {
    const auto short_keys_meet = [](const void*, key_view key) noexcept -> digest {
        const digest own = the_hash()(key);
        return key.size == 3 ? digest{12345, own.seed} : own;
    };
    const auto hash = hasher::custom(short_keys_meet, nullptr);
    for (const std::size_t others : {0u, 100u, 900u}) {
        memory_map remote;
        const auto filter_options = broom_options{.capacity = 100, .hash = hash, .random = repeatable(6)};
        auto filter = *broom_filter::make(filter_options);
        std::vector<std::string> stored;
        const auto put = [&](std::string key) {
            ASSERT_TRUE(remote.put(hash(key), key));
            stored.push_back(std::move(key));
        };
        for (std::size_t i = 0; i < others; ++i) {
            put("other " + std::to_string(i));
            ASSERT_TRUE(filter.insert(stored.back(), remote));
        }
        const std::uint64_t bins_at_first = filter.details().bins;
        for (int i = 100; i < 300; ++i) put(std::to_string(i));
        for (unsigned call = 0; call < 20; ++call) {
            const auto rebuilt = filter.rebuild(remote, 1 + call % 2);
            ASSERT_FALSE(rebuilt);
            EXPECT_EQ(rebuilt.error().code(), error_code::unsupported) << rebuilt.error().message();
        }
        // A table doubles while R fills a quarter of its slots.
        EXPECT_LE(filter.details().bins, std::max(bins_at_first, 8 * (others + 200) / 48));
        for (std::size_t i = 0; i < others; ++i) EXPECT_TRUE(filter.may_contain(stored[i])) << stored[i];
    }
}

TEST(broom_rebuild, threads_that_read_wrong_records_report_it_and_lose_nothing) {
    for (const double rate : {0x1p-8, 0x1p-12}) {
        for (unsigned threads = 1; threads <= 3; ++threads) {
            for (const std::uint64_t quarter : {0u, 1u, 2u, 3u}) {
                integer_set set{5000};
                test::disordered_map liar{set.remote, quarter << 62 | 1u << 30};
                auto filter = *broom_filter::build(options_for(5000, rate), set.remote);
                const auto refused = filter.rebuild(liar, threads);
                ASSERT_FALSE(refused) << quarter;
                EXPECT_EQ(refused.error().code(), error_code::corrupt);
                expect_holds(filter, set);
                EXPECT_FALSE(broom_filter::build(options_for(5000, rate), liar, threads));
                EXPECT_TRUE(filter.rebuild(set.remote, threads));
                expect_holds(filter, set);
            }
        }
    }
}

// Another thread commits and inserts a key after a cluster was read from R and before it is built.
TEST(broom_rebuild, a_key_inserted_after_r_was_read_is_not_lost) {
    for (const double rate : {0x1p-8, 0x1p-12}) {
        test::broom_world<broom_filter> w{{.capacity = 200, .rate = rate, .seed = 9, .universe = 200}};
        for (std::uint64_t key = 0; key < 150; ++key) ASSERT_TRUE(w.insert(key));
        for (std::uint64_t key = 150; key < 180; ++key) {
            test::scripted_map<memory_map> remote{w.plain};
            remote.after_range = [&] { w.insert_beside(key); };
            ASSERT_TRUE(w.filter.rebuild(remote));
            w.scan();
            w.audit();
            ASSERT_TRUE(w.wrong.none()) << w.wrong.text();
        }
    }
}

// Threads rebuild again and again; meanwhile one commits and inserts, and one queries.
class rebuilds_beside_others {
  public:
    rebuilds_beside_others(const broom_options& options, std::size_t count)
        : filter_{*broom_filter::make(options)}, count_{count} {
        for (std::uint64_t i = 0; i < count; ++i) set_.keys.push_back(i * 0x9e3779b97f4a7c15 + 5);
    }

    void run() {
        {
            const std::jthread writer{[this] { write(); }};
            const std::jthread rebuilder{[this] {
                while (inserted_.load() < count_) {
                    if (const auto rebuilt = filter_.rebuild(set_.remote, 3); !rebuilt)
                        why_ = rebuilt.error().message();
                }
            }};
            test::splitmix chance{3};
            while (inserted_.load() < count_) {
                if (const std::size_t there = inserted_.load(); there != 0)
                    denied_ += filter_.may_contain(set_.keys[chance.below(there)]) ? 0u : 1u;
            }
        }
        EXPECT_EQ(denied_, 0u) << "false negatives";
        EXPECT_EQ(why_, "") << "a rebuild failed";
        EXPECT_EQ(failed_, 0u) << "inserts failed";
        expect_holds(filter_, set_);
    }

  private:
    void write() {
        for (std::size_t i = 0; i < count_; ++i) {
            const std::uint64_t key = set_.keys[i];
            const auto put = set_.remote.put(the_hash()(key), integer_key{key}.view());
            const auto outcome = filter_.insert(key, set_.remote);
            failed_ += put && outcome && *outcome != insert_outcome::full ? 0u : 1u;
            inserted_.store(i + 1);
        }
    }

    integer_set set_{0};
    broom_filter filter_;
    std::size_t count_;
    std::atomic<std::size_t> inserted_ = 0;
    std::string why_;           // written by the rebuilding thread
    std::uint64_t failed_ = 0;  // written by the inserting thread
    std::uint64_t denied_ = 0;  // written by the querying thread
};

TEST(broom_rebuild, inserts_and_queries_may_run_during_it) {
    const std::size_t count = test::effort(20'000, 2000, 1'000'000);
    for (const double rate : {0x1p-8, 0x1p-12}) {
        for (const bool grows : {false, true}) {
            rebuilds_beside_others race{options_for(grows ? 500 : count, rate, grows), count};
            race.run();
        }
    }
}

}  // namespace
}  // namespace genista::broom_bulk_test
