// The whitelist: promises, options, and a reference model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "genista/filters/bloom.hpp"
#include "genista/remote/memory_map.hpp"
#include "papers/whitelist.hpp"
#include "papers/whitelist/digest_list.hpp"
#include "support/remote/counting_map.hpp"
#include "support/remote/faulty_map.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::whitelist_test {
namespace {

// whitelist_filter: examples, its rate and size, bad options, keys with one digest, wrong answers
// of R.

static_assert(membership_filter<whitelist_filter> && !savable_filter<whitelist_filter>);

whitelist_options seeded(std::uint64_t capacity, double rate, unsigned universe_bits = 64) {
    return {.capacity = capacity,
            .false_positive_rate = rate,
            .hash = hasher{hash_key::from_seed(capacity)},
            .universe_bits = universe_bits};
}

// A filter with the stored keys 0, 1, …, and its R.
struct world {
    memory_map remote;
    whitelist_filter filter;

    world(std::uint64_t keys, const whitelist_options& options) : filter{*whitelist_filter::make(options)} {
        for (std::uint64_t key = 0; key < keys; ++key) {
            put(key);
            EXPECT_TRUE(filter.insert(key, remote));
        }
    }
    void put(std::uint64_t key) { ASSERT_TRUE(remote.put(filter.hash()(key), integer_key{key}.view())); }
    void take_out(std::uint64_t key) { ASSERT_TRUE(remote.erase(filter.hash()(key), integer_key{key}.view())); }
    [[nodiscard]] std::uint64_t next_false_positive(std::uint64_t from) const {
        while (!filter.may_contain(from)) ++from;
        return from;
    }
};

TEST(whitelist, fixes_reported_false_positives_and_keeps_its_stored_keys) {
    world w{1000, seeded(1000, 0.25)};
    std::vector<std::uint64_t> fixed;
    for (std::uint64_t x = 1'000'000; fixed.size() < 500;) {
        x = w.next_false_positive(x);
        ASSERT_EQ(*w.filter.adapt(x, w.remote), adapt_outcome::fixed);
        ASSERT_EQ(*w.filter.adapt(x, w.remote), adapt_outcome::was_negative);
        fixed.push_back(x++);
    }
    for (const std::uint64_t x : fixed) EXPECT_FALSE(w.filter.may_contain(x)) << x;
    for (std::uint64_t key = 0; key < 1000; ++key) {
        EXPECT_TRUE(w.filter.may_contain(key)) << key;
        EXPECT_EQ(*w.filter.adapt(key, w.remote), adapt_outcome::true_positive) << key;
    }
    EXPECT_TRUE(w.filter.audit(w.remote));
    const filter_stats now = w.filter.stats();
    const whitelist_details parts = w.filter.details();
    EXPECT_EQ(now.adapts, 500u);
    EXPECT_EQ(now.remote_reads, 1500u);
    EXPECT_EQ(parts.list_entries, 500u);
    EXPECT_EQ(now.adaptive_bytes, parts.list_bytes);
    EXPECT_GE(now.local_bytes, parts.list_bytes + parts.bloom_bytes);
    EXPECT_EQ(parts.list_bytes * 8, whitelist_filter::list_bits_for(500));
    // 128 bits each, less those that the place implies, in slots of which at most 7/8 are taken.
    EXPECT_GE(parts.list_bytes * 8, 500u * (128 - 9));
    EXPECT_LE(parts.list_bytes * 8, 500u * 220);
}

TEST(whitelist, a_listed_key_that_is_inserted_comes_off_the_list) {
    world w{100, seeded(100, 0.25)};
    const std::uint64_t x = w.next_false_positive(1'000'000);
    ASSERT_EQ(*w.filter.adapt(x, w.remote), adapt_outcome::fixed);
    const std::uint64_t keys = w.filter.stats().keys;
    w.put(x);
    EXPECT_EQ(*w.filter.insert(x, w.remote), insert_outcome::inserted);
    EXPECT_TRUE(w.filter.may_contain(x));
    EXPECT_EQ(w.filter.details().list_entries, 0u);
    EXPECT_EQ(w.filter.stats().keys, keys + 1);
    EXPECT_EQ(*w.filter.insert(x, w.remote), insert_outcome::already_present);
    // A stored key that has left R is a false positive like any other.
    w.take_out(x);
    EXPECT_EQ(*w.filter.adapt(x, w.remote), adapt_outcome::fixed);
    EXPECT_FALSE(w.filter.may_contain(x));
}

// [broom18 Lemma 28]
TEST(whitelist, its_bloom_filter_is_as_good_as_the_list_needs) {
    EXPECT_DOUBLE_EQ(whitelist_filter::bloom_rate(1'000'000, 0.25), 6.0 / 64);
    EXPECT_DOUBLE_EQ(whitelist_filter::bloom_rate(1'000'000, 0x1p-8), 0x1p-8);
    EXPECT_DOUBLE_EQ(whitelist_filter::bloom_rate(1'000'000, 0.25, 1024), 10.0 / 1024);
    EXPECT_DOUBLE_EQ(whitelist_filter::bloom_rate(65, 0.25), 6.0 / 64);
    EXPECT_DOUBLE_EQ(whitelist_filter::bloom_rate(64, 0.25), 0x1p-12);  // log n ≤ log log u: n^-2
    EXPECT_DOUBLE_EQ(whitelist_filter::bloom_rate(1, 0.25), 0.25);
    const world w{0, seeded(10'000, 0.25)};
    EXPECT_DOUBLE_EQ(w.filter.rate(), 6.0 / 64);
    EXPECT_EQ(w.filter.stats().false_positive_rate, 0.25);
    EXPECT_EQ(w.filter.stats().adaptive_bytes, 0u);
    EXPECT_EQ(*whitelist_filter::bits_for(10'000, 0.25), *bloom_filter::bits_for(10'000, 6.0 / 64));
}

TEST(whitelist, refuses_impossible_options_and_reports_what_is_allowed) {
    const auto message_of = [](const whitelist_options& options) {
        const auto made = whitelist_filter::make(options);
        EXPECT_FALSE(made);
        return made ? std::string{} : std::string{made.error().message()};
    };
    EXPECT_NE(message_of(seeded(0, 0.25)).find("1.."), std::string::npos);
    EXPECT_NE(message_of(seeded(10, 0.75)).find("(0, 0.5]"), std::string::npos);
    EXPECT_NE(message_of(seeded(10, std::nan(""))).find("(0, 0.5]"), std::string::npos);
    EXPECT_NE(message_of(seeded(10, 0.25, 1)).find("2 to 65536"), std::string::npos);
    EXPECT_NE(message_of(seeded(10, 0.25, 65'537)).find("2 to 65536"), std::string::npos);
    EXPECT_NE(message_of(seeded(1025, 0.25, 10)).find("1 to 1024"), std::string::npos);
    EXPECT_TRUE(whitelist_filter::make(seeded(1024, 0.25, 10)));
    EXPECT_TRUE(whitelist_filter::make(seeded(4, 0.5, 2)));
    EXPECT_FALSE(whitelist_filter::bits_for(10, 0.25, 1));
}

TEST(whitelist, is_built_from_all_keys_of_r) {
    const world w{300, seeded(300, 0.125)};
    memory_map& remote = const_cast<memory_map&>(w.remote);
    const auto built = whitelist_filter::build(seeded(300, 0.125), remote);
    ASSERT_TRUE(built);
    EXPECT_TRUE(built->audit(remote));
    for (std::uint64_t key = 0; key < 5'000; ++key) EXPECT_EQ(built->may_contain(key), w.filter.may_contain(key));
    whitelist_options foreign = seeded(300, 0.125);
    foreign.hash = hasher{hash_key::from_seed(99)};
    EXPECT_FALSE(whitelist_filter::build(foreign, remote));  // R is sorted by another hash
}

TEST(whitelist, a_negative_reads_nothing_and_a_positive_reads_r_once) {
    world w{1000, seeded(1000, 0.25)};
    counting_map counted{w.remote};
    for (std::uint64_t x = 1'000'000; x < 1'001'000; ++x) {
        const bool maybe = w.filter.may_contain(x);
        const std::uint64_t before = counted.counts().range_reads;
        ASSERT_TRUE(w.filter.adapt(x, counted));
        EXPECT_EQ(counted.counts().range_reads - before, maybe ? 1u : 0u);
    }
    EXPECT_EQ(counted.counts().point_reads + counted.counts().puts + counted.counts().erases, 0u);
}

// ---- answers of R -------------------------------------------------------------------------------

digest one_of_four(const void*, key_view key) noexcept {
    const std::uint64_t which = key.size == 0 ? 0 : std::to_integer<std::uint64_t>(key.data[0]) % 4;
    return digest{which << 62, 7};
}

// Keys with one digest are one key to the filter: all of them stay as long as R holds one of them.
TEST(whitelist, a_stored_key_stays_when_an_absent_key_with_its_digest_is_adapted) {
    whitelist_options options = seeded(10, 0.25);
    options.hash = hasher::custom(&one_of_four, nullptr);
    world w{1, options};
    ASSERT_TRUE(w.filter.may_contain(std::uint64_t{4}));
    EXPECT_EQ(*w.filter.adapt(std::uint64_t{4}, w.remote), adapt_outcome::true_positive);
    EXPECT_TRUE(w.filter.may_contain(std::uint64_t{0}));
    // The absent key first, the stored key later.
    w.take_out(0);
    EXPECT_EQ(*w.filter.adapt(std::uint64_t{4}, w.remote), adapt_outcome::fixed);
    w.put(8);
    EXPECT_EQ(*w.filter.insert(std::uint64_t{8}, w.remote), insert_outcome::inserted);
    EXPECT_TRUE(w.filter.may_contain(std::uint64_t{8}));
}

digest one_position(const void*, key_view key) noexcept {
    std::uint64_t low = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(8, key.size); ++i)
        low |= std::to_integer<std::uint64_t>(key.data[i]) << 8 * i;
    return digest{std::uint64_t{1} << 63, low};
}

// A hash with only one position: the list becomes full, and adapt reports it.
TEST(whitelist, a_full_list_leaves_the_key_unfixed_and_causes_no_false_negative) {
    whitelist_options options = seeded(10, 0.5);
    options.hash = hasher::custom(&one_position, nullptr);
    world w{10, options};
    std::uint64_t unfixed = 0;
    for (std::uint64_t x = w.next_false_positive(100); unfixed == 0; x = w.next_false_positive(x + 1)) {
        const auto outcome = w.filter.adapt(x, w.remote);
        ASSERT_TRUE(outcome);
        if (*outcome == adapt_outcome::unfixed) unfixed = x;
    }
    EXPECT_TRUE(w.filter.may_contain(unfixed));
    EXPECT_GT(w.filter.details().list_entries, 100u);
    EXPECT_LT(w.filter.details().list_bytes, 1'000'000u);
    EXPECT_TRUE(w.filter.audit(w.remote));
}

TEST(whitelist, errors_and_wrong_records_list_no_key) {
    for (const fault_kind kind : all_fault_kinds) {
        if (kind == fault_kind::stale || kind == fault_kind::duplicate) continue;  // below; harmless
        world w{500, seeded(500, 0.25)};
        faulty_map<memory_map> faulty{w.remote, {.sleep = [](auto) {}}};
        ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::from(kind, 0)}}));
        std::uint64_t refused = 0;
        for (std::uint64_t key = 0; key < 500; ++key) {
            const auto outcome = w.filter.adapt(key, faulty);
            refused += outcome ? 0u : 1u;
            EXPECT_TRUE(w.filter.may_contain(key)) << to_string(kind) << ", key " << key;
        }
        // For a stored key its own record decides before a superfluous record is read; for an
        // absent key the superfluous record is read.
        EXPECT_EQ(refused, kind == fault_kind::out_of_range ? 0u : 500u) << to_string(kind);
        if (kind == fault_kind::out_of_range) {
            EXPECT_FALSE(w.filter.adapt(w.next_false_positive(1'000'000), faulty));
        }
        EXPECT_EQ(w.filter.details().list_entries, 0u) << to_string(kind);
        ASSERT_TRUE(faulty.set_plan({}));
        EXPECT_EQ(*w.filter.adapt(w.next_false_positive(1'000'000), faulty), adapt_outcome::fixed);
    }
}

// R is the truth: a key that R does not hold may be listed, and then an insert must take it off the
// list. Promised in the header.
TEST(whitelist, a_key_missing_in_r_is_answered_no_until_it_is_inserted_again) {
    world w{0, seeded(500, 0.25)};
    faulty_map<memory_map> faulty{w.remote};
    ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::once(fault_kind::stale, 0, fault_scope::ranges)}}));
    ASSERT_TRUE(faulty.put(w.filter.hash()(std::uint64_t{5}), integer_key{5u}.view()));
    ASSERT_TRUE(w.filter.insert(std::uint64_t{5}, faulty));
    EXPECT_EQ(*w.filter.adapt(std::uint64_t{5}, faulty), adapt_outcome::fixed);
    EXPECT_EQ(faulty.counts().injected(fault_kind::stale), 1u);
    EXPECT_FALSE(w.filter.may_contain(std::uint64_t{5}));
    EXPECT_FALSE(w.filter.audit(w.remote));
    EXPECT_TRUE(w.filter.insert(std::uint64_t{5}, faulty));
    EXPECT_TRUE(w.filter.may_contain(std::uint64_t{5}));
    EXPECT_TRUE(w.filter.audit(w.remote));
}

