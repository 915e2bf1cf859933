// Loads bytes that may be forged into a filter that knows its keys through slots or an index in R,
// and puts whatever comes out through its paces. No test framework: a promise that is broken comes
// back as a text, anything worse is found by the sanitizers. Shared with fuzz/.
//
// What a forged filter holds is not what any R holds. It may answer at once and must not change
// before a rebuild; after one it is a filter like any other, as large as its bytes said.
#pragma once

#include <cstdint>
#include <span>

#include "genista/filters/filter.hpp"
#include "genista/format/sink.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "genista/remote/memory_slots.hpp"
#include "tests/support/snapshot_exercise.hpp"

namespace genista::test {

// Records in `map`, and beside them what the filter asks for.
template <class Filter>
struct remote_beside {
    static constexpr bool has_index = requires(Filter & filter, with_index<memory_map, memory_map>& remote) {
        filter.adapt(std::uint64_t{1}, remote);
    };
    memory_map map, index;
    memory_slots slots;
    [[nodiscard]] auto remote() {
        if constexpr (has_index)
            return with_index{map, index};
        else
            return with_slots{map, slots};
    }
};

template <class Filter>
const char* use_learning(Filter& filter) {
    constexpr std::uint64_t first = 0x5eed, count = 9;
    remote_beside<Filter> beside;
    auto remote = beside.remote();
    const auto put = [&](std::uint64_t key) {
        return beside.map.put(filter.hash()(key), integer_key{key}.view()).has_value();
    };
    for (std::uint64_t key = 0; key < 64; ++key) static_cast<void>(filter.may_contain(key));
    if constexpr (requires { filter.details(); }) static_cast<void>(filter.details());
    if (!put(first)) return nullptr;
    // Without keys there is nothing in slots that could contradict it.
    const bool may_change = !beside.has_index && filter.stats().keys == 0;
    if (!may_change && filter.insert(first, remote)) return "a loaded filter that changes";
    if (!filter.rebuild(remote)) return "one key that finds no place";
    bool inserted[count] = {true};
    for (std::uint64_t i = 1; i < count; ++i) {
        if (!filter.adapt(first + i, remote) && beside.has_index) return "an adapt that fails with a sound store";
        if (!put(first + i)) return nullptr;
        const auto outcome = filter.insert(first + i, remote);
        if (!outcome) return "an insert that fails with a sound store";
        inserted[i] = *outcome != insert_outcome::full;
        if (!inserted[i] && !beside.map.erase(filter.hash()(first + i), integer_key{first + i}.view())) return nullptr;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        if (inserted[i] && !filter.may_contain(first + i)) return "a false negative";
    }
    if constexpr (requires { filter.erase(first, remote); }) {
        const auto gone = filter.erase(first, remote);
        if (!gone || *gone != erase_outcome::erased) return "a member that cannot be erased";
    }
    for (std::uint64_t i = 1; i < count; ++i) {
        if (inserted[i] && !filter.may_contain(first + i)) return "a false negative after an erase";
    }
    if (!filter.audit(remote)) return "a filter that does not agree with its store";
    return nullptr;
}

template <class Filter>
exercise_outcome exercise_learning_snapshot(std::span<const std::byte> bytes, const size_bound& bound = {2, 8192}) {
    return exercise_with<Filter>(bytes, bound, use_learning<Filter>, plain_answer);
}

// Its tables of small parts are larger than what is saved of them.
inline constexpr size_bound paper_bound{3, 16'384};

}  // namespace genista::test
