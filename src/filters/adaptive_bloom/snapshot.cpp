// Save and load. docs/format.md draws the sections. The index is not part of a snapshot: a loaded
// filter rebuilds from R before its first change (adaptive_bloom.hpp).
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "filters/adaptive_bloom/core.hpp"
#include "filters/snapshot_fields.hpp"

namespace genista::adaptive_bloom {
namespace {

constexpr std::uint16_t version = 1;
constexpr std::size_t section_count = 2 + most_levels;

// Lists of dead cells; levels that do not exist must have empty ones.
result<std::vector<quotient_table>> tables_in(std::span<const std::span<const std::byte>> sections,
                                              const design& sizes) {
    std::vector<quotient_table> tables;
    tables.reserve(sizes.count);
    for (unsigned level = 0; level < most_levels; ++level) {
        if (level >= sizes.count) {
            if (sections[level].empty()) continue;
            return error::make(error_code::corrupt, "adaptive_bloom snapshot: dead cells of level %u, there are %u",
                               level, sizes.count);
        }
        auto made = quotient_table::from_bytes(sizes.with_cells[level].dead, sections[level]);
        if (!made) return made.error();
        tables.push_back(*std::move(made));
    }
    return tables;
}

}  // namespace

result<void> core::save(sink& out) const {
    const std::lock_guard held{changing_};
    const auto info = describe(snapshot_kind::adaptive_bloom, version, hash_);
    if (!info) return info.error();
    const state& in = *state_;
    field_writer fields;
    filter_stats common;
    common.capacity = sizes_.capacity;
    common.false_positive_rate = sizes_.rate;
    common.keys = in.keys[0];
    write_common(fields, common, hash_);
    fields.u64(in.salts().begins).u64(queries_.load(std::memory_order_relaxed)).u64(in.forgotten);
    for (unsigned level = 1; level <= most_levels; ++level) fields.u64(in.keys[level]);
    std::array<std::span<const std::byte>, section_count> sections{in.cells().bytes(), in.last().bytes()};
    for (unsigned level = 0; level < in.d(); ++level) sections[2 + level] = in.dead()[level].bytes();
    return write_snapshot(out, *info, fields.view(), sections);
}

result<std::unique_ptr<core>> core::load(std::span<const std::byte> bytes) {
    auto opened = open_filter(snapshot_kind::adaptive_bloom, version, section_count, bytes, adaptive_bloom_filter::name,
                              least_rate);
    if (!opened) return opened.error();
    auto& [view, fields, common] = *opened;
    const auto bad = [](const char* what, std::uint64_t number) {
        return error::make(error_code::corrupt, "adaptive_bloom snapshot: %s (%llu)", what,
                           static_cast<unsigned long long>(number));
    };
    if (common.options.capacity > most_keys) return bad("a capacity beyond 2^36", common.options.capacity);
    std::uint64_t salts_begin = fields.u64();
    const std::uint64_t queries = fields.u64(), forgotten = fields.u64();
    std::array<std::uint64_t, most_levels + 1> keys{common.keys};
    for (unsigned level = 1; level <= most_levels; ++level) keys[level] = fields.u64();
    if (!fields.finished()) return bad("parameters of another length", view.parameters.size());
    const design sizes = design_for(common.options.capacity, common.options.false_positive_rate);
    for (unsigned level = 0; level <= most_levels; ++level) {
        const std::uint64_t most = level < sizes.count    ? sizes.with_cells[level].most
                                   : level == sizes.count ? sizes.last_most
                                                          : 0;
        if (keys[level] > most) return bad("a level with more keys than it may have", keys[level]);
    }
    // Checks the section's size before the memory is allocated: hostile lengths allocate nothing.
    if (view.sections[0].size() != sizes.all_cells() / 8)
        return bad("another number of bytes of cells", view.sections[0].size());
    auto dead = tables_in(std::span{view.sections}.subspan(2), sizes);
    if (!dead) return dead.error();
    auto last = quotient_table::from_bytes(sizes.last, view.sections[1]);
    if (!last) return last.error();
    if (last->size() > keys[sizes.count]) return bad("more hashes than keys in the last level", last->size());
    auto cells = buffer::zeroed(view.sections[0].size());
    if (!cells) return cells.error();
    std::memcpy(cells->data(), view.sections[0].data(), view.sections[0].size());
    const auto seed = seed_of_chance(random_source{});
    if (!seed) return seed.error();
    auto loaded = std::make_unique<state>(sizes, generation::from(salts_begin), *std::move(cells), *std::move(dead),
                                          *std::move(last));
    loaded->keys = keys;
    loaded->forgotten = forgotten;
    auto made = std::make_unique<core>(beginnings{.sizes = sizes, .hash = *common.options.hash, .seed = *seed},
                                       std::move(loaded));
    made->queries_.store(queries, std::memory_order_relaxed);
    made->index_ = index_is::foreign;
    return made;
}

}  // namespace genista::adaptive_bloom
