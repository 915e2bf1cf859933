// Filters of classes (with_oracle.hpp, daisy_broom.hpp): the concept that tells them from the
// others, and batches.
//
// They need the key itself, because an oracle does. They take the digest with the key, as a
// hashed_key, not instead of it. So these filters are no membership_filter (filter.hpp): they
// cannot answer for a digest alone, and load() needs their oracle. Code for filters of both kinds,
// such as guard/guard_core.hpp, distinguishes them by asked_with_key.
//
// In a batch the oracle classifies each key of a chunk, then the filter answers for the whole
// chunk. The filter's own batch hashes integers eight at a time and keeps prefetches ahead of its
// look-ups. A filter without batches is asked key by key. The answers are those of single look-ups
// in both cases.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "genista/filters/filter.hpp"

namespace genista {

template <class F>
concept asked_with_key = requires(const F& f, const hashed_key& key) {
    { f.may_contain(key) }
    noexcept->std::same_as<bool>;
};

// The learning half of adaptive_filter, for these filters.
template <class F, class R>
concept learning_with_key = asked_with_key<F> && requires(F& f, const F& c, const hashed_key& key, R& r) {
    { f.insert(key, r) } -> std::same_as<result<insert_outcome>>;
    { f.erase(key, r) } -> std::same_as<result<erase_outcome>>;
    { f.forget(key, r) } -> std::same_as<result<erase_outcome>>;
    { f.adapt(key, r) } -> std::same_as<result<adapt_outcome>>;
    { c.audit(r) } -> std::same_as<result<void>>;
};

// Keys of one chunk. A multiple of 64, so that each chunk begins with a word of its own in
// out_bits.
inline constexpr std::size_t class_batch = 512;

// class_of(key_view) → 0 .. 255. REQUIRES: out_bits.size() ≥ words_for(keys.size()).
template <class Filter, class Key, class ClassOf>
void answer_by_class(const Filter& filter, std::span<const Key> keys, const ClassOf& class_of,
                     std::span<std::uint64_t> out_bits) noexcept {
    assert(out_bits.size() >= words_for(keys.size()));
    const auto class_at = [&](const Key& key) -> unsigned {
        if constexpr (std::same_as<Key, std::uint64_t>) {
            const integer_key bytes{key};
            return class_of(bytes.view());
        } else {
            return class_of(key);
        }
    };
    if constexpr (requires(std::span<const std::uint8_t> classes) { filter.may_contain(keys, classes, out_bits); }) {
        std::array<std::uint8_t, class_batch> classes;
        for (std::size_t first = 0; first < keys.size(); first += class_batch) {
            const std::span<const Key> here = keys.subspan(first, std::min(class_batch, keys.size() - first));
            for (std::size_t i = 0; i < here.size(); ++i) classes[i] = static_cast<std::uint8_t>(class_at(here[i]));
            filter.may_contain(here, std::span<const std::uint8_t>{classes}.first(here.size()),
                               out_bits.subspan(first / 64, words_for(here.size())));
        }
    } else {
        std::fill_n(out_bits.begin(), words_for(keys.size()), std::uint64_t{0});
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const bool found = filter.may_contain(filter.hash()(keys[i]), class_at(keys[i]));
            out_bits[i / 64] |= std::uint64_t{found} << i % 64;
        }
    }
}

}  // namespace genista
