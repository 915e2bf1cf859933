// Snapshot exercise for the dictionaries of numbers (succinct_set, succinct_multiset) and for
// lossy_filter, as snapshot_exercise.hpp is for filters: loads bytes that may be forged and uses
// the object that results.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "genista/filters/lossy.hpp"
#include "genista/filters/succinct_set.hpp"
#include "tests/support/snapshot_exercise.hpp"

namespace genista::test {

// A bin has at least one word in the file. In memory it also has an address, and a collection has
// pieces of 8 KiB.
inline constexpr size_bound succinct_bound{.times = 4, .more = 65'536};

// The numbers to try: spread over the universe, its first and its last included.
inline std::uint64_t tried_number(std::uint64_t universe, std::uint64_t i) {
    return i % 2 == 0 ? i / 2 % universe : universe - 1 - i / 2 % universe;
}

inline std::uint64_t held(const succinct_set& all, std::uint64_t x) {
    return all.contains(x) ? 1 : 0;
}
inline std::uint64_t held(const succinct_multiset& all, std::uint64_t x) {
    return all.count(x);
}

// It must visit what it holds; returns the broken promise, or nullptr.
template <class Dictionary>
const char* check_visits(const Dictionary& all) {
    std::uint64_t sum = 0;
    bool known = true;
    all.each([&](std::uint64_t x, std::uint64_t count) {
        known = known && x < all.universe() && all.contains(x) && held(all, x) == count && count > 0;
        sum += count;
    });
    if (!known) return "a visited number is not held";
    return sum == all.size() ? nullptr : "the visits do not add up to the size";
}

// Inserts once and erases once: every answer follows from the count before.
template <class Dictionary>
const char* use_numbers(Dictionary& all) {
    constexpr bool counts = requires {
        all.distinct();
    };
    if (const char* broken = check_visits(all)) return broken;
    if (all.contains(all.universe()) || all.insert(all.universe()) || all.erase(all.universe()))
        return "a number beyond the universe is accepted";
    for (std::uint64_t i = 0; i < 18; ++i) {
        const std::uint64_t x = tried_number(all.universe(), i), before = held(all, x), size = all.size();
        const result<insert_outcome> inserted = all.insert(x);
        if (!inserted) return "an insert within the universe is refused";
        if (*inserted == insert_outcome::full) continue;
        const std::uint64_t after = counts ? before + 1 : 1;
        if (!all.contains(x) || held(all, x) != after) return "a number is not found after its insert";
        if (all.size() != size + after - before) return "the size is wrong after an insert";
        if (i % 3 != 0) continue;
        const result<erase_outcome> erased = all.erase(x);
        if (!erased || *erased != erase_outcome::erased) return "a stored number cannot be erased";
        if (held(all, x) != after - 1 || all.size() != size + after - before - 1) return "an erase had no effect";
    }
    return check_visits(all);
}

template <class Dictionary>
exercise_outcome exercise_numbers_snapshot(std::span<const std::byte> bytes) {
    const auto answer = [](const Dictionary& all, std::uint64_t i) {
        return held(all, tried_number(all.universe(), i));
    };
    return exercise_with<Dictionary>(bytes, succinct_bound, use_numbers<Dictionary>, answer);
}

// I1 and I3 of lossy.hpp: stored keys are found, left-out keys stay left out, and no more is stored
// than the rate allows.
inline const char* use_lossy(lossy_filter& filter) {
    constexpr std::size_t count = 18;
    std::array<lossy_insert, count> outcomes{};
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t key = 0x5eed + i;
        const bool omitted = filter.omits(key);
        outcomes[i] = filter.insert(key);
        if (outcomes[i] != lossy_insert::full && (outcomes[i] == lossy_insert::omitted) != omitted)
            return "the outcome of an insert disagrees with omits()";
    }
    for (std::size_t i = 0; i < count; i += 3) {
        if (outcomes[i] == lossy_insert::full) continue;
        const bool stored = outcomes[i] == lossy_insert::stored;
        if (filter.erase(0x5eed + i) != (stored ? lossy_erase::erased : lossy_erase::omitted))
            return "a stored key cannot be erased";
        outcomes[i] = lossy_insert::full;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (outcomes[i] == lossy_insert::stored && !filter.may_contain(0x5eed + i)) return "a false negative";
    }
    const filter_stats stats = filter.stats();
    const double all = static_cast<double>(stats.capacity), share = filter.false_negative_share();
    if (static_cast<double>(stats.keys) > all * (1 - share) + 6 * std::sqrt(all * share * (1 - share)) + 1)
        return "more keys than the rate allows";
    return nullptr;
}

inline exercise_outcome exercise_lossy_snapshot(std::span<const std::byte> bytes) {
    const auto answer = [](const lossy_filter& filter, std::uint64_t key) {
        return 2 * int{filter.may_contain(key)} + int{filter.omits(key)};
    };
    return exercise_with<lossy_filter>(bytes, succinct_bound, use_lossy, answer);
}

}  // namespace genista::test
