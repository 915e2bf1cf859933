// learning_filter: a filter in front of a slow store learns from its false positives: absent keys
// that are queried twice cost their reads once.
#include <cstdint>
#include <cstdio>
#include <string>

#include "genista/filters/broom.hpp"
#include "genista/remote/memory_map.hpp"

int main() {
    auto made = genista::broom_filter::make({.capacity = 20'000, .false_positive_rate = 1.0 / 256});
    if (!made) {
        std::fprintf(stderr, "%.*s\n", static_cast<int>(made.error().message().size()), made.error().message().data());
        return 1;
    }
    genista::broom_filter filter = *std::move(made);

    // Stands for the slow store: it holds the keys, ordered by the filter's hash.
    genista::memory_map store;

    for (int i = 0; i < 20'000; ++i) {
        const std::string key = "user:" + std::to_string(i);
        if (!store.put(filter.hash()(key), key)) return 1;  // the store first,
        if (!filter.insert(key, store)) return 1;           // then the filter
    }

    for (int round = 1; round <= 3; ++round) {
        int reads = 0;
        for (int i = 0; i < 100'000; ++i) {
            const std::string key = "robot:" + std::to_string(i);
            if (!filter.may_contain(key)) continue;  // most absent keys end here
            ++reads;
            const auto there = store.contains(filter.hash()(key), key);
            if (there && !*there && !filter.adapt(key, store)) return 1;  // a false positive: the filter learns
        }
        std::printf("round %d: %d of 100000 absent keys reached the store\n", round, reads);
    }
    for (int i = 0; i < 20'000; ++i) {
        if (!filter.may_contain("user:" + std::to_string(i))) return 1;  // never
    }
    return 0;
}