struct throwing_map {
    static result<bool> put(const digest&, key_view) { return true; }
    static result<bool> erase(const digest&, key_view) { return true; }
    static result<bool> contains(const digest&, key_view) { throw 1; }
    template <class Visit>
    static result<void> for_each(std::uint64_t, std::uint64_t, Visit&&) {
        throw std::bad_alloc{};
    }
};

TEST(whitelist, an_exception_of_r_becomes_an_error) {
    world w{100, seeded(100, 0.25)};
    throwing_map bad;
    const auto outcome = w.filter.adapt(std::uint64_t{5}, bad);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), error_code::out_of_memory);
    EXPECT_TRUE(w.filter.may_contain(std::uint64_t{5}));
}

// ---- against a model ----------------------------------------------------------------------------

// Runs random operations on whitelist_filter and an exact model: a Bloom filter of its own, a
// std::set of listed keys, and a std::set of what R holds. With a store that works and with one
// that fails; every answer is compared, those for absent keys too.

class driven {
  public:
    driven(std::uint64_t capacity, double rate, std::uint64_t universe, std::uint64_t seed)
        : universe_{universe},
          chance_{seed},
          filter_{*whitelist_filter::make({capacity, rate, hasher{hash_key::from_seed(seed)}, 64})},
          bloom_{*bloom_filter::make(
              {capacity, whitelist_filter::bloom_rate(capacity, rate), hasher{hash_key::from_seed(seed)}})} {}

