// Runs random operations on daisy_broom_filter and a std::set of the keys in R: inserts, erases in
// all forms, adapts, growth, rebuilds, snapshots, with oracles that have nothing to do with the
// keys, and with a store that works or fails. A stored key is never answered no; a fixed false
// positive is. The list of exceptions is short, so that the deferred band opens during the run: at
// once, early, or late.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "genista/filters/daisy_broom.hpp"
#include "genista/format/sink.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/remote/faulty_map.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::daisy_broom_model_test {
namespace {

using test::scripted_oracle;
using filter = daisy_broom_filter<scripted_oracle>;

constexpr daisy_terms terms{400, 0x1p-14};
constexpr std::uint64_t universe = 3'000;

enum class opinion : unsigned char { right, constant, inverted, shuffled, all_of_class_0 };
constexpr opinion all_opinions[] = {opinion::right, opinion::constant, opinion::inverted, opinion::shuffled,
                                    opinion::all_of_class_0};

// Keys below 1000 are of class 0, below 2000 of class 9, the others of class 14. The plan is made
// for these shares.
unsigned class_by(opinion of, std::uint64_t key) {
    constexpr unsigned classes[] = {0, 9, 14};
    const std::uint64_t part = key / 1000 % 3;
    switch (of) {
        case opinion::right:
            return classes[part];
        case opinion::constant:
            return 11;
        case opinion::inverted:
            return classes[2 - part];
        case opinion::shuffled:
            return static_cast<unsigned>((key * 0x9e3779b97f4a7c15u >> 32) % 15);
        case opinion::all_of_class_0:
            return 0;
    }
    return 0;
}

class driven {
  public:
    driven(opinion of, std::uint64_t seed, std::uint64_t exception_bytes, bool late = true)
        : chance_{seed},
          oracle_{std::make_shared<scripted_oracle>(
              [of](std::uint64_t key) { return test::odds_of_class(class_by(of, key), terms); },
              static_cast<std::uint64_t>(of))},
          filter_{*filter::make(options(seed, exception_bytes, late),
                                test::plan_of(terms, {{0, {0.4, 0}}, {9, {0.3, 0.4}}, {14, {0.3, 0.6}}}), oracle_)} {}

    void step(bool with_faults) {
        const std::uint64_t key = chance_.below(universe);
        break_store(with_faults);
        switch (chance_.below(12)) {
            case 0:
            case 1:
            case 2:
                insert(key);
                break;
            case 3:
            case 4:
                erase(key);
                break;
            case 5:
                if (chance_.below(60) == 0) sweep();
                break;
            case 6:
                if (chance_.below(40) == 0) reload();
                break;
            default:
                adapt(key);
        }
        check(key);
    }
    void check_all() {
        for (std::uint64_t key = 0; key < universe; ++key) check(key);
        const auto sound = filter_.audit(store_);
        ASSERT_TRUE(sound) << sound.error().message();
    }
    [[nodiscard]] std::uint64_t fixed() const noexcept { return fixed_; }
    [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }
    [[nodiscard]] const deferred_band* deferred() const noexcept { return filter_.deferred(); }

