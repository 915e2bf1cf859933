// Save and load. docs/format.md draws the sections. The index is not part of a snapshot: a loaded
// filter rebuilds from R before its first change (cascade.hpp).
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "filters/cascade/core.hpp"
#include "filters/snapshot_fields.hpp"

namespace genista::cascade {
namespace {

constexpr std::uint16_t version = 1;

// Sizes are read from the file, because another machine's logarithm may round differently. They
// must be close to the sizes computed here.
bool nearly(const level_plan& a, const level_plan& b) noexcept {
    const auto close = [](double one, double other) { return std::abs(one - other) <= 1 + 1e-9 * other; };
    return a.bits == b.bits && a.quotients >= 1 &&
           close(static_cast<double>(a.quotients), static_cast<double>(b.quotients)) &&
           close(static_cast<double>(a.keys), static_cast<double>(b.keys)) &&
           std::abs(a.rate - b.rate) <= 1e-9 * b.rate;
}

}  // namespace

result<quotient_set> quotient_set::from_bytes(const level_plan& plan, std::span<const std::byte> bytes) {
    auto table = quotient_table::from_bytes(shape_of(plan), bytes);
    if (!table) return table.error();
    quotient_set made{*std::move(table)};
    // Twice means dead, three times is invalid.
    std::vector<std::uint64_t> run;
    const quotient_table& all = made.table_;
    for (std::uint64_t q = all.next_occupied(0); q < all.quotients(); q = all.next_occupied(q + 1)) {
        const quotient_table::run slots = all.run_of(q);
        run.clear();
        for (std::uint64_t slot = slots.first; slot < slots.last; ++slot) run.push_back(all[slot]);
        std::ranges::sort(run);
        for (std::size_t i = 1; i < run.size(); ++i) {
            if (run[i] != run[i - 1]) continue;
            if (i > 1 && run[i] == run[i - 2])
                return error::make(error_code::corrupt, "cascade snapshot: a value three times, at quotient %llu",
                                   static_cast<unsigned long long>(q));
            ++made.dead_;
        }
    }
    return made;
}

result<void> core::save(sink& out) const {
    const std::lock_guard held{changing_};
    const auto info = describe(snapshot_kind::cascade, version, hash_);
    if (!info) return info.error();
    const state& in = *state_;
    if (in.all().size() > max_snapshot_sections)
        return error::make(error_code::unsupported, "a cascade of %zu levels cannot be saved, allowed are 1 to %zu",
                           in.all().size(), max_snapshot_sections);
    field_writer fields;
    filter_stats common;
    common.capacity = capacity_;
    common.false_positive_rate = rate_;
    common.keys = in.keys();
    write_common(fields, common, hash_);
    fields.u32(static_cast<std::uint32_t>(falling_)).u32(static_cast<std::uint32_t>(in.all().size()));
    std::array<std::span<const std::byte>, max_snapshot_sections> sections{};
    auto* section = sections.begin();
    for (const state::level& each : in.all()) {
        fields.f64(each.plan.rate).u64(each.plan.keys).u64(each.plan.quotients).u64(each.plan.bits);
        fields.u64(each.salt).u64(each.residents);
        *section++ = each.set.table().bytes();
    }
    return write_snapshot(out, *info, fields.view(), sections);
}

result<std::unique_ptr<core>> core::load(std::span<const std::byte> bytes) {
    auto opened =
        open_filter(snapshot_kind::cascade, version, max_snapshot_sections, bytes, cascade_filter::name, least_rate);
    if (!opened) return opened.error();
    auto& [view, fields, common] = *opened;
    const auto bad = [](const char* what, std::uint64_t number) {
        return error::make(error_code::corrupt, "cascade snapshot: %s (%llu)", what,
                           static_cast<unsigned long long>(number));
    };
    if (common.options.capacity > most_keys) return bad("a capacity beyond 2^34", common.options.capacity);
    const std::uint32_t falling = fields.u32(), count = fields.u32();
    if (falling > 1) return bad("an unknown rule for rates", falling);
    if (count == 0 || count > max_snapshot_sections) return bad("a number of levels that there is not", count);
    for (std::size_t i = count; i < max_snapshot_sections; ++i) {
        if (!view.sections[i].empty()) return bad("a section of no level", i);
    }
    const design expected = design_for(common.options.capacity, common.options.false_positive_rate,
                                       cascade_rates{static_cast<unsigned char>(falling)});
    if (count != expected.count) return bad("another number of levels", count);
    std::vector<state::level> all;
    all.reserve(count);
    std::uint64_t keys = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        level_plan plan;
        plan.rate = fields.f64();
        plan.keys = fields.u64();
        plan.quotients = fields.u64();
        const std::uint64_t bits = fields.u64(), salt = fields.u64(), residents = fields.u64();
        plan.bits = static_cast<unsigned>(bits & 0xff);
        if (bits >= value_bits || !nearly(plan, expected.levels[i])) return bad("a level of another size", i);
        // Checks the section before the table is allocated: hostile lengths allocate nothing.
        auto set = quotient_set::from_bytes(plan, view.sections[i]);
        if (!set) return set.error();
        if (i + 1 == count && set->dead() != 0) return bad("dead values in the last level", set->dead());
        if (set->stored() > residents || residents > common.keys)
            return bad("a level with more values than keys", residents);
        keys += residents;
        all.push_back({.plan = plan, .set = *std::move(set), .salt = salt, .residents = residents});
    }
    if (!fields.finished()) return bad("parameters of another length", view.parameters.size());
    if (keys != common.keys) return bad("levels with another number of keys", keys);
    const auto seed = seed_of_chance(random_source{});
    if (!seed) return seed.error();
    const beginnings from{.capacity = common.options.capacity,
                          .rate = common.options.false_positive_rate,
                          .hash = *common.options.hash,
                          .seed = *seed,
                          .falling = static_cast<cascade_rates>(falling)};
    auto made = std::make_unique<core>(from, std::make_unique<state>(std::move(all), from.hash));
    made->index_ = index_is::foreign;
    return made;
}

}  // namespace genista::cascade
