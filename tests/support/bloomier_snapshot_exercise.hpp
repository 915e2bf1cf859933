// What snapshot_exercise.hpp is to filters that take keys, for the one that is only built: loads
// bytes that may be forged and puts whatever comes out through its paces.
#pragma once

#include "genista/filters/bloomier.hpp"
#include "tests/support/snapshot_exercise.hpp"

namespace genista::test {

// Look-ups one by one and in a batch, and updates of whoever is let through.
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
            return "a batch that answers otherwise";
    }
    static_cast<void>(filter.find(key_view{"a text of more than fifteen bytes"}));
    for (const std::uint64_t key : keys) {
        const bool is_let_through = filter.may_contain(key);
        const auto outcome = filter.update(key, 0);
        if (!outcome || (*outcome == update_outcome::updated) != is_let_through) return "an update that errs";
        if (is_let_through && filter.find(key) != std::uint64_t{0}) return "an update that is not found";
    }
    return nullptr;
}

}  // namespace genista::test
