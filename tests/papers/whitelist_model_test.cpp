// Runs random operations on whitelist_filter and an exact model: a Bloom filter of its own, a
// std::set of listed keys, and a std::set of what R holds. With a store that works and with one
// that fails; every answer is compared, those for absent keys too.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "genista/filters/bloom.hpp"
#include "genista/remote/memory_map.hpp"
#include "papers/whitelist.hpp"
#include "papers/whitelist/digest_list.hpp"
#include "support/remote/faulty_map.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::whitelist_model_test {
namespace {

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
}  // namespace genista::whitelist_model_test
