// answer_by_class: batches of keys for a filter of classes. The oracle classifies each key of a
// chunk, then the filter answers for the whole chunk.
//
// The filter's own batch hashes integers eight at a time and keeps prefetches ahead of its
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
