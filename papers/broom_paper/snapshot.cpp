// Save and load. docs/format.md draws the sections. The index is not part of a snapshot: a loaded
// filter rebuilds from R before its first change (broom_paper.hpp).
#include <array>
#include <cstring>
#include <utility>

#include "filters/snapshot_fields.hpp"
#include "papers/broom_paper/core.hpp"

namespace genista::broom_paper {
namespace {

constexpr std::uint16_t version = 1;

result<std::vector<std::uint64_t>> words_in(std::span<const std::byte> section) {
    if (section.size() % sizeof(std::uint64_t) != 0)
        return error::make(error_code::corrupt, "broom_paper snapshot: a section of %zu bytes, no whole words",
                           section.size());
    std::vector<std::uint64_t> words(section.size() / sizeof(std::uint64_t));
    if (!section.empty()) std::memcpy(words.data(), section.data(), section.size());
    return words;
}

result<level> load_level(const quotient_shape& shape, std::span<const std::byte> table,
                         std::span<const std::byte> strings) {
    auto slots = quotient_table::from_bytes(shape, table);
    if (!slots) return slots.error();
    const auto words = words_in(strings);
    if (!words) return words.error();
    auto bits = groups::load(shape.quotients, shape.bits + shape.more_bits, *words);
    if (!bits) return bits.error();
    level made{*std::move(slots), *std::move(bits)};
    if (const auto checked = made.check(); !checked) return checked.error();
    return made;
}

}  // namespace

result<void> core::save(sink& out) const {
    const auto info = describe(snapshot_kind::broom_paper, version, hash_);
    if (!info) return info.error();
    const state& in = *state_;
    field_writer fields;
    filter_stats common;
    common.capacity = sizes_.capacity;
    common.false_positive_rate = rate_;
    common.keys = in.keys;
    write_common(fields, common, hash_);
    fields.u32(rehashed_by_adapt_).u32(static_cast<std::uint32_t>(ghosts_)).u32(static_cast<std::uint32_t>(rehashing_));
    fields.u32(in.frontier ? 1 : 0);
    const element frontier = in.frontier.value_or(element{});
    fields.u64(frontier.rank).u64(frontier.d.position).u64(frontier.d.seed).u64(in.behind_frontier);
    for (const generation* each : {&in.older, &in.newer}) fields.u64(each->primary_salt).u64(each->second_salt);
    std::vector<std::uint64_t> strings, other_strings;
    in.primary.strings().save(strings);
    if (in.second) in.second->strings().save(other_strings);
    const std::array sections = {in.primary.table().bytes(), std::as_bytes(std::span{strings}),
                                 in.second ? in.second->table().bytes() : in.behind->table().bytes(),
                                 std::as_bytes(std::span{other_strings})};
    return write_snapshot(out, *info, fields.view(), sections);
}

result<std::unique_ptr<core>> core::load(std::span<const std::byte> bytes) {
    const auto view = open_snapshot_as(snapshot_kind::broom_paper, version, 4, bytes);
    if (!view) return view.error();
    field_reader fields{view->parameters};
    const auto common = read_common(fields, view->info, broom_paper_filter::name, least_rate);
    if (!common) return common.error();
    const auto bad = [](const char* what, std::uint64_t number) {
        return error::make(error_code::corrupt, "broom_paper snapshot: %s (%llu)", what,
                           static_cast<unsigned long long>(number));
    };
    if (common->options.capacity > most_keys) return bad("a capacity beyond 2^36", common->options.capacity);
    const std::uint32_t moved = fields.u32(), ghosts_by = fields.u32(), rehashing = fields.u32(), has = fields.u32();
    const element frontier{fields.u64(), digest{fields.u64(), fields.u64()}};
    const std::uint64_t behind_frontier = fields.u64();
    std::array<generation, 2> salts{};
    for (generation& each : salts) {
        each.primary_salt = fields.u64();
        each.second_salt = fields.u64();
    }
    if (!fields.finished() || moved < 3 || moved > 64 || ghosts_by > 2 || rehashing > 1 || has > 1)
        return bad("impossible rules", moved);
    if (behind_frontier > common->keys || (has == 0 && behind_frontier != common->keys))
        return bad("more keys behind the frontier than there are", behind_frontier);
    if (has == 0 && frontier != element{}) return bad("the position of a frontier that there is not", frontier.rank);
    const auto seed = seed_of_chance(std::nullopt);
    if (!seed) return seed.error();
    beginnings from{.sizes = design_for(common->options.capacity, common->options.false_positive_rate),
                    .rate = common->options.false_positive_rate,
                    .hash = *common->options.hash,
                    .seed = *seed,
                    .rehashed_by_adapt = moved,
                    .ghosts = static_cast<ghost_rule>(ghosts_by),
                    .rehashing = static_cast<rehash_rule>(rehashing)};
    const design& sizes = from.sizes;
    // Checks sections before the tables are allocated: hostile lengths allocate nothing.
    auto first = load_level(sizes.primary, view->sections[0], view->sections[1]);
    if (!first) return first.error();
    auto loaded = std::make_unique<state>(state{.primary = *std::move(first)});
    if (sizes.is_large) {
        auto behind = quotient_table::from_bytes(sizes.backyard, view->sections[2]);
        if (!behind) return behind.error();
        if (!view->sections[3].empty()) return bad("strings of a backyard", view->sections[3].size());
        loaded->behind.emplace(*std::move(behind));
    } else {
        auto second = load_level(sizes.second, view->sections[2], view->sections[3]);
        if (!second) return second.error();
        loaded->second.emplace(*std::move(second));
    }
    const std::uint64_t fingerprints =
        loaded->primary.size() + (loaded->second ? loaded->second->size() : loaded->behind->size());
    if (fingerprints > common->keys) return bad("more fingerprints than keys", fingerprints);
    loaded->keys = common->keys;
    loaded->behind_frontier = behind_frontier;
    if (has == 1) loaded->frontier = frontier;
    auto made = std::make_unique<core>(from, std::move(loaded));
    made->state_->older = salts[0];
    made->state_->newer = salts[1];
    made->index_ = index_is::foreign;
    return made;
}

}  // namespace genista::broom_paper
