// oracle_identity: which oracle a saved filter was filled with, so that it is never queried with
// another one.
//
// A daisy filter looks for a key where the oracle says. With another oracle, stored keys are looked
// for in the wrong place: false negatives, silently. So a snapshot carries two 128-bit marks, and a
// loader refuses an oracle unless both are its own:
//
//   identity   of what the oracle has learnt: its own identity(), or the checksum of the bytes it
//              saves, or one that the caller guarantees. An oracle with none of these cannot be
//              used with a snapshot
//   probe      of what it computes on this machine: the odds of some fixed keys, to the last bit,
//              and the classes of some fixed odds. Odds are floating-point numbers; another
//              processor or mathematics library may round them the other way inside an oracle, and
//              a key at the edge of two classes would change its class. If the last bits of all
//              these agree, we believe they agree everywhere
//
// daisy_broom_filter and with_oracle save both. A daisy_bloom_filter or daisy_fingerprint_filter by
// itself takes classes and has no oracle: code that saves one keeps filter and oracle together.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "genista/base/result.hpp"
#include "genista/format/sink.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista {

struct oracle_identity {
    std::array<std::byte, 16> bytes{};

    friend bool operator==(const oracle_identity&, const oracle_identity&) = default;
};

template <class O>
concept identified_oracle = key_oracle<O> && requires(const O& oracle) {
    { oracle.identity() }
    noexcept->std::same_as<oracle_identity>;
};

template <class O>
concept saved_oracle = key_oracle<O> && requires(const O& oracle, sink& out) {
    { oracle.save(out) } -> std::same_as<result<void>>;
};

[[nodiscard]] oracle_identity identity_of_bytes(std::span<const std::byte> bytes) noexcept;

// Nothing if this oracle has no identity: then the caller has to give one.
template <key_oracle Oracle>
[[nodiscard]] result<std::optional<oracle_identity>> identity_of(const Oracle& oracle) noexcept {
    if constexpr (identified_oracle<Oracle>) {
        return std::optional{oracle.identity()};
    } else if constexpr (saved_oracle<Oracle>) {
        vector_sink out;
        if (const auto saved = oracle.save(out); !saved) return saved.error();
        return std::optional{identity_of_bytes(out.bytes())};
    } else {
        return std::optional<oracle_identity>{};
    }
}

struct oracle_marks {
    oracle_identity identity, probe;

    friend bool operator==(const oracle_marks&, const oracle_marks&) = default;
};

// The error `mismatch`, unless the oracle given is the one that the snapshot was filled with.
[[nodiscard]] result<void> check_marks(std::string_view filter, const oracle_marks& saved,
                                       const oracle_marks& given) noexcept;

namespace oracle_detail {
inline constexpr std::size_t probes = 192;
// The probed keys: the first few integers, integers of all sizes, and texts.
[[nodiscard]] std::uint64_t probe_integer(std::size_t number) noexcept;
struct probe_text {
    std::array<char, 40> letters{};
    std::size_t size = 0;
    [[nodiscard]] std::string_view view() const noexcept { return {letters.data(), size}; }
};
[[nodiscard]] probe_text probe_text_of(std::size_t number) noexcept;
[[nodiscard]] oracle_identity mark_of(std::span<const key_odds> odds, const daisy_terms& terms) noexcept;
}  // namespace oracle_detail

template <key_oracle Oracle>
[[nodiscard]] oracle_identity probe_of(const Oracle& oracle, const daisy_terms& terms) noexcept {
    std::array<key_odds, oracle_detail::probes> odds;
    for (std::size_t i = 0; i < odds.size(); ++i) {
        if (i % 3 == 2) {
            const auto text = oracle_detail::probe_text_of(i);
            odds[i] = oracle.odds(text.view());
        } else {
            const integer_key number{oracle_detail::probe_integer(i)};
            odds[i] = oracle.odds(number.view());
        }
    }
    return oracle_detail::mark_of(odds, terms);
}

// The error `unsupported` if the oracle has no identity and the caller gives none.
template <key_oracle Oracle>
[[nodiscard]] result<oracle_marks> marks_of(std::string_view filter, const Oracle& oracle,
                                            const std::optional<oracle_identity>& asserted_identity,
                                            const daisy_terms& terms) noexcept {
    const auto own = identity_of(oracle);
    if (!own) return own.error();
    if (!own->has_value() && !asserted_identity) {
        return error::make(error_code::unsupported, "%.*s: this oracle has no identity, and none was given for it",
                           static_cast<int>(filter.size()), filter.data());
    }
    return oracle_marks{own->has_value() ? **own : *asserted_identity, probe_of(oracle, terms)};
}

}  // namespace genista
