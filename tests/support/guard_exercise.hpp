// What every guard must do, whatever its filter and its store: answer like a map, and deny no key
// that was seen in the store.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/splitmix.hpp"

namespace genista::test {

// The keys of the exercises.
inline std::string key_text(std::uint64_t number) {
    return "key-" + std::to_string(number);
}

struct guard_operations {
    int steps = 0;
    std::uint64_t keys = 0;              // different ones
    std::uint64_t puts = 4, erases = 2;  // of ten operations; the others ask
    std::size_t most_stored = std::numeric_limits<std::size_t>::max();
};

// One key: put twice, erased twice. REQUIRES: guard is empty.
template <class Guard>
void expect_puts_and_erases(Guard& guard) {
    ASSERT_TRUE(guard.put("ada", "1815"));
    ASSERT_TRUE(guard.put("ada", "countess"));
    EXPECT_EQ(guard.filter().stats().keys, 1u);
    EXPECT_EQ(**guard.get("ada"), "countess");
    EXPECT_FALSE(guard.get("nobody")->has_value());
    ASSERT_TRUE(guard.erase("ada"));
    ASSERT_TRUE(guard.erase("ada"));
    ASSERT_TRUE(guard.erase("never there"));
    EXPECT_FALSE(guard.get("ada")->has_value());
    EXPECT_EQ(guard.filter().stats().keys, 0u);
}

// Random operations on the guard and on `truth`, which agree before and afterwards.
template <class Guard>
void expect_a_map(Guard& guard, std::map<std::string, std::string>& truth, splitmix& chance,
                  const guard_operations& what) {
    for (int step = 0; step < what.steps; ++step) {
        const std::string key = key_text(chance.below(what.keys));
        const std::uint64_t which = chance.below(10);
        if (which < what.puts && truth.size() < what.most_stored) {
            const std::string value = std::to_string(chance());
            ASSERT_TRUE(guard.put(key, value));
            truth[key] = value;
        } else if (which < what.puts + what.erases) {
            ASSERT_TRUE(guard.erase(key));
            truth.erase(key);
        } else {
            const auto got = guard.get(key);
            ASSERT_TRUE(got);
            ASSERT_EQ(got->has_value(), truth.contains(key)) << key;
            if (got->has_value()) {
                ASSERT_EQ(**got, truth[key]);
            }
        }
    }
}

// Calls write(i) for 0 … keys - 1, shared out among threads. Meanwhile another thread looks at each
// key in the store, by is_there(i), and then through the guard. Returns how many keys were denied
// that had been seen in the store.
template <class Guard, class IsThere, class Write>
[[nodiscard]] std::uint64_t denied_while_writing(Guard& guard, std::uint64_t keys, unsigned threads,
                                                 const IsThere& is_there, const Write& write) {
    std::atomic<std::uint64_t> denied{0};
    std::atomic<bool> done{false};
    std::thread reader{[&] {
        while (!done.load()) {
            for (std::uint64_t i = 0; i < keys; ++i) {
                if (is_there(i) && !guard.get(key_text(i))->has_value()) ++denied;
            }
        }
    }};
    std::vector<std::thread> writers;
    for (unsigned w = 0; w < threads; ++w) {
        writers.emplace_back([&, w] {
            for (std::uint64_t i = w; i < keys; i += threads) write(i);
        });
    }
    for (std::thread& each : writers) each.join();
    done = true;
    reader.join();
    return denied.load();
}

}  // namespace genista::test
