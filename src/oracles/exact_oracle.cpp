// exact_oracle: the table: looking up, building, saving and loading. exact_oracle_build.cpp
// computes the odds.
#include "genista/oracles/exact_oracle.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "format/hash_fields.hpp"
#include "genista/detail/base/caught.hpp"

namespace genista {
namespace {

constexpr std::uint16_t exact_oracle_version = 1;
constexpr std::size_t saved_cell_bytes = 24;
static_assert(sizeof(exact_oracle::cell) == saved_cell_bytes);

constexpr bool is_empty(const key_odds& odds) noexcept {
    return odds.stored == 0 && odds.asked == 0;
}

}  // namespace

result<void> exact_oracle::check_unknown(const key_odds& unknown) noexcept {
    const auto is_probability = [](double value) { return value >= 0 && value <= 1; };
    if (!is_probability(unknown.stored) || !is_probability(unknown.asked) || is_empty(unknown)) {
        return error::make(error_code::invalid_argument,
                           "exact_oracle: the odds %g of being stored and %g of being asked for a key that is not in "
                           "the table are not two of 0..1, not both zero",
                           unknown.stored, unknown.asked);
    }
    return {};
}

exact_oracle::exact_oracle(const hasher& hash, const key_odds& unknown, std::uint64_t keys, std::uint64_t homes,
                           buffer memory) noexcept
    : hash_{hash}, unknown_{unknown}, keys_{keys}, homes_{homes}, memory_{std::move(memory)} {}

// Cells are in the order of their positions, each at its home or behind its predecessor: a larger
// position, or an empty cell, ends a search.
key_odds exact_oracle::odds(const digest& d) const noexcept {
    const std::span<const cell> table = cells();
    for (std::uint64_t i = scale(d.position, homes_); i < table.size() && !is_empty(table[i].odds); ++i) {
        if (table[i].position == d.position) return table[i].odds;
        if (table[i].position > d.position) break;
    }
    return unknown_;
}

result<exact_oracle> exact_oracle::from_sorted(const hasher& hash, const key_odds& unknown,
                                               std::span<const cell> sorted) noexcept {
    const std::uint64_t homes = std::max<std::uint64_t>(1, sorted.size() + sorted.size() / 7);
    const auto place_after = [&](std::uint64_t next, const cell& each) {
        return std::max(next, scale(each.position, homes));
    };
    std::uint64_t end = 0;
    for (const cell& each : sorted) end = place_after(end, each) + 1;
    auto memory = buffer::zeroed(std::max(homes, end) * sizeof(cell));
    if (!memory) return memory.error();
    auto* const table = reinterpret_cast<cell*>(memory->data());
    end = 0;
    for (const cell& each : sorted) {
        end = place_after(end, each);
        table[end++] = each;
    }
    return exact_oracle{hash, unknown, sorted.size(), homes, *std::move(memory)};
}

result<void> exact_oracle::save(sink& out) const noexcept {
    return without_throwing(name, [&]() -> result<void> {
        const auto info = describe(snapshot_kind::exact_oracle, exact_oracle_version, hash_);
        if (!info) return info.error();
        field_writer fields;
        fields.u64(keys_).f64(unknown_.stored).f64(unknown_.asked);
        write_hash(fields, hash_);
        std::vector<cell> used;
        used.reserve(keys_);
        std::ranges::copy_if(cells(), std::back_inserter(used), [](const cell& each) { return !is_empty(each.odds); });
        const std::array sections = {std::as_bytes(std::span{used})};
        return write_snapshot(out, *info, fields.view(), sections);
    });
}

result<exact_oracle> exact_oracle::load(std::span<const std::byte> bytes) noexcept {
    const auto view = open_snapshot_as(snapshot_kind::exact_oracle, exact_oracle_version, 1, bytes);
    if (!view) return view.error();
    field_reader fields{view->parameters};
    const std::uint64_t keys = fields.u64();
    key_odds unknown;
    unknown.stored = fields.f64();
    unknown.asked = fields.f64();
    const auto hash = read_hash(fields, view->info);
    if (!hash) return hash.error();
    const std::span<const std::byte> section = view->sections[0];
    if (!fields.finished() || keys == 0 || section.size() % saved_cell_bytes != 0 ||
        section.size() / saved_cell_bytes != keys) {
        return error::make(error_code::corrupt, "exact_oracle snapshot: %llu keys do not fit %zu bytes",
                           static_cast<unsigned long long>(keys), section.size());
    }
    if (const auto fine = check_unknown(unknown); !fine)
        return error::make(error_code::corrupt, "snapshot: %s", fine.error().message().data());
    return without_throwing(name, [&]() -> result<exact_oracle> {
        std::vector<cell> sorted(keys);
        std::memcpy(sorted.data(), section.data(), section.size());
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            const key_odds& odds = sorted[i].odds;
            const bool sound = odds.stored >= 0 && odds.stored <= 1 && odds.asked >= 0 && odds.asked <= 1 &&
                               !is_empty(odds) && (i == 0 || sorted[i - 1].position < sorted[i].position);
            if (!sound) {
                return error::make(error_code::corrupt,
                                   "exact_oracle snapshot: key %zu is out of order or has odds %g and %g", i,
                                   odds.stored, odds.asked);
            }
        }
        return from_sorted(*hash, unknown, sorted);
    });
}

}  // namespace genista
