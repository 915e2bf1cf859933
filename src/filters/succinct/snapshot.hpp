// Sets of a collection as one section of a snapshot, and its sizes as fields (docs/format.md):
//
//     universe u64 | sets u32 | for each of them: bins u64, elements u64
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "filters/snapshot_fields.hpp"
#include "filters/succinct/counted.hpp"
#include "filters/succinct/sets.hpp"
#include "genista/detail/format/fields.hpp"
#include "genista/detail/format/snapshot.hpp"

namespace genista::succinct {

// REQUIRES: the words live as long as the section is used. May throw std::bad_alloc.
[[nodiscard]] inline std::span<const std::byte> write_sets(field_writer& fields, const sets& all,
                                                           std::vector<std::uint64_t>& words) {
    fields.u64(all.shape().universe).u32(all.count());
    for (unsigned set = 0; set < all.count(); ++set) {
        const sets::extent size = all.extent_of(set);
        fields.u64(size.bins).u64(size.size);
    }
    all.write_words(words);
    for (std::uint64_t& word : words) {
        const std::uint64_t value = word;
        store_little_endian(reinterpret_cast<std::byte*>(&word), value);
    }
    return std::as_bytes(std::span{words});
}

[[nodiscard]] inline result<sets> read_sets(field_reader& fields, unsigned symbols,
                                            std::span<const std::byte> section) {
    sets_shape shape;
    shape.symbols = symbols;
    shape.universe = fields.u64();
    const std::uint32_t count = fields.u32();
    if (count > sets::most_sets)
        return error::make(error_code::corrupt, "succinct sets: %u of them, allowed are 0 to %u", count,
                           sets::most_sets);
    std::array<sets::extent, sets::most_sets> extents;
    for (std::uint32_t set = 0; set < count; ++set) {
        extents[set].bins = fields.u64();
        extents[set].size = fields.u64();
    }
    return sets::read_words(shape, std::span{extents}.first(count), section);
}

[[nodiscard]] inline result<counted> read_counted(field_reader& fields, std::span<const std::byte> section) {
    auto digits = read_sets(fields, counted::symbols, section);
    if (!digits) return digits.error();
    return counted::from_digits(*std::move(digits));
}

//  ---- a dictionary as a file of its own: the hash key and the sets, nothing else

inline constexpr std::uint16_t dictionary_version = 1;

[[nodiscard]] inline result<void> save_dictionary(sink& out, snapshot_kind kind, const hasher& hash, const sets& all) {
    const auto info = describe(kind, dictionary_version, hash);
    if (!info) return info.error();
    field_writer fields;
    fields.bytes(std::as_bytes(std::span{hash.key().bytes}));
    std::vector<std::uint64_t> words;
    const std::array sections = {write_sets(fields, all, words)};
    return write_snapshot(out, *info, fields.view(), sections);
}

template <class All>
struct loaded_dictionary {
    hasher hash;
    All all;
};

// Calls read(fields, section) -> result<All>: read_sets or read_counted.
template <class All, class Read>
[[nodiscard]] result<loaded_dictionary<All>> load_dictionary(std::span<const std::byte> bytes, snapshot_kind kind,
                                                             const Read& read) {
    const auto view = open_snapshot_as(kind, dictionary_version, 1, bytes);
    if (!view) return view.error();
    field_reader fields{view->parameters};
    const auto hash = read_hash(fields, view->info);
    if (!hash) return hash.error();
    result<All> all = read(fields, view->sections[0]);
    if (!all) return all.error();
    if (!fields.finished())
        return error::make(error_code::corrupt, "%s snapshot: parameters of another length", to_string(kind).data());
    return loaded_dictionary<All>{*hash, *std::move(all)};
}

}  // namespace genista::succinct
