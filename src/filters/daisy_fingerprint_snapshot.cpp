// Snapshots of daisy_fingerprint_filter. Shapes of planned tables are not written: they follow from
// the plan (daisy_fingerprint_layout.hpp), so a loader allocates only what it has computed and
// compared. Growing tables are read page by page, each no larger than the rest of the file.
// docs/format.md draws it.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "bits/words.hpp"
#include "filters/cleary_shape.hpp"
#include "filters/common.hpp"
#include "filters/daisy_fingerprint_layout.hpp"
#include "filters/daisy_plan_fields.hpp"
#include "filters/growing_fingerprints.hpp"
#include "filters/snapshot_fields.hpp"
#include "genista/filters/daisy_fingerprint.hpp"

namespace genista {
namespace {

constexpr std::uint16_t daisy_fingerprint_version = 3;

struct saved_parameters {
    daisy_fingerprint_options options{};
    std::uint64_t keys = 0;
    std::array<std::uint64_t, max_daisy_class + 1> inserts{};
    std::array<std::uint8_t, max_daisy_class + 1> has_growing{};  // by chain: 0 or 1
};

constexpr std::uint64_t most_inserts = std::uint64_t{1} << 56;  // of a class; the sum over all classes cannot overflow

// Reads the parameter block, and checks that such a filter can exist.
result<saved_parameters> read_parameters(const snapshot_view& view) noexcept {
    field_reader fields{view.parameters};
    const auto common =
        read_common(fields, view.info, daisy_fingerprint_filter::name, daisy_fingerprint_filter::min_rate);
    if (!common) return common.error();
    saved_parameters read;
    read.keys = common->keys;
    read.options.hash = common->options.hash;
    read.options.plan = read_plan(fields, common->options.false_positive_rate);
    const std::uint32_t unknown_size = fields.u32();
    bool countable = true;  // otherwise a later increment would wrap to zero
    for (std::uint64_t& each : read.inserts) {
        each = fields.u64();
        countable = countable && each <= most_inserts;
    }
    for (std::uint8_t& each : read.has_growing) each = fields.u8();
    if (!fields.finished() || unknown_size > 1)
        return error::make(error_code::corrupt, "daisy_fingerprint snapshot: parameters of another size");
    if (!countable)
        return error::make(error_code::corrupt, "daisy_fingerprint snapshot: more than 2^56 inserts of a class");
    read.options.unknown_size = unknown_size == 1;
    const daisy_plan& plan = read.options.plan;
    const auto fine = check_plan(daisy_fingerprint_filter::name, plan);
    if (!fine) return error::make(error_code::corrupt, "snapshot: %s", fine.error().message().data());
    // Classes that do not exist must have zero fields: anything else, even a negative zero, would
    // be lost at the next save.
    for (unsigned j = plan.largest_class() + 1; j <= max_daisy_class; ++j) {
        if ((std::bit_cast<std::uint64_t>(plan.stored_share[j]) | std::bit_cast<std::uint64_t>(plan.asked_share[j]) |
             read.inserts[j]) != 0)
            return error::make(error_code::corrupt, "daisy_fingerprint snapshot: something of class %u, beyond all", j);
    }
    if (common->options.capacity != capacity_of(plan))
        return error::make(error_code::corrupt, "daisy_fingerprint snapshot: the capacity is not the plan's");
    return read;
}

// The size of the section `used`, if growing tables exist only where they can.
result<std::uint64_t> used_bytes_for(const fingerprint_layout& layout, const saved_parameters& read) noexcept {
    std::uint64_t bytes = 0;
    for (unsigned chain = 0; chain < read.has_growing.size(); ++chain) {
        const unsigned most = chain != 0 && layout.is_chain(chain) ? 1 : 0;
        if (read.has_growing[chain] > most)
            return error::make(error_code::corrupt,
                               "daisy_fingerprint snapshot: %u growing tables in chain %u, where %u can be",
                               unsigned{read.has_growing[chain]}, chain, most);
        bytes += 16u * read.has_growing[chain] + (most != 0 && layout.planned[chain] != 0 ? 8u : 0u);
    }
    return bytes;
}

// The number of inserts of the chain's classes: a bound for its values.
std::uint64_t inserts_into(const fingerprint_layout& layout, const saved_parameters& read, unsigned chain) noexcept {
    std::uint64_t sum = 0;
    for (unsigned j = chain; j > 0 && (j == chain || !layout.is_chain(j)); --j) sum += read.inserts[j];
    return sum;
}

}  // namespace

result<void> daisy_fingerprint_filter::save(sink& out) const noexcept {
    return without_throwing(name, [&]() -> result<void> {
        const auto info = describe(snapshot_kind::daisy_fingerprint, daisy_fingerprint_version, hash_);
        if (!info) return info.error();
        filter_stats now = stats();
        now.false_positive_rate = terms_.rate;
        field_writer fields;
        write_common(fields, now, hash_);
        write_plan(fields, plan());
        fields.u32(unknown_size_ ? 1 : 0);
        for (unsigned j = 0; j <= max_daisy_class; ++j)
            fields.u64(j <= largest_ ? std::min(classes_[j].inserts, most_inserts) : 0);
        vector_sink used, extra;
        const auto put_word = [&](std::uint64_t value) {
            std::array<std::byte, 8> word;
            store_little_endian(word.data(), value);
            return used.write(word);
        };
        for (unsigned chain = 0; chain <= max_daisy_class; ++chain) {
            const place at = chain != 0 && chain <= largest_ && is_chain(chain) ? places_[chain] : place{};
            fields.u8(at.growing != none ? 1 : 0);
            if (at.planned != none) {
                if (const auto put = put_word(tables_[at.planned].state.used); !put) return put.error();
            }
            if (at.growing == none) continue;
            const growing_fingerprints& each = *growing_[at.growing];
            if (const auto put = put_word(each.values()); !put) return put.error();
            if (const auto put = put_word(each.pages()); !put) return put.error();
            if (const auto put = each.save(extra); !put) return put.error();
        }
        const std::array<std::span<const std::byte>, 3> sections = {used.bytes(), planned_.bytes(), extra.bytes()};
        return write_snapshot(out, *info, fields.view(), sections);
    });
}

// REQUIRES: the bytes of the planned table are read; they may be anything.
result<void> daisy_fingerprint_filter::take_planned(std::size_t at, std::uint64_t used) noexcept {
    cleary_state& state = tables_[at].state;
    const auto shape = shape_of(at);
    state.used = used;
    if (const auto fine = cleary::check(state); !fine) return fine;
    const std::span<const std::byte> bytes{reinterpret_cast<const std::byte*>(state.blocks), shape.bytes()};
    const std::uint64_t blocks_end = shape.blocks * sizeof(cleary_block);
    const std::uint64_t values_end =
        blocks_end + sizeof(cleary_block) + cleary::remainder_bytes(shape.blocks, shape.bits);
    if (!bits::all_zero(bytes.subspan(blocks_end, sizeof(cleary_block))) ||
        !bits::all_zero(bytes.subspan(values_end)) || used > shape.room())
        return error::make(error_code::corrupt,
                           "daisy_fingerprint snapshot: a table of class %u has %llu values in room for %llu, or "
                           "something behind its end",
                           unsigned{tables_[at].chain}, static_cast<unsigned long long>(used),
                           static_cast<unsigned long long>(shape.room()));
    return {};
}

// REQUIRES: the planned tables exist, empty and of the right shape. Reads them chain by chain, as
// they were written.
result<void> daisy_fingerprint_filter::take_over(std::span<const std::uint8_t> has_growing,
                                                 std::span<const std::byte> used, std::span<const std::byte> planned,
                                                 std::span<const std::byte> growing) noexcept {
    if (!planned.empty()) std::memcpy(planned_.data(), planned.data(), planned.size());
    const auto next_word = [&] {
        const auto word = load_little_endian<std::uint64_t>(used.data());
        used = used.subspan(8);
        return word;
    };
    for (unsigned chain = 1; chain <= largest_; ++chain) {
        if (!is_chain(chain)) continue;
        if (const std::size_t at = places_[chain].planned; at != none) {
            if (const auto fine = take_planned(at, next_word()); !fine) return fine;
            planned = planned.subspan(shape_of(at).bytes());
        }
        if (has_growing[chain] == 0) continue;
        const std::uint64_t values = next_word(), pages = next_word();
        auto loaded = growing_fingerprints::load(growing_bits(chain), values, pages, growing);
        if (!loaded) return loaded.error();
        if (const auto added = add_growing(chain, *std::move(loaded)); !added) return added;
    }
    if (!bits::all_zero(planned))
        return error::make(error_code::corrupt, "daisy_fingerprint snapshot: not zero at its end");
    if (!growing.empty())
        return error::make(error_code::corrupt, "daisy_fingerprint snapshot: %zu bytes behind its last page",
                           growing.size());
    return {};
}

result<daisy_fingerprint_filter> daisy_fingerprint_filter::load(std::span<const std::byte> bytes) noexcept {
    const auto view = open_snapshot_as(snapshot_kind::daisy_fingerprint, daisy_fingerprint_version, 3, bytes);
    if (!view) return view.error();
    if (view->info.kind_version != daisy_fingerprint_version)
        return error::make(error_code::unsupported, "daisy_fingerprint snapshot of version %u; this library reads %u",
                           unsigned{view->info.kind_version}, unsigned{daisy_fingerprint_version});
    const auto read = read_parameters(*view);
    if (!read) return read.error();
    const auto layout = fingerprint_layout::of(read->options.plan, read->options.unknown_size);
    const auto used_bytes = used_bytes_for(layout, *read);
    if (!used_bytes) return used_bytes.error();
    const auto used = view->sections[0], planned = view->sections[1];
    const std::uint64_t planned_bytes = layout.planned_bytes();
    if (used.size() != *used_bytes || planned.size() != planned_bytes) {
        return error::make(error_code::corrupt,
                           "daisy_fingerprint snapshot: %zu and %zu bytes, where plan and counts ask for %llu and %llu",
                           used.size(), planned.size(), static_cast<unsigned long long>(*used_bytes),
                           static_cast<unsigned long long>(planned_bytes));
    }
    auto made = make(read->options);
    if (!made) return made.error();
    if (const auto taken = made->take_over(read->has_growing, used, planned, view->sections[2]); !taken)
        return taken.error();
    for (unsigned j = 0; j <= layout.largest; ++j) made->classes_[j].inserts = read->inserts[j];
    for (unsigned chain = 1; chain <= layout.largest; ++chain) {
        std::uint64_t values = 0;
        if (!layout.is_chain(chain)) continue;
        const place at = made->places_[chain];
        if (at.planned != none) values += made->tables_[at.planned].state.used;
        if (at.growing != none) values += made->growing_[at.growing]->values();
        if (values > inserts_into(layout, *read, chain))
            return error::make(error_code::corrupt, "daisy_fingerprint snapshot: more values of class %u than inserts",
                               chain);
    }
    if (made->stats().keys != read->keys)
        return error::make(error_code::corrupt, "daisy_fingerprint snapshot: %llu keys, the tables hold %llu",
                           static_cast<unsigned long long>(read->keys),
                           static_cast<unsigned long long>(made->stats().keys));
    return made;
}

}  // namespace genista
