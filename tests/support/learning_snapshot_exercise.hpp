// Loads bytes that may be forged into a broom_paper filter and puts whatever comes out through its paces. No test framework: a
// promise that is broken comes back as a text, anything worse is found by the sanitizers. Shared with fuzz/.
//
// What a forged filter holds is not what any R holds. It may answer at once and must not change before a rebuild; after one it
// is a filter like any other, as large as its bytes said.
#pragma once

#include <cstdint>
#include <span>

#include "genista/filters/broom_paper.hpp"
#include "genista/format/sink.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/snapshot_exercise.hpp"

namespace genista::test {

inline const char* use_paper(broom_paper_filter& filter) {
    constexpr std::uint64_t first = 0x5eed, count = 9;
    memory_map map, index;
    with_index remote{map, index};
    const auto put = [&](std::uint64_t key) {
        return map.put(filter.hash()(key), integer_key{key}.view()).has_value();
    };
    if (!put(first)) return nullptr;
    if (filter.insert(first, remote)) return "a loaded filter that changes";
    if (!filter.rebuild(remote)) return "one key that finds no place";
    bool inserted[count] = {true};
    for (std::uint64_t i = 1; i < count; ++i) {
        if (!filter.adapt(first + i, remote)) return "an adapt that fails with a sound store";
        if (!put(first + i)) return nullptr;
        const auto outcome = filter.insert(first + i, remote);
        if (!outcome) return "an insert that fails with a sound store";
        inserted[i] = *outcome != insert_outcome::full;
        if (!inserted[i] && !map.erase(filter.hash()(first + i), integer_key{first + i}.view())) return nullptr;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        if (inserted[i] && !filter.may_contain(first + i)) return "a false negative";
    }
    const auto gone = filter.erase(first, remote);
    if (!gone || *gone != erase_outcome::erased) return "a member that cannot be erased";
    for (std::uint64_t i = 1; i < count; ++i) {
        if (inserted[i] && !filter.may_contain(first + i)) return "a false negative after an erase";
    }
    if (!filter.audit(remote)) return "a filter that does not agree with its store";
    return nullptr;
}

inline exercise_outcome exercise_paper_snapshot(std::span<const std::byte> bytes) {
    result<broom_paper_filter> filter = broom_paper_filter::load(bytes);
    if (!filter) return {.broken = filter.error().message().empty() ? "an error without words" : nullptr};
    exercise_outcome outcome{.loaded = true};
    vector_sink first;
    if (!filter->save(first)) {
        outcome.broken = "a loaded filter that cannot be saved";
    } else if (!same_contents(first.bytes(), bytes)) {
        outcome.broken = "a save that differs from what was loaded";
    } else if (filter->stats().local_bytes > 3 * bytes.size() + 16'384) {
        outcome.broken = "a filter much larger than its snapshot";
    } else {
        for (std::uint64_t key = 0; key < 64; ++key) static_cast<void>(filter->may_contain(key));
        static_cast<void>(filter->details());
        outcome.broken = use_paper(*filter);
    }
    if (outcome.broken != nullptr) return outcome;
    vector_sink second;
    if (!filter->save(second)) return {.loaded = true, .broken = "a used filter that cannot be saved"};
    const result<broom_paper_filter> again = broom_paper_filter::load(second.bytes());
    if (!again) return {.loaded = true, .broken = "a used filter whose snapshot does not load"};
    for (std::uint64_t key = 0x5eed; key < 0x5eed + 64; ++key) {
        if (filter->may_contain(key) != again->may_contain(key)) return {.loaded = true, .broken = "unequal answers"};
    }
    return outcome;
}

}  // namespace genista::test
