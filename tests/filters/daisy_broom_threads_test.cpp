// daisy_broom_filter with several threads: writers, readers, and adapters that report any key as a
// false positive, mostly keys being written. A query that starts after insert(x) returned and ends
// before erase(x) begins must be true. Most keys are of class 0, for which a race between adapt and
// insert would make a false negative.
//
// Each key has one writer and a stamp of its steps, odd while the key is stored (as in
// support/broom_history.hpp).
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "genista/filters/daisy_broom.hpp"
#include "genista/format/sink.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::daisy_broom_threads_test {
namespace {

using test::scripted_oracle;
using filter = daisy_broom_filter<scripted_oracle>;

constexpr daisy_terms terms{200, 0x1p-12};
constexpr unsigned writers = 2;
constexpr std::uint64_t keys_of_a_writer = 300;

class history {
  public:
    history(std::uint64_t seed, std::uint64_t steps, bool late)
        : steps_{steps},
          late_{late},
          oracle_{std::make_shared<scripted_oracle>([](std::uint64_t key) {
              constexpr unsigned classes[] = {0, 0, 0, 9, 12};
              return test::odds_of_class(classes[key % 5], terms);
          })},
          // Two buckets: other keys are adapted between a ticket and its use all the time, and the
          // band opens soon.
          filter_{*filter::make({.hash = hasher{hash_key::from_seed(seed)},
                                 .exception_bytes = 2 * absent_cells::bucket_bytes,
                                 .deferred_band = late,
                                 .random = repeatable(seed)},
                                test::plan_of(terms, {{0, {0.6, 0}}, {9, {0.2, 0.5}}, {12, {0.2, 0.5}}}), oracle_)},
          stamps_(writers * keys_of_a_writer) {}

    void run() {
        writing_ = writers;
        {
            std::vector<std::jthread> team;
            for (unsigned i = 0; i < writers; ++i) team.emplace_back([this, i] { write(i); });
            team.emplace_back([this] { read(); });
            team.emplace_back([this] { adapt(); });
            team.emplace_back([this] { maintain(); });
        }
        EXPECT_EQ(denied_, 0u);
        EXPECT_EQ(failed_, 0u);
        EXPECT_GT(judged_, 0u);
        EXPECT_GT(fixed_, 0u);
        EXPECT_TRUE(late_ || filter_.deferred() == nullptr);
        EXPECT_TRUE(filter_.audit(remote_));
        for (std::uint64_t key = 0; key < stamps_.size(); ++key) {
            EXPECT_TRUE(stamps_[key] % 2 == 0 || filter_.may_contain(key)) << key;
        }
    }

  private:
    void write(unsigned number) {
        test::splitmix chance{number + 1};
        for (std::uint64_t step = 0; step < steps_; ++step) {
            const std::uint64_t key = chance.below(keys_of_a_writer) * writers + number;
            auto& mine = stamps_[key];
            if (mine.load() % 2 == 0) {
                const bool put = remote_.put(filter_.hash()(key), integer_key{key}.view()).has_value();
                const auto outcome = filter_.insert(key, remote_);
                if (!put || !outcome || *outcome == insert_outcome::full) {
                    ++failed_;
                    continue;
                }
                ++mine;
                if (!filter_.may_contain(key)) ++denied_;
            } else {
                ++mine;
                if (!filter_.erase(key, remote_)) ++failed_;
            }
        }
        --writing_;
    }
    void read() {
        test::splitmix chance{77};
        while (writing_.load() > 0) {
            const std::uint64_t key = chance.below(stamps_.size());
            const std::uint64_t before = stamps_[key].load();
            const bool maybe = filter_.may_contain(key);
            if (before % 2 == 0 || stamps_[key].load() != before) continue;
            ++judged_;
            if (!maybe) ++denied_;
        }
    }
    void adapt() {
        test::splitmix chance{78};
        while (writing_.load() > 0) {
            const auto outcome = filter_.adapt(chance.below(2 * stamps_.size()), remote_);
            if (!outcome) ++failed_;
            if (outcome && *outcome == adapt_outcome::fixed) ++fixed_;
        }
    }
    void maintain() {
        while (writing_.load() > 0) {
            if (!filter_.rebuild(remote_)) ++failed_;
            vector_sink out;
            if (!filter_.save(out) || !filter::load(out.bytes(), oracle_)) ++failed_;
            (void)filter_.drift();
            std::this_thread::yield();
        }
    }

