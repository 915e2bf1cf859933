// Saving and loading a broom filter, in the middle of a growth or not. docs/format.md draws the bytes.
#include <array>
#include <new>

#include "filters/broom/core.hpp"
#include "filters/broom/sizing.hpp"
#include "filters/snapshot_fields.hpp"

namespace genista {
inline namespace GENISTA_BROOM_VARIANT {
namespace broom {
namespace {

constexpr std::uint16_t kind_version = 3;
constexpr std::size_t parts_per_table = 4;  // lines, tails, sides, salts

}  // namespace

result<void> core::save(sink& out, const store_mark& store) const noexcept try {
    auto info = describe(snapshot_kind::broom, kind_version, hash_);
    if (!info) return info.error();
    info->store = store;
    const std::lock_guard nobody_grows{growing_};
    const layout& l = *layout_.load(std::memory_order_relaxed);
    const std::uint64_t front = l.next == nullptr ? 0 : l.front.load(std::memory_order_relaxed);
    const table::saved now = l.now->save();
    const table::saved next = l.next == nullptr ? table::saved{} : l.next->save();
    filter_stats common;
    common.capacity = options_.capacity;
    common.false_positive_rate = options_.false_positive_rate;
    common.keys = keys();
    field_writer fields;
    write_common(fields, common, hash_);
    fields.u32(static_cast<std::uint32_t>(options_.history)).u32(options_.grows ? 1 : 0);
    fields.u32(shape_.tail_bits).u32(l.doublings).u64(l.now->bins()).u64(front);
    fields.u32(l.now->book().unsalted_first() ? 1 : 0);
    const std::array<std::span<const std::byte>, 2 * parts_per_table> sections = {
        now.lines, now.tails, now.sides, now.salts, next.lines, next.tails, next.sides, next.salts};
    return write_snapshot(out, *info, fields.view(), sections);
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "broom: no memory to save the filter");
}

result<std::unique_ptr<core>> core::load(std::span<const std::byte> bytes) noexcept try {
    const auto view = open_snapshot_as(snapshot_kind::broom, kind_version, 2 * parts_per_table, bytes);
    if (!view) return view.error();
    // Fingerprints of versions 1 and 2 came from other keys: its members would be denied.
    if (view->info.kind_version != kind_version)
        return error::make(
            error_code::unsupported,
            "broom snapshot of kind version %u; this library reads version %u: build the filter from its store",
            unsigned{view->info.kind_version}, unsigned{kind_version});
    field_reader fields{view->parameters};
    const auto common = read_common(fields, view->info, broom_filter::name, broom_filter::min_false_positive_rate);
    if (!common) return common.error();
    const std::uint32_t history = fields.u32();
    const std::uint32_t grows = fields.u32();
    const shape form{fields.u32()};
    const std::uint32_t doublings = fields.u32();  // 0: one table
    const std::uint64_t bins = fields.u64();
    const std::uint64_t front = fields.u64();
    const std::uint32_t unsalted = fields.u32();
    const auto broken = [](const char* what) { return error::make(error_code::corrupt, "broom snapshot: %s", what); };
    if (!fields.finished() || history > 2 || grows > 1 || form.tail_bits > most_tail_bits || doublings > 30 ||
        unsalted > (form.tail_bits <= most_tail_bits_unsalted ? 1u : 0u))
        return broken("a parameter is out of range");
    if (form.tail_bits != shape::for_rate(common->options.false_positive_rate).tail_bits)
        return broken("the layout does not keep the rate");
    if (bins == 0 || bins > max_capacity || front > (doublings > 0 ? bins : 0)) return broken("bins out of range");
    broom_options options;
    options.capacity = common->options.capacity;
    options.false_positive_rate = common->options.false_positive_rate;
    options.history = static_cast<broom_history>(history);
    options.grows = grows != 0;
    const hasher hash = *common->options.hash;
    const std::span<const std::span<const std::byte>> sections{view->sections.data(), 2 * parts_per_table};
    const auto load_one = [&](std::size_t index, std::uint64_t count) -> result<std::unique_ptr<table>> {
        const auto secret = fresh_secret(options, index);
        if (!secret) return secret.error();
        return table::load(form, count, hash.key(), *secret, index == 0 && unsalted != 0,
                           sections.subspan(index * parts_per_table).first<parts_per_table>());
    };
    auto now = load_one(0, bins);
    if (!now) return now.error();
    std::unique_ptr<table> next;
    std::uint64_t keys = (*now)->keys(front, bins);
    if (doublings > 0) {
        auto second = load_one(1, bins << doublings);
        if (!second) return second.error();
        next = *std::move(second);
        keys += next->keys(0, front << doublings);
    } else {
        for (std::size_t i = parts_per_table; i < 2 * parts_per_table; ++i) {
            if (!sections[i].empty()) return broken("a second table without need");
        }
    }
    auto made = adopt(options, hash, *std::move(now), std::move(next), doublings, front);
    if (!made) return made.error();
    // Writers may have worked while it was saved: what the bins hold is what counts.
    (*made)->tally_.keys.store(keys, std::memory_order_relaxed);
    return made;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "broom: no memory to load the filter");
}

}  // namespace broom

result<broom_filter> broom_filter::load(std::span<const std::byte> bytes) noexcept {
    auto loaded = broom::core::load(bytes);
    if (!loaded) return loaded.error();
    return broom_filter{*std::move(loaded)};
}

}  // namespace GENISTA_BROOM_VARIANT
}  // namespace genista
