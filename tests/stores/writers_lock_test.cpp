// writers_lock: many writers at once, or one thread alone. A thread that waits to be alone gets its
// turn.
#include "genista/detail/stores/rocksdb/writers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/scale.hpp"

namespace genista::test::writers_lock_test {
namespace {

using rocks::writers_lock;

TEST(writers_lock, no_writer_is_inside_while_the_lock_is_exclusive) {
    writers_lock lock;
    std::uint64_t guarded = 0;  // not atomic: the lock must protect it
    std::atomic<int> inside{0};
    std::atomic<std::uint64_t> trouble{0};
    std::vector<std::thread> threads;
    const int rounds = scaled(5000, 500000);
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < rounds; ++i) {
                const writers_lock::shared in{lock};
                inside.fetch_add(1);
                inside.fetch_sub(1);
            }
        });
    }
    for (int t = 0; t < 2; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < rounds / 10; ++i) {
                const writers_lock::exclusive alone{lock};
                ++guarded;
                if (inside.load() != 0) ++trouble;
            }
        });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(trouble.load(), 0u);
    EXPECT_EQ(guarded, static_cast<std::uint64_t>(rounds / 10) * 2);
}

// Writers that overlap without end: one is always inside, and the exclusive lock still gets its
// turn.
TEST(writers_lock, an_unbroken_stream_of_writers_does_not_starve_an_exclusive_lock) {
    writers_lock lock;
    std::atomic<bool> done{false};
    std::atomic<int> holders{0};
    std::vector<std::thread> writers;
    for (int t = 0; t < 2; ++t) {
        writers.emplace_back([&] {
            while (!done.load()) {
                const writers_lock::shared in{lock};
                holders.fetch_add(1);
                // Leaves only when another writer is inside too, or after the exclusive locks are
                // done.
                for (int spin = 0; spin < 1000 && holders.load() < 2 && !done.load(); ++spin) std::this_thread::yield();
                holders.fetch_sub(1);
            }
        });
    }
    for (int turn = 0; turn < 50; ++turn) {
        const writers_lock::exclusive alone{lock};
        EXPECT_EQ(holders.load(), 0);
    }
    done = true;
    for (std::thread& each : writers) each.join();
}

}  // namespace
}  // namespace genista::test::writers_lock_test
