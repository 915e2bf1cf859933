// Sets of a collection as one section of a snapshot, and its sizes as fields (docs/format.md):
//
//     universe u64 | sets u32 | for each of them: bins u64, elements u64
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "filters/succinct/counted.hpp"
#include "filters/succinct/sets.hpp"
#include "genista/format/fields.hpp"

namespace genista::succinct {

// The words must stay as long as the section is used. May throw for want of memory.
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
        shape.expected += std::min<std::uint64_t>(extents[set].size, section.size());  // an element has a bit at least
    }
    return sets::read_words(shape, std::span{extents}.first(count), section);
}

[[nodiscard]] inline result<counted> read_counted(field_reader& fields, std::span<const std::byte> section) {
    auto digits = read_sets(fields, counted::symbols, section);
    if (!digits) return digits.error();
    return counted::from_digits(*std::move(digits));
}

}  // namespace genista::succinct