    std::uint64_t steps_;
    bool late_;
    std::shared_ptr<const scripted_oracle> oracle_;
    memory_map remote_;
    filter filter_;
    std::vector<std::atomic<std::uint64_t>> stamps_;
    std::atomic<unsigned> writing_ = 0;
    std::atomic<std::uint64_t> denied_ = 0, failed_ = 0, judged_ = 0, fixed_ = 0;
};

TEST(daisy_broom_threads, no_stored_key_is_answered_no) {
    for (std::uint64_t seed = 1; seed <= test::effort(2, 1, 10); ++seed) {
        for (const bool late : {false, true}) {
            history{seed, test::effort(6'000, 2'000, 20'000), late}.run();
            if (HasFailure()) FAIL() << "seed " << seed << ", late " << late;
        }
    }
}

// The band opens and is built again and again: a writer whose keys are all of class 0, and adapters
// that open the band with the first false positive and build it at once. Every inserted key must be
// found before, while and after. There is no rebuild, which would build all ranges at once.
TEST(daisy_broom_threads, no_insert_is_lost_while_the_band_opens_and_is_built) {
    const auto oracle = std::make_shared<scripted_oracle>([](std::uint64_t) { return test::odds_of_class(0, terms); });
    std::uint64_t denied = 0, laid = 0;
    std::atomic<std::uint64_t> half_built = 0;
    for (std::uint64_t round = 0; round < test::effort(150, 15, 4'000); ++round) {
        memory_map remote;
        filter f = *filter::make(
            {.hash = hasher{hash_key::from_seed(round)}, .exception_bytes = 0, .random = repeatable(round)},
            test::plan_of(terms, {{0, {0.9, 0}}, {12, {0.1, 1}}}), oracle);
        constexpr std::uint64_t keys = 600;
        const std::uint64_t keys_before = round % keys;  // inserted before the first false positive
        std::atomic<std::uint64_t> written = 0, adapted = 0, missed = 0, failed = 0;
        {
            std::jthread writer{[&] {
                for (std::uint64_t key = 0; key < keys; ++key) {
                    // Neither side gets far ahead of the other, however few processors there are.
                    while (key > keys_before && 2 * adapted.load() < key - keys_before) std::this_thread::yield();
                    if (!remote.put(f.hash()(key), integer_key{key}.view()) || !f.insert(key, remote)) ++failed;
                    if (!f.may_contain(key)) ++missed;
                    written.store(key + 1);
                }
            }};
            std::vector<std::jthread> adapters;
            for (std::uint64_t number = 0; number < 2; ++number) {
                adapters.emplace_back([&, number] {
                    test::splitmix chance{2 * round + number};
                    while (written.load() < keys_before) std::this_thread::yield();
                    while (written.load() < keys) {
                        const std::uint64_t before = written.load();
                        if (adapted.load() > 2 * (before - keys_before) + 4) {
                            std::this_thread::yield();
                            continue;
                        }
                        if (before != 0 && !f.may_contain(chance.below(before))) ++missed;
                        if (!f.adapt(chance.below(2 * keys), remote)) ++failed;
                        ++adapted;
                        half_built += f.deferred() != nullptr && !f.deferred()->is_all_built() ? 1u : 0u;
                    }
                });
            }
        }
        EXPECT_EQ(failed, 0u);
        for (std::uint64_t key = 0; key < keys; ++key) denied += f.may_contain(key) ? 0u : 1u;
        denied += missed;
        laid += f.deferred() == nullptr ? 0 : f.deferred()->built();
        ASSERT_TRUE(f.audit(remote)) << round;
        ASSERT_EQ(denied, 0u) << round;
    }
    EXPECT_GT(laid, 0u);
    EXPECT_GT(half_built, 0u) << "no thread saw the band partly built";
}

// The race itself, without R's lock around it: the key is inserted after an adapt has read R.
TEST(daisy_broom_threads, an_insert_between_ticket_and_exclusion_voids_the_ticket) {
    absent_cells cells{absent_cells::bucket_bytes};
    const auto ticket = cells.draw(12345);
    ASSERT_TRUE(ticket);
    cells.admit(12345);
    EXPECT_FALSE(cells.exclude(*ticket));
    EXPECT_FALSE(cells.excludes(12345));
    std::atomic<std::uint64_t> stage = 0, wrong = 0;
    const std::uint64_t rounds = test::effort(3'000, 1'000, 100'000);
    {
        // R is one bit: in each round the key arrives while the other thread excludes it.
        std::atomic<std::uint64_t> arrived = 0;
        std::jthread inserts{[&] {
            for (std::uint64_t round = 1; round <= rounds; ++round) {
                while (stage.load() != round) std::this_thread::yield();
                arrived.store(round);
                cells.admit(777);
                if (cells.excludes(777)) ++wrong;
                stage.store(round + (std::uint64_t{1} << 40));
            }
        }};
        for (std::uint64_t round = 1; round <= rounds; ++round) {
            stage.store(round);
            const auto drawn = cells.draw(777);
            if (arrived.load() != round) (void)cells.exclude(*drawn);
            while (stage.load() != round + (std::uint64_t{1} << 40)) std::this_thread::yield();
            if (cells.excludes(777)) ++wrong;
        }
    }
    EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace genista::daisy_broom_threads_test