  private:
    static daisy_broom_options options(std::uint64_t seed, std::uint64_t exception_bytes, bool late) {
        daisy_broom_options made;
        made.hash = hasher{hash_key::from_seed(seed)};
        made.random = repeatable(seed);
        made.exception_bytes = exception_bytes;
        made.deferred_band = late;
        return made;
    }
    void check(std::uint64_t key) {
        ASSERT_TRUE(filter_.may_contain(key) || !members_.contains(key)) << "a false negative: " << key;
    }
    // Every fault but stale answers, because the expected answers follow from R.
    void break_store(bool with_faults) {
        fault_plan plan{.seed = chance_()};
        if (with_faults) {
            for (const fault_kind kind : all_fault_kinds) {
                if (kind != fault_kind::stale) plan.rates.push_back({kind, 0.04});
            }
        }
        ASSERT_TRUE(faulty_.set_plan(std::move(plan)));
    }
    [[nodiscard]] bool held(std::uint64_t key) {
        return *store_.contains(filter_.hash()(key), integer_key{key}.view());
    }
    // If the insert fails the key is not stored yet although R holds it; the store takes it back.
    void insert(std::uint64_t key) {
        if (members_.contains(key) && chance_.below(4) != 0) return;
        (void)faulty_.put(filter_.hash()(key), integer_key{key}.view());
        if (!held(key)) return;
        const auto outcome = filter_.insert(key, faulty_);
        if (outcome && *outcome != insert_outcome::full) {
            members_.insert(key);
            return;
        }
        ++failures_;
        if (!members_.contains(key)) {
            ASSERT_TRUE(store_.erase(filter_.hash()(key), integer_key{key}.view()));
            (void)filter_.forget(key, store_);
        }
    }
    void erase(std::uint64_t key) {
        const bool member = members_.erase(key) != 0;
        if (chance_.below(3) == 0) {
            (void)store_.erase(filter_.hash()(key), integer_key{key}.view());
            failures_ += filter_.forget(key, faulty_) ? 0u : 1u;
            return;
        }
        const integer_key bytes{key};
        const bool vouch = member && chance_.below(2) == 0;
        const auto gone = vouch ? filter_.erase(bytes.view(), faulty_, assume_present) : filter_.erase(key, faulty_);
        if (!gone) {
            ++failures_;
            if (held(key)) members_.insert(key);  // nothing happened
        } else {
            EXPECT_EQ(*gone == erase_outcome::erased, member) << key;
        }
    }
    void adapt(std::uint64_t key) {
        const bool maybe = filter_.may_contain(key);
        const auto outcome = filter_.adapt(key, faulty_);
        if (!outcome) {
            ++failures_;
            return;
        }
        const bool member = members_.contains(key);
        if (filter_.exceptions().can_exclude() || filter_.deferred() != nullptr) {
            EXPECT_EQ(*outcome == adapt_outcome::true_positive, maybe && member) << key;
        }
        if (*outcome != adapt_outcome::fixed) return;
        ++fixed_;
        EXPECT_FALSE(filter_.may_contain(key))
            << "adapt reports `fixed`, and the key is still a false positive: " << key;
    }
    void sweep() {
        const auto done = chance_.below(2) == 0 ? filter_.grow(faulty_) : filter_.rebuild(faulty_);
        failures_ += done ? 0u : 1u;
    }
    void reload() {
        std::vector<bool> before;
        for (std::uint64_t key = 0; key < universe; ++key) before.push_back(filter_.may_contain(key));
        vector_sink out;
        ASSERT_TRUE(filter_.save(out));
        auto loaded = filter::load(out.bytes(), oracle_);
        ASSERT_TRUE(loaded) << loaded.error().message();
        filter_ = *std::move(loaded);
        for (std::uint64_t key = 0; key < universe; ++key) ASSERT_EQ(filter_.may_contain(key), before[key]) << key;
    }

