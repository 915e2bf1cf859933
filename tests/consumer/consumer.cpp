// The smallest user of an installed genista: builds a filter, fills it and queries it. Compiled
// against the package, never against the source tree (tests/consumer.cmake), and with no option
// that the package does not give itself.
#include <cstdint>
#include <iostream>

#include "genista/filters/bloom.hpp"

int main() {
    constexpr std::uint64_t keys = 10'000;
    auto made = genista::bloom_filter::make({.capacity = keys, .false_positive_rate = 1.0 / 256});
    if (!made) {
        std::cerr << made.error().message() << '\n';
        return 1;
    }
    genista::bloom_filter& filter = *made;

    for (std::uint64_t key = 0; key < keys; ++key) {
        if (filter.insert(key) == genista::insert_outcome::full) return 1;
    }
    if (filter.insert("a key may be text") == genista::insert_outcome::full) return 1;

    std::uint64_t denied = filter.may_contain("a key may be text") ? 0 : 1;
    std::uint64_t wrong = 0;
    for (std::uint64_t key = 0; key < keys; ++key) {
        denied += filter.may_contain(key) ? 0 : 1;
        wrong += filter.may_contain(keys + key) ? 1 : 0;
    }
    std::cout << "denied " << denied << " of " << keys << '\n';
    std::cout << "false positives " << wrong << " of " << keys << '\n';

    // 39 are expected, under a key drawn at random in each run. Chance never gives 200, and a
    // broken build gives more.
    return denied == 0 && wrong < 200 ? 0 : 1;
}
