// Which thread may write without a lock: the first thread to write is the owner and needs none,
// until a second thread writes; and never do two threads write at once.
//
// Where the kernel offers no barrier, and under a sanitizer, a filter takes locks from the start:
// the tests of the owner are then skipped, and those of exclusion test plain locks.
#include "filters/broom/writers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <span>
#include <thread>
#include <vector>

#include "genista/filters/broom.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/broom_world.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::broom_writers_test {
namespace {

using broom::writers;

bool owners_exist() {
    writers probe;
    if (!probe.enter()) return false;
    probe.leave();
    return true;
}

bool enters_alone(writers& all) {
    const bool alone = all.enter();
    if (alone) all.leave();
    return alone;
}

// Two plain numbers that only one thread at a time may change, and a lock for threads other than
// the owner, as in table::lock.
class plain_pair {
  public:
    // Waits between the two changes. True: the thread was the owner.
    bool add_one(unsigned wait = 0) {
        const bool alone = all_.enter();
        if (!alone) {
            while (lock_.exchange(1, std::memory_order_acquire) != 0) std::this_thread::yield();
        }
        torn_ += first_ == second_ ? 0u : 1u;
        first_ = first_ + 1;
        for (volatile unsigned i = 0; i < wait;) i = i + 1;
        second_ = second_ + 1;
        if (alone) {
            ++alone_;
            all_.leave();
        } else {
            lock_.store(0, std::memory_order_release);
        }
        return alone;
    }
    // Only after all threads have ended.
    [[nodiscard]] std::uint64_t sum() const { return first_; }
    [[nodiscard]] std::uint64_t alone() const { return alone_; }
    [[nodiscard]] bool whole() const { return torn_ == 0 && first_ == second_; }

