// Loads bytes that may be forged into a broom filter and uses the filter that results. It uses no
// test framework: a broken promise is returned as a text, and sanitizers find anything worse.
// Shared with fuzz/.
//
// No R agrees with a forged filter, so only two things are required: keys inserted from now on
// stay, and nothing crashes. A save differs from the loaded bytes in one place, the salts, which a
// loaded filter draws for itself.
#pragma once

#include <cstdint>
#include <span>

#include "genista/filters/broom.hpp"
#include "genista/format/sink.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/snapshot_exercise.hpp"

namespace genista::test {

inline const char* use_broom(broom_filter& filter) {
    constexpr std::uint64_t first = 0x5eed;
    constexpr std::uint64_t count = 9;
    memory_map remote;
    bool inserted[count] = {};
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t key = first + i;
        static_cast<void>(filter.adapt(key, remote));
        if (!remote.put(filter.hash()(key), key_view{reinterpret_cast<const std::byte*>(&key), sizeof key}))
            return nullptr;
        const auto outcome = filter.insert(key, remote);
        inserted[i] = outcome && *outcome != insert_outcome::full;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        if (inserted[i] && !filter.may_contain(first + i)) return "a false negative";
    }
    if (inserted[0]) {
        const auto gone = filter.erase(first, remote);
        if (!gone || *gone != erase_outcome::erased) return "a stored key that cannot be erased";
    }
    for (std::uint64_t i = 1; i < count; ++i) {
        if (inserted[i] && !filter.may_contain(first + i)) return "a false negative after an erase";
    }
    return nullptr;
}

inline exercise_outcome exercise_broom_snapshot(std::span<const std::byte> bytes) {
    result<broom_filter> filter = broom_filter::load(bytes);
    if (!filter) return {.broken = filter.error().message().empty() ? "an error without a message" : nullptr};
    // Salts, versions and free lists take memory of their own, and a table that growth is filling
    // takes pages in pieces of 2 MiB.
    const std::uint64_t pieces = filter->is_growing() ? std::uint64_t{3} * (std::uint64_t{2} << 20) : 0;
    if (filter->stats().local_bytes > 2 * bytes.size() + 65'536 + pieces)
        return {.loaded = true, .broken = "the filter is much larger than its snapshot"};
    const char* broken = use_broom(*filter);
    if (broken == nullptr) broken = check_saved_again(*filter, plain_answer);
    return {.loaded = true, .broken = broken};
}

}  // namespace genista::test