    void step(bool with_faults) {
        const std::uint64_t key = chance_.below(universe_);
        switch (chance_.below(7)) {
            case 0:
            case 1:
                insert(key, with_faults);
                break;
            case 2:  // erased in the store only; the filter is not called
                members_.erase(key);
                ASSERT_TRUE(remote_.erase(filter_.hash()(key), integer_key{key}.view()));
                break;
            default:
                adapt(key, with_faults);
        }
        check(key);
    }
    void check_all() {
        for (std::uint64_t key = 0; key < universe_; ++key) check(key);
        EXPECT_EQ(filter_.details().list_entries, listed_.size());
        EXPECT_TRUE(filter_.audit(remote_));
    }
    [[nodiscard]] std::uint64_t most_listed() const noexcept { return most_listed_; }
    [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }

  private:
    void check(std::uint64_t key) {
        ASSERT_EQ(filter_.may_contain(key), bloom_.may_contain(key) && !listed_.contains(key)) << key;
        ASSERT_TRUE(filter_.may_contain(key) || !members_.contains(key)) << "a false negative: " << key;
    }
    // Every fault but stale answers, because the expected answers follow from R.
    void break_store(bool with_faults) {
        fault_plan plan{.seed = chance_()};
        if (with_faults) {
            for (const fault_kind kind : all_fault_kinds) {
                if (kind != fault_kind::stale) plan.rates.push_back({kind, 0.05});
            }
        }
        ASSERT_TRUE(faulty_.set_plan(std::move(plan)));
    }
    void insert(std::uint64_t key, bool with_faults) {
        break_store(with_faults);
        // A put that reports an error may have happened: the test finds out before it goes on.
        (void)faulty_.put(filter_.hash()(key), integer_key{key}.view());
        if (!*remote_.contains(filter_.hash()(key), integer_key{key}.view())) return;
        members_.insert(key);
        const bool is_new = bloom_.insert(key) == insert_outcome::inserted;
        const bool was_listed = listed_.erase(key) != 0;
        const auto outcome = filter_.insert(key, faulty_);
        ASSERT_TRUE(outcome);
        EXPECT_EQ(*outcome, is_new || was_listed ? insert_outcome::inserted : insert_outcome::already_present);
    }
    void adapt(std::uint64_t key, bool with_faults) {
        break_store(with_faults);
        const bool maybe = filter_.may_contain(key);
        const auto outcome = filter_.adapt(key, faulty_);
        if (!outcome) {
            ++failures_;
            EXPECT_TRUE(with_faults && maybe);
            return;
        }
        const bool member = members_.contains(key);
        const adapt_outcome expected = !maybe   ? adapt_outcome::was_negative
                                       : member ? adapt_outcome::true_positive
                                                : adapt_outcome::fixed;
        EXPECT_EQ(*outcome, expected) << key;
        if (expected == adapt_outcome::fixed) listed_.insert(key);
        most_listed_ = std::max<std::uint64_t>(most_listed_, listed_.size());
    }

