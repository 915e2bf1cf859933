// The smallest honest user of an installed genista: build a filter, fill it, ask it. Compiled
// against the package, never against the source tree (tests/consumer.cmake), and with no option
// beyond what the package itself hands out.
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

    std::uint64_t missed = filter.may_contain("a key may be text") ? 0 : 1;
    std::uint64_t wrong = 0;
    for (std::uint64_t key = 0; key < keys; ++key) {
        missed += filter.may_contain(key) ? 0 : 1;
        wrong += filter.may_contain(keys + key) ? 1 : 0;
    }
    std::cout << "missed " << missed << " of " << keys << '\n';
    std::cout << "false positives " << wrong << " of " << keys << '\n';

    // 39 expected, under a key drawn anew in every run: 200 are never reached by chance, and passed
    // by a broken build.
    return missed == 0 && wrong < 200 ? 0 : 1;
}
