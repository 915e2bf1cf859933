// The snapshot exercise (snapshot_exercise.hpp) for the daisy filters: daisy_bloom_filter and
// daisy_fingerprint_filter, whose operations need a class beside the key, and daisy_broom_filter,
// which needs an oracle. Shared with fuzz/.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/format/sink.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/fix_checksums.hpp"
#include "tests/support/snapshot_exercise.hpp"

namespace genista::test {

// ---- daisy_bloom_filter -------------------------------------------------------------------------

// A wrapper derives the class from the key and passes every call on to the filter.

// The class for a key; always the same for the same key.
inline unsigned made_up(const daisy_bloom_filter&, std::uint64_t number) {
    return static_cast<unsigned>(number % 21);  // classes above the largest among them
}

template <class Filter>
class keyed_shell {
  public:
    static constexpr std::string_view name = Filter::name;

    explicit keyed_shell(Filter filter) : filter_{std::move(filter)} {}
    [[nodiscard]] static result<keyed_shell> load(std::span<const std::byte> bytes) {
        auto loaded = Filter::load(bytes);
        if (!loaded) return loaded.error();
        return keyed_shell{*std::move(loaded)};
    }
    result<void> save(sink& out) const { return filter_.save(out); }
    [[nodiscard]] filter_stats stats() const { return filter_.stats(); }

    insert_outcome insert(std::uint64_t key) { return filter_.insert(key, made_up(filter_, key)); }
    insert_outcome insert(key_view key) { return filter_.insert(key, made_up(filter_, key.size)); }
    [[nodiscard]] bool may_contain(std::uint64_t key) const { return filter_.may_contain(key, made_up(filter_, key)); }
    [[nodiscard]] bool may_contain(key_view key) const { return filter_.may_contain(key, made_up(filter_, key.size)); }
    void may_contain(std::span<const std::uint64_t> keys, std::span<std::uint64_t> out_bits) const {
        std::vector<std::uint8_t> classes;
        for (const std::uint64_t key : keys) classes.push_back(static_cast<std::uint8_t>(made_up(filter_, key)));
        filter_.may_contain(keys, classes, out_bits);
    }

  private:
    Filter filter_;
};

// ---- daisy_fingerprint_filter -------------------------------------------------------------------

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

// ---- daisy_broom_filter -------------------------------------------------------------------------

// No R agrees with a forged filter, so only two things are required: keys inserted from now on
// stay, and nothing crashes. The marks of the oracle in a forged file are overwritten with those
// that the loader expects; otherwise no file would load.

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