    std::uint64_t universe_;
    test::splitmix chance_;
    memory_map remote_;
    faulty_map<memory_map> faulty_{remote_, {.sleep = [](auto) {}}};
    whitelist_filter filter_;
    bloom_filter bloom_;
    std::set<std::uint64_t> members_, listed_;
    std::uint64_t most_listed_ = 0, failures_ = 0;
};

TEST(whitelist_model, answers_as_a_bloom_filter_without_the_keys_on_its_list) {
    for (std::uint64_t seed = 1; seed <= test::scaled<std::uint64_t>(4, 100); ++seed) {
        for (const bool with_faults : {false, true}) {
            driven both{20, 0.5, 600, seed};  // too small on purpose: many false positives
            for (int i = 0; i < 4'000 && !testing::Test::HasFailure(); ++i) both.step(with_faults);
            both.check_all();
            EXPECT_GT(both.most_listed(), 50u) << "the list was always short";
            EXPECT_EQ(both.failures() > 50, with_faults);
            if (testing::Test::HasFailure()) return;
        }
    }
}

// The list alone, through many sizes.
TEST(digest_list_model, holds_the_keys_put_in_and_not_taken_out) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        test::splitmix chance{seed};
        digest_list list;
        std::set<digest> model;
        std::vector<digest> seen;
        for (int i = 0; i < 30'000; ++i) {
            if (chance.below(4) != 0 || seen.empty()) {
                digest d{chance(), chance()};
                if (chance.below(8) == 0 && !seen.empty()) d.position = seen[chance.below(seen.size())].position;
                if (chance.below(64) == 0) d.position = chance.below(2) == 0 ? 0 : ~std::uint64_t{0};
                ASSERT_FALSE(list.contains(d));
                const auto inserted = list.insert(d);
                ASSERT_TRUE(inserted);
                ASSERT_TRUE(*inserted);
                model.insert(d);
                seen.push_back(d);
            } else {
                const digest d = seen[chance.below(seen.size())];
                ASSERT_EQ(list.erase(d), model.erase(d) == 1);
            }
        }
        EXPECT_EQ(list.size(), model.size());
        for (const digest& d : seen) ASSERT_EQ(list.contains(d), model.contains(d));
        EXPECT_LE(list.allocated_bytes(), digest_list::bytes_for(seen.size()));
    }
}

}  // namespace
}  // namespace genista::whitelist_test
