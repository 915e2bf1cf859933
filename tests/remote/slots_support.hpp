// Shared by the tests of slot maps: their contents as a plain std::map.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "genista/remote/slots.hpp"

namespace genista::test {

using slot_contents = std::map<std::uint64_t, std::string>;

template <slot_map S>
[[nodiscard]] std::optional<std::string> read_slot(S& slots, std::uint64_t slot) {
    std::optional<std::string> key;
    const auto found = slots.read_slot(slot, [&](key_view stored) { key = std::string{stored.text()}; });
    EXPECT_TRUE(found) << found.error().message();
    if (found) {
        EXPECT_EQ(*found, key.has_value());
    }
    return key;
}

// Expects every slot once, in ascending order.
template <slot_map S>
[[nodiscard]] slot_contents slots_between(S& slots, std::uint64_t first, std::uint64_t last) {
    slot_contents seen;
    const auto done = slots.for_each_slot(first, last, [&](std::uint64_t slot, key_view key) {
        EXPECT_TRUE(seen.empty() || seen.rbegin()->first < slot);
        seen.emplace(slot, key.text());
        return true;
    });
    EXPECT_TRUE(done) << done.error().message();
    return seen;
}

// Writes "key 7" to slot 7, and so on.
template <slot_map S>
void fill(S& slots, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t slot = first; slot < first + count; ++slot) {
        const std::string key = "key " + std::to_string(slot);
        const slot_change change{slot, key_view{key}};
        EXPECT_TRUE(slots.write_slots({&change, 1}));
    }
}

}  // namespace genista::test
