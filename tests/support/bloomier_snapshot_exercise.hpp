// Snapshot exercise for bloomier_filter, which is built once and takes no further keys: loads bytes
// that may be forged and uses the filter that results. The other filters have
// snapshot_exercise.hpp.
#pragma once

#include "genista/filters/bloomier.hpp"
#include "tests/support/snapshot_exercise.hpp"

namespace genista::test {

// Look-ups one by one and in a batch, and an update of each key that is answered maybe.
template <>
inline const char* use_filter(bloomier_filter& filter) {
    constexpr std::size_t count = 64;
    std::array<std::uint64_t, count> keys{}, values{};
    std::array<std::uint64_t, words_for(count)> answers{}, bits{};
    for (std::size_t i = 0; i < count; ++i) keys[i] = 0x5eed + i;
    filter.may_contain(std::span<const std::uint64_t>{keys}, answers);
    filter.find(std::span<const std::uint64_t>{keys}, values, bits);
    if (answers != bits) return "find and may_contain disagree";
    for (std::size_t i = 0; i < count; ++i) {
        const auto single = filter.find(keys[i]);
        if (single.has_value() != ((bits[0] >> i & 1) != 0) || single.value_or(0) != values[i])
            return "a batch gives other answers";
    }
    static_cast<void>(filter.find(key_view{"a text of more than fifteen bytes"}));
    for (const std::uint64_t key : keys) {
        const bool is_let_through = filter.may_contain(key);
        const auto outcome = filter.update(key, 0);
        if (!outcome || (*outcome == update_outcome::updated) != is_let_through)
            return "an update with a wrong outcome";
        if (is_let_through && filter.find(key) != std::uint64_t{0}) return "find does not give the updated value";
    }
    return nullptr;
}

}  // namespace genista::test
