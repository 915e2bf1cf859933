// Snapshot exercise for oracles, as snapshot_exercise.hpp is for filters: loads bytes that may be
// forged and uses the oracle that results. Its answers must be odds: finite, in 0..1, the same for
// the same key every time and after being saved again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "genista/format/sink.hpp"
#include "genista/oracles/oracle.hpp"
#include "tests/support/snapshot_exercise.hpp"

namespace genista::test {

template <key_oracle Oracle>
const char* use_oracle(const Oracle& oracle) {
    for (std::uint64_t key = 0; key < 64; ++key) {
        const key_odds odds = oracle.odds(integer_key{key}.view());
        if (!(odds.stored >= 0 && odds.stored <= 1 && odds.asked >= 0 && odds.asked <= 1))
            return "odds outside of 0..1";
        if (odds.stored == 0 && odds.asked == 0) return "a key has no odds at all, which means \"always maybe\"";
        if (!(odds == oracle.odds(integer_key{key}.view()))) return "odds changed between two calls";
    }
    static_cast<void>(oracle.odds(key_view{"a text of more than fifteen bytes"}));
    static_cast<void>(oracle.odds(key_view{""}));
    return nullptr;
}

template <key_oracle Oracle>
exercise_outcome exercise_oracle_snapshot(std::span<const std::byte> bytes) {
    const result<Oracle> oracle = Oracle::load(bytes);
    if (!oracle) return {.broken = oracle.error().message().empty() ? "an error without a message" : nullptr};
    exercise_outcome outcome{.loaded = true};
    vector_sink again;
    if (!oracle->save(again)) {
        outcome.broken = "the loaded oracle cannot be saved";
    } else if (!same_contents(again.bytes(), bytes)) {
        outcome.broken = "the saved bytes differ from the loaded ones";
    } else if (oracle->memory_bytes() > 2 * bytes.size() + 8192) {
        outcome.broken = "the oracle is much larger than its snapshot";
    } else {
        outcome.broken = use_oracle(*oracle);
    }
    if (outcome.broken != nullptr) return outcome;
    const result<Oracle> twice = Oracle::load(again.bytes());
    if (!twice) return {.loaded = true, .broken = "the saved oracle does not load"};
    for (std::uint64_t key = 0; key < 64; ++key) {
        if (!(oracle->odds(integer_key{key}.view()) == twice->odds(integer_key{key}.view())))
            return {.loaded = true, .broken = "the odds changed by saving and loading"};
    }
    return outcome;
}

}  // namespace genista::test
