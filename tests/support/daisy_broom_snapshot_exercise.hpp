// Loads bytes that may be forged into a daisy_broom_filter and uses the filter that results. It
// uses no test framework: a broken promise is returned as a text, and sanitizers find anything
// worse. Shared with fuzz/. No R agrees with a forged filter, so only two things are required: keys
// inserted from now on stay, and nothing crashes.
//
// The marks of the oracle in a forged file are overwritten with those that the loader expects;
// otherwise no file would load.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "genista/filters/daisy_broom.hpp"
#include "genista/format/sink.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/daisy_oracles.hpp"
#include "tests/support/fix_checksums.hpp"
#include "tests/support/snapshot_exercise.hpp"

namespace genista::test {

// The last digit of a key decides its class: 0 to 2 are of class 0, 3 to 6 of class 9, the others
// of class 12.
inline std::shared_ptr<const scripted_oracle> daisy_world_oracle(double draws) {
    return std::make_shared<scripted_oracle>(
        [draws](std::uint64_t key) {
            const std::uint64_t digit = key % 10;
            return odds_of_class(digit < 3 ? 0 : digit < 7 ? 9 : 12, {draws, 0x1p-12});
        },
        7);
}
inline daisy_plan daisy_world_plan(double draws) {
    return plan_of({draws, 0x1p-12}, {{0, {0.3, 0}}, {9, {0.4, 0.4}}, {12, {0.3, 0.6}}});
}

// Repairs the outer envelope and, where the parameters point at them, the nested ones. The offsets
// are those of docs/format.md.
inline void fix_nested(std::span<std::byte> file) {
    const auto number = [&](std::size_t at) {
        std::uint64_t value = 0;
        for (std::size_t i = 8; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(file[at + i]);
        return value;
    };
    const auto padded = [](std::uint64_t size) { return (size + 63) / 64 * 64; };
    if (file.size() > 192 + 112) {
        const std::uint64_t parameters = padded(number(56) & 0xffff'ffffu), plan = padded(number(64));
        const std::uint64_t bands = number(192 + 104);
        std::uint64_t at = 192 + parameters + plan;
        for (std::uint64_t i = 0; i < bands && 192 + 112 + 48 * (i + 1) <= file.size(); ++i) {
            const std::uint64_t size = number(192 + 112 + 48 * i + 40);
            if (at > file.size() || size > file.size() - at) break;
            fix_envelope(file.subspan(at, size));
            at += size;
        }
        // The deferred band is all of section 4.
        std::uint64_t late = 192 + parameters;
        for (std::size_t section = 0; section < 4; ++section) late += padded(number(64 + 8 * section));
        const std::uint64_t size = number(64 + 8 * 4);
        if (late <= file.size() && size <= file.size() - late) fix_envelope(file.subspan(late, size));
    }
    fix_key_id(file);
    fix_envelope(file);
}

inline exercise_outcome exercise_daisy_broom_snapshot(std::span<const std::byte> bytes) {
    auto loaded = daisy_broom_core::load(bytes);
    if (!loaded) return {.broken = loaded.error().message().empty() ? "an error without a message" : nullptr};
    exercise_outcome outcome{.loaded = true};
    if (loaded->core->stats(0).local_bytes > 2 * bytes.size() + 65'536 * (2 + loaded->core->size())) {
        outcome.broken = "the filter is much larger than its snapshot";
        return outcome;
    }
    // The same with the marks of this oracle, which only a file saved here has.
    const auto oracle = daisy_world_oracle(loaded->core->plan().terms.draws);
    vector_sink marked;
    const oracle_marks ours{oracle->identity(), probe_of(*oracle, loaded->core->plan().terms)};
    if (!loaded->core->save(marked, ours, {})) return {.loaded = true, .broken = "the loaded filter cannot be saved"};
    auto filter = daisy_broom_filter<scripted_oracle>::load(marked.bytes(), oracle);
    if (!filter) return {.loaded = true, .broken = "the saved filter does not load"};
    memory_map remote;
    constexpr std::uint64_t first = 0x5eed, count = 30;
    bool inserted[count] = {};
    for (std::uint64_t i = 0; i < count; ++i) {
        static_cast<void>(filter->adapt(first + i, remote));
        if (!remote.put(filter->hash()(first + i), integer_key{first + i}.view())) return outcome;
        const auto joined = filter->insert(first + i, remote);
        inserted[i] = joined && *joined != insert_outcome::full;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        if (inserted[i] && !filter->may_contain(first + i)) outcome.broken = "a false negative";
    }
    return outcome;
}

}  // namespace genista::test
