// first_filter: a filter in front of a slow store, in thirty lines. README.md explains it.
#include <cstdio>
#include <string>
#include <unordered_set>

#include "genista/filters/blocked_bloom.hpp"

int main() {
    // Stands for a slow store, on a disk or behind a network.
    std::unordered_set<std::string> slow_store;
    for (int i = 0; i < 100'000; ++i) slow_store.insert("user:" + std::to_string(i));

    auto made = genista::blocked_bloom_filter::make({.capacity = 100'000, .false_positive_rate = 1.0 / 256});
    if (!made) {
        const auto why = made.error().message();
        std::fprintf(stderr, "%.*s\n", static_cast<int>(why.size()), why.data());
        return 1;
    }
    auto filter = *std::move(made);
    for (const std::string& key : slow_store) (void)filter.insert(key);

    int reads = 0;
    int wasted = 0;
    for (int i = 0; i < 200'000; ++i) {
        const std::string key = "user:" + std::to_string(i);
        if (!filter.may_contain(key)) continue;  // certainly absent: no read
        ++reads;
        wasted += slow_store.contains(key) ? 0 : 1;
    }
    std::printf("200000 look-ups, 100000 of them absent: %d reads, %d of them wasted (%.2f %% of the absent)\n", reads,
                wasted, wasted / 1000.0);
    return reads - wasted == 100'000 ? 0 : 1;  // no false negative, ever
}