    test::splitmix chance_;
    std::shared_ptr<const scripted_oracle> oracle_;
    memory_map store_;
    faulty_map<memory_map> faulty_{store_, {.sleep = [](auto) {}}};
    filter filter_;
    std::set<std::uint64_t> members_;
    std::uint64_t fixed_ = 0, failures_ = 0;
};

TEST(daisy_broom_model, no_false_negative_whatever_the_oracle_says) {
    for (std::uint64_t seed = 1; seed <= test::scaled<std::uint64_t>(2, 60); ++seed) {
        for (const opinion of : all_opinions) {
            for (const bool with_faults : {false, true}) {
                const std::uint64_t buckets = std::array{0u, 4u, 16u}[(seed + static_cast<unsigned>(of)) % 3];
                driven both{of, seed, buckets * absent_cells::bucket_bytes};
                for (int i = 0; i < 6'000 && !testing::Test::HasFailure(); ++i) both.step(with_faults);
                both.check_all();
                // With shuffled odds 200 keys are of class 0: too few false positives to fill a
                // list.
                if (of != opinion::constant && (buckets == 0 || (buckets == 4 && of != opinion::shuffled))) {
                    EXPECT_NE(both.deferred(), nullptr) << "the band never opened";
                }
                EXPECT_EQ(both.failures() > 20, with_faults) << both.failures();
                if (buckets != 0 && of != opinion::constant) {
                    EXPECT_GT(both.fixed(), 50u) << "hardly any false positive was fixed";
                }
                if (testing::Test::HasFailure()) FAIL() << "seed " << seed << ", opinion " << static_cast<int>(of);
            }
        }
    }
}

TEST(daisy_broom_model, a_list_without_a_band_forgets_and_loses_no_key) {
    driven both{opinion::all_of_class_0, 1, 4 * absent_cells::bucket_bytes, false};
    for (int i = 0; i < 6'000 && !testing::Test::HasFailure(); ++i) both.step(i % 2 == 0);
    both.check_all();
    EXPECT_EQ(both.deferred(), nullptr);
    EXPECT_GT(both.fixed(), 500u);
}

TEST(daisy_broom_model, a_list_without_room_costs_reads_and_no_key) {
    driven both{opinion::all_of_class_0, 1, 0, false};
    for (int i = 0; i < 3'000 && !testing::Test::HasFailure(); ++i) both.step(false);
    both.check_all();
    EXPECT_EQ(both.fixed(), 0u);
}

// The list alone: it excludes the keys that were excluded and not admitted since, and forgets only
// where a bucket is full.
TEST(daisy_broom_model, absent_cells_are_a_set_that_may_forget) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        test::splitmix chance{seed};
        constexpr std::uint64_t buckets = 3;
        absent_cells cells{buckets * absent_cells::bucket_bytes};
        std::set<std::uint64_t> model;  // what may be excluded
        std::vector<std::uint64_t> positions;
        for (int i = 0; i < 110; ++i) positions.push_back(chance());
        EXPECT_EQ(cells.allocated_bytes(), 0u);
        for (int i = 0; i < 30'000; ++i) {
            const std::uint64_t position = positions[chance.below(positions.size())];
            ASSERT_TRUE(!cells.excludes(position) || model.contains(position));
            if (chance.below(6) == 0) {
                cells.admit(position);
                model.erase(position);
                ASSERT_FALSE(cells.excludes(position));
                continue;
            }
            const auto ticket = cells.draw(position);
            ASSERT_TRUE(ticket);
            ASSERT_TRUE(cells.range_of(*ticket).contains(position));
            if (chance.below(4) == 0) {
                cells.admit(position ^ 1);  // the same cell, or another one in its bucket
                model.erase(position);
                ASSERT_FALSE(cells.exclude(*ticket)) << "its bucket changed, and the ticket is still valid";
                continue;
            }
            const std::uint64_t forgotten = cells.forgotten(), before = cells.size();
            const bool was_there = cells.excludes(position);
            ASSERT_TRUE(cells.exclude(*ticket));
            ASSERT_TRUE(cells.excludes(position));
            ASSERT_EQ(cells.size(), before + (was_there || cells.forgotten() != forgotten ? 0 : 1));
            model.insert(position);
        }
        EXPECT_GT(cells.forgotten(), 0u);
        EXPECT_GT(cells.size(), 60u);
        std::vector<std::uint32_t> words(cells.saved_words());
        cells.save(words);
        absent_cells again{buckets * absent_cells::bucket_bytes};
        ASSERT_TRUE(again.restore(words));
        for (const std::uint64_t position : positions) ASSERT_EQ(again.excludes(position), cells.excludes(position));
        words[0] = absent_cells::cells_of_a_bucket + 1;
        EXPECT_FALSE(again.restore(words));
        EXPECT_FALSE(again.restore(std::span{words}.first(32)));
    }
}

}  // namespace
}  // namespace genista::daisy_broom_model_test