  private:
    writers all_;
    std::atomic<std::uint32_t> lock_ = 0;
    volatile std::uint64_t first_ = 0;  // volatile: read and written at every step, and still not atomic
    volatile std::uint64_t second_ = 0;
    std::uint64_t torn_ = 0;
    std::uint64_t alone_ = 0;
};

class broom_owner : public testing::Test {
  protected:
    void SetUp() override {
        if (!owners_exist()) GTEST_SKIP() << "the kernel offers no barrier here: every thread takes locks";
    }
    writers all;
};

TEST_F(broom_owner, the_first_thread_stays_the_owner) {
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(enters_alone(all));
}

TEST_F(broom_owner, the_owner_may_enter_again_before_it_leaves) {
    for (int depth = 0; depth < 5; ++depth) ASSERT_TRUE(all.enter());
    for (int depth = 0; depth < 5; ++depth) all.leave();
    std::jthread{[&] { EXPECT_FALSE(all.enter()); }}.join();  // it would wait for ever if the owner had not left
}

TEST_F(broom_owner, after_a_second_thread_there_is_no_owner_again) {
    ASSERT_TRUE(enters_alone(all));
    std::jthread{[&] { EXPECT_FALSE(all.enter()); }}.join();
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(all.enter());
    std::jthread{[&] { EXPECT_FALSE(all.enter()); }}.join();
}

TEST_F(broom_owner, each_filter_has_its_own_owner) {
    writers other;
    ASSERT_TRUE(all.enter());
    std::jthread{[&] { EXPECT_TRUE(enters_alone(other)); }}.join();
    all.leave();
    EXPECT_FALSE(other.enter());
    EXPECT_TRUE(enters_alone(all));
}

TEST_F(broom_owner, a_second_thread_waits_until_the_owner_has_left) {
    for (int round = 0; round < 50; ++round) {
        writers fresh;
        int written = 0;  // not atomic: only the owner writes it before it leaves
        std::atomic<bool> let_in = false;
        std::latch coming{1};
        ASSERT_TRUE(fresh.enter());
        std::jthread second{[&] {
            coming.count_down();
            EXPECT_FALSE(fresh.enter());
            let_in = true;
            EXPECT_EQ(written, 100);
        }};
        coming.wait();
        for (int i = 0; i < 100; ++i) {
            ASSERT_TRUE(fresh.enter()) << "an owner that has entered stays the owner";
            ++written;
            fresh.leave();
            std::this_thread::yield();
            ASSERT_FALSE(let_in.load());
        }
        fresh.leave();
        second.join();
        EXPECT_FALSE(fresh.enter());
    }
}

TEST_F(broom_owner, several_other_threads_at_once_all_wait) {
    for (int round = 0; round < 50; ++round) {
        writers fresh;
        std::atomic<int> let_in = 0;
        std::latch coming{3};
        ASSERT_TRUE(fresh.enter());
        std::vector<std::jthread> others;
        for (int i = 0; i < 3; ++i) {
            others.emplace_back([&] {
                coming.arrive_and_wait();
                EXPECT_FALSE(fresh.enter());
                ++let_in;
            });
        }
        coming.wait();
        for (int i = 0; i < 20; ++i) {
            std::this_thread::yield();
            ASSERT_EQ(let_in.load(), 0);
        }
        fresh.leave();
    }
}

TEST_F(broom_owner, an_owner_that_has_ended_delays_no_thread) {
    std::jthread{[&] { EXPECT_TRUE(enters_alone(all)); }}.join();
    EXPECT_FALSE(all.enter());
    std::jthread{[&] { EXPECT_FALSE(all.enter()); }}.join();
}

// A thread may get the address, and so the rights, of one that has ended: it is then the owner.
TEST(broom_writers, threads_one_after_the_other_lose_no_write) {
    plain_pair pair;
    for (int i = 0; i < 50; ++i) {
        std::jthread{[&] {
            for (int step = 0; step < 100; ++step) pair.add_one();
        }}.join();
    }
    EXPECT_EQ(pair.sum(), 5000u);
    EXPECT_TRUE(pair.whole());
}

TEST(broom_writers, never_do_two_threads_write_at_once) {
    const std::uint64_t steps = test::effort(3000, 1000, 30'000);
    const std::uint64_t rounds = test::effort(60, 20, 200);
    for (unsigned others = 1; others <= 3; ++others) {
        std::uint64_t alone = 0;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            plain_pair pair;
            std::atomic<std::uint64_t> done = 0;  // writes of the first thread
            {
                std::vector<std::jthread> team;
                team.emplace_back([&] {
                    for (std::uint64_t i = 1; i <= steps; ++i) {
                        pair.add_one();
                        done.store(i, std::memory_order_relaxed);
                    }
                });
                for (unsigned t = 0; t < others; ++t) {
                    team.emplace_back([&] {
                        while (done.load(std::memory_order_relaxed) < steps * round / rounds) std::this_thread::yield();
                        for (std::uint64_t i = 0; i < steps; ++i) pair.add_one();
                    });
                }
            }
            ASSERT_EQ(pair.sum(), (others + 1) * steps) << "a write was lost in round " << round;
            ASSERT_TRUE(pair.whole()) << "two threads wrote at once in round " << round;
            alone += pair.alone();
        }
        if (owners_exist()) {
            EXPECT_GT(alone, steps);  // otherwise this test was about locks only
        }
    }
}

// The owner's store "I am writing" may still be in its processor's store buffer when a second
// thread ends the ownership: the barrier is for this case. Each write takes long enough for two
// that overlap to be seen, and the second thread starts at a random moment.
TEST(broom_writers, a_second_thread_at_any_moment_sees_that_the_owner_is_writing) {
    const std::uint64_t rounds = test::effort(2000, 100, 50'000);
    std::vector<plain_pair> pairs(rounds);
    std::vector<std::uint64_t> steps(rounds);  // writes of the owner
    std::atomic<std::uint64_t> owned = 0;      // pairs that have an owner
    {
        const std::jthread owner{[&] {
            for (std::uint64_t round = 0; round < rounds; ++round) {
                bool alone = pairs[round].add_one();
                owned.store(round + 1);
                for (steps[round] = 1; alone; ++steps[round]) alone = pairs[round].add_one(40);
            }
        }};
        test::splitmix chance{1};
        for (std::uint64_t round = 0; round < rounds; ++round) {
            while (owned.load() <= round) std::this_thread::yield();
            for (volatile std::uint64_t i = chance.below(400); i > 0;) i = i - 1;
            (void)pairs[round].add_one(40);
        }
    }
    for (std::uint64_t round = 0; round < rounds; ++round) {
        ASSERT_EQ(pairs[round].sum(), steps[round] + 1) << "a write was lost in round " << round;
        ASSERT_TRUE(pairs[round].whole()) << "two threads wrote at once in round " << round;
    }
}

// One thread writes alone, a second one joins it at another moment in every round, and a third
// queries everything that has been inserted so far.
class shared_insertion {
  public:
    shared_insertion(const broom_options& options, std::uint64_t keys_each)
        : keys_each_{keys_each}, filter_{*broom_filter::make(options)} {
        // The store has committed all keys beforehand, so that only the filter orders the writers.
        // But a filter that grows must not see an R much larger than itself.
        if (!options.grows) {
            for (std::uint64_t key = 0; key < 2 * keys_each; ++key) commit(key);
        }
        commits_ = options.grows;
    }

    void run(std::uint64_t second_begins_at, bool in_batches) {
        {
            std::jthread first{[&] { write(0, in_batches); }};
            std::jthread second{[&] {
                while (done_[0].load() < second_begins_at) std::this_thread::yield();
                write(1, in_batches);
            }};
            std::jthread reader{[&] {
                while (done_[0].load() + done_[1].load() < 2 * keys_each_) read();
                read();
            }};
        }
        EXPECT_EQ(failed_.load(), 0u);
        EXPECT_EQ(denied_.load(), 0u) << "false negatives";
        const auto sound = filter_.audit(remote_);
        EXPECT_TRUE(sound) << sound.error().message();
        EXPECT_EQ(filter_.stats().keys, 2 * keys_each_);
    }

  private:
    void commit(std::uint64_t key) {
        const integer_key bytes{key};
        failed_ += remote_.put(filter_.hash()(key), bytes.view()) ? 0u : 1u;
    }
    void write(std::uint64_t who, bool in_batches) {
        const std::uint64_t batch = in_batches ? 37 : 1;
        std::vector<std::uint64_t> keys;
        for (std::uint64_t from = 0; from < keys_each_; from += batch) {
            const std::uint64_t end = std::min(from + batch, keys_each_);
            keys.clear();
            for (std::uint64_t i = from; i < end; ++i) keys.push_back(who * keys_each_ + i);
            for (std::size_t i = 0; commits_ && i < keys.size(); ++i) commit(keys[i]);
            if (in_batches) {
                const auto inserted = filter_.insert(std::span<const std::uint64_t>{keys}, remote_);
                failed_ += inserted && *inserted == keys.size() ? 0u : 1u;
            } else {
                const auto outcome = filter_.insert(keys[0], remote_);
                failed_ += outcome && *outcome != insert_outcome::full ? 0u : 1u;
            }
            done_[who].store(end);
        }
    }
    // Queries the newest keys of both writers, whose bins are being written, one by one; then all
    // in a batch.
    void read() {
        const std::uint64_t inserted[2] = {done_[0].load(), done_[1].load()};
        asked_.clear();
        for (std::uint64_t who = 0; who < 2; ++who) {
            for (std::uint64_t i = 0; i < inserted[who]; ++i) asked_.push_back(who * keys_each_ + i);
            for (std::uint64_t i = inserted[who] - std::min<std::uint64_t>(inserted[who], 50); i < inserted[who]; ++i)
                denied_ += filter_.may_contain(who * keys_each_ + i) ? 0u : 1u;
        }
        answers_.assign(words_for(asked_.size()), 0);
        filter_.may_contain(std::span<const std::uint64_t>{asked_}, answers_);
        for (std::size_t i = 0; i < asked_.size(); ++i) denied_ += (answers_[i / 64] >> (i % 64) & 1) != 0 ? 0u : 1u;
    }

    std::uint64_t keys_each_;
    broom_filter filter_;
    memory_map remote_;
    bool commits_ = false;
    std::atomic<std::uint64_t> done_[2] = {0, 0};
    std::atomic<std::uint64_t> failed_ = 0;
    std::atomic<std::uint64_t> denied_ = 0;
    std::vector<std::uint64_t> asked_;  // used by the reader only
    std::vector<std::uint64_t> answers_;
};

void join_at_many_moments(std::uint64_t capacity, bool grows) {
    constexpr std::uint64_t keys_each = 2000;
    const std::uint64_t rounds = test::effort(40, 6, 500);
    for (const double rate : {0x1p-8, 0x1p-12}) {
        for (std::uint64_t round = 0; round < rounds; ++round) {
            shared_insertion race{{.capacity = capacity,
                                   .false_positive_rate = rate,
                                   .hash = hasher{hash_key::from_seed(round)},
                                   .key_is_new = round % 2 == 0,
                                   .grows = grows,
                                   .random = repeatable(round)},
                                  keys_each};
            race.run(keys_each * round / rounds, round / 2 % 2 == 0);
            if (testing::Test::HasFailure()) return;
        }
    }
}

TEST(broom_writers, no_key_is_lost_when_a_second_thread_begins_to_insert) {
    join_at_many_moments(4000, false);
}

TEST(broom_writers, no_key_is_lost_when_a_second_thread_begins_and_the_filter_grows) {
    join_at_many_moments(300, true);
}

// One writer and one reader of batches: keys are inserted in batches of all sizes, and some that
// are never queried are inserted and erased.
class lone_writer {
  public:
    lone_writer(const broom_options& options, std::size_t count) : keys_(count), filter_{*broom_filter::make(options)} {
        test::splitmix chance{3};
        for (std::uint64_t& key : keys_) key = chance();
    }

    void run() {
        {
            const std::jthread writer{[this] { write(); }};
            read();
        }
        EXPECT_EQ(denied_, 0u) << "false negatives";
        EXPECT_EQ(failed_, 0u);
        const auto sound = filter_.audit(remote_);
        EXPECT_TRUE(sound) << sound.error().message();
        EXPECT_EQ(filter_.stats().keys, keys_.size());
    }

  private:
    void commit(std::uint64_t key) {
        const integer_key bytes{key};
        failed_ += remote_.put(filter_.hash()(key), bytes.view()) ? 0u : 1u;
    }
    void write() {
        test::splitmix chance{2};
        for (std::size_t from = 0; from < keys_.size();) {
            const auto batch = std::span<const std::uint64_t>{keys_}.subspan(from).first(
                std::min<std::size_t>(keys_.size() - from, chance.below(400)));
            for (const std::uint64_t key : batch) commit(key);
            const auto outcome = filter_.insert(batch, remote_);
            failed_ += outcome && *outcome == batch.size() ? 0u : 1u;
            from += batch.size();
            inserted_.store(from);
            const std::uint64_t passer_by = chance();
            failed_ += filter_.adapt(passer_by, remote_) ? 0u : 1u;
            commit(passer_by);
            failed_ += filter_.insert(passer_by, remote_) ? 0u : 1u;
            failed_ += filter_.erase(passer_by, remote_) ? 0u : 1u;
        }
    }
    // Queries the oldest or the newest keys.
    void read() {
        constexpr std::size_t most = 1000;
        test::splitmix chance{5};
        std::vector<std::uint64_t> answers(words_for(most));
        while (inserted_.load() < keys_.size()) {
            const std::size_t there = inserted_.load();
            const std::size_t count = std::min<std::size_t>(there, chance.below(most));
            const std::size_t from = chance.below(2) == 0 ? 0 : there - count;
            filter_.may_contain(std::span<const std::uint64_t>{keys_}.subspan(from, count), answers);
            for (std::size_t i = 0; i < count; ++i) denied_ += (answers[i / 64] >> (i % 64) & 1) != 0 ? 0u : 1u;
        }
    }

    std::vector<std::uint64_t> keys_;
    broom_filter filter_;
    memory_map remote_;
    std::atomic<std::size_t> inserted_ = 0;
    std::uint64_t failed_ = 0;  // written by the writer
    std::uint64_t denied_ = 0;  // written by the reader
};

TEST(broom_writers, batched_look_ups_beside_one_writer_give_no_false_negative) {
    const std::size_t keys = test::effort(60'000, 8000, 1'000'000);
    for (const double rate : {0x1p-8, 0x1p-12}) {
        for (const bool grows : {false, true}) {
            lone_writer race{{.capacity = grows ? 300 : keys,
                              .false_positive_rate = rate,
                              .hash = hasher{hash_key::from_seed(21)},
                              .grows = grows,
                              .random = repeatable(4)},
                             keys};
            race.run();
        }
    }
}

TEST(broom_writers, a_filter_whose_first_writer_has_ended_keeps_working) {
    auto filter =
        *broom_filter::make({.capacity = 1000, .hash = hasher{hash_key::from_seed(3)}, .random = repeatable(3)});
    memory_map remote;
    for (std::uint64_t thread = 0; thread < 8; ++thread) {
        std::jthread{[&] {
            for (std::uint64_t key = thread * 300; key < (thread + 1) * 300; ++key) {
                const integer_key bytes{key};
                EXPECT_TRUE(remote.put(filter.hash()(key), bytes.view()));
                EXPECT_TRUE(filter.insert(key, remote));
            }
        }}.join();
        const auto sound = filter.audit(remote);
        ASSERT_TRUE(sound) << sound.error().message();
        ASSERT_EQ(filter.stats().keys, (thread + 1) * 300);
    }
}

}  // namespace
}  // namespace genista::broom_writers_test
