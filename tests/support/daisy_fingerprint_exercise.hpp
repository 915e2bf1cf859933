// Snapshot exercise for daisy_fingerprint_filter, whose operations need a class: loads bytes that
// may be forged and uses the filter that results. Filters that need no class have
// snapshot_exercise.hpp.
#pragma once

#include "genista/filters/daisy_fingerprint.hpp"
#include "tests/support/snapshot_exercise.hpp"

namespace genista::test {

// The broken promise, or nullptr.
inline const char* use_fingerprints(daisy_fingerprint_filter& filter) {
    constexpr std::size_t count = 90;
    std::array<std::uint64_t, count> keys{};
    std::array<std::uint8_t, count> classes{};
    std::array<bool, count> inserted{};
    for (std::size_t i = 0; i < count; ++i) {
        keys[i] = 0x5eed + i;
        classes[i] = static_cast<std::uint8_t>(i % 70);
        static_cast<void>(filter.may_contain(keys[i], classes[i]));
        // A forged plan may ask for tables that take minutes to fill: then only query.
        if (filter.terms().draws > 0x1p24) continue;
        inserted[i] = filter.insert(keys[i], classes[i]) != insert_outcome::full;
    }
    std::array<std::uint64_t, words_for(count)> answers{};
    filter.may_contain(std::span<const std::uint64_t>{keys}, classes, answers);
    for (std::size_t i = 0; i < count; ++i) {
        const bool is_found = filter.may_contain(keys[i], classes[i]);
        if (inserted[i] && !is_found) return "a false negative";
        if (((answers[i / 64] >> i % 64 & 1) != 0) != is_found) return "a batch gives other answers";
    }
    double most = 0;
    for (unsigned j = 1; j <= max_daisy_class; ++j) most = std::max(most, filter.let_through(j));
    if (!(most <= 1)) return "a rate above one";
    static_cast<void>(filter.drift());
    return nullptr;
}

inline exercise_outcome exercise_fingerprint_snapshot(std::span<const std::byte> bytes) {
    const auto answer = [](const daisy_fingerprint_filter& filter, std::uint64_t key) {
        return filter.may_contain(key, static_cast<unsigned>((key - 0x5eed) % 70));
    };
    return exercise_with<daisy_fingerprint_filter>(bytes, {.times = 4}, use_fingerprints, answer);
}

}  // namespace genista::test
