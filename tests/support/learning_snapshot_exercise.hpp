// Snapshot exercise for filters that find their keys through an index in R: loads bytes
// that may be forged and uses the filter that results. It uses no test framework: a broken promise
// is returned as a text, and sanitizers find anything worse. Shared with fuzz/.
//
// No R agrees with a forged filter. It may answer at once and must not change before a rebuild;
// after one it must behave like any other filter of the size in its bytes.
#pragma once

#include <cstdint>
#include <span>

#include "genista/filters/filter.hpp"
#include "genista/format/sink.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/snapshot_exercise.hpp"

namespace genista::test {

// A filter of the cuckoo family: its repairs may fail, and without keys it agrees with any index.
template <class Filter>
inline constexpr bool keeps_slots = requires(const Filter& filter) {
    filter.shape().slots();
};

template <class Filter>
const char* use_learning(Filter& filter) {
    constexpr std::uint64_t first = 0x5eed, count = 9;
    memory_map map, index;
    with_index remote{map, index};
    const auto put = [&](std::uint64_t key) {
        return map.put(filter.hash()(key), integer_key{key}.view()).has_value();
    };
    for (std::uint64_t key = 0; key < 64; ++key) static_cast<void>(filter.may_contain(key));
    if constexpr (requires { filter.details(); }) static_cast<void>(filter.details());
    if (!put(first)) return nullptr;
    const bool may_change = keeps_slots<Filter> && filter.stats().keys == 0;
    if (!may_change && filter.insert(first, remote)) return "a loaded filter changes before a rebuild";
    if (!filter.rebuild(remote)) return "a rebuild with one key failed";
    bool inserted[count] = {true};
    for (std::uint64_t i = 1; i < count; ++i) {
        if (!filter.adapt(first + i, remote) && !keeps_slots<Filter>)
            return "an adapt fails although the store does not";
        if (!put(first + i)) return nullptr;
        const auto outcome = filter.insert(first + i, remote);
        if (!outcome) return "an insert fails although the store does not";
        inserted[i] = *outcome != insert_outcome::full;
        if (!inserted[i] && !map.erase(filter.hash()(first + i), integer_key{first + i}.view())) return nullptr;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        if (inserted[i] && !filter.may_contain(first + i)) return "a false negative";
    }
    if constexpr (requires { filter.erase(first, remote); }) {
        const auto gone = filter.erase(first, remote);
        if (!gone || *gone != erase_outcome::erased) return "a stored key that cannot be erased";
    }
    for (std::uint64_t i = 1; i < count; ++i) {
        if (inserted[i] && !filter.may_contain(first + i)) return "a false negative after an erase";
    }
    if (!filter.audit(remote)) return "the filter does not agree with its store";
    return nullptr;
}

template <class Filter>
exercise_outcome exercise_learning_snapshot(std::span<const std::byte> bytes, const size_bound& bound = {2, 8192}) {
    return exercise_with<Filter>(bytes, bound, use_learning<Filter>, plain_answer);
}

}  // namespace genista::test
