// Snapshots of daisy_fingerprint_filter. Shapes are not written: they follow from the plan and the number of tables in each chain
// (daisy_fingerprint_layout.hpp), so that a loader allocates nothing that it has not computed and compared. docs/format.md draws it.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/all_zero.hpp"
#include "filters/cleary_check.hpp"
#include "filters/daisy_fingerprint_layout.hpp"
#include "filters/daisy_plan_fields.hpp"
#include "filters/snapshot_fields.hpp"
#include "filters/walls.hpp"
#include "genista/filters/daisy_fingerprint.hpp"

namespace genista {
namespace {

constexpr std::uint16_t daisy_fingerprint_version = 2;

struct saved_parameters {
    daisy_fingerprint_options options{};
    std::uint64_t keys = 0;
    std::array<std::uint64_t, max_daisy_class + 1> inserts{};
    std::array<std::uint8_t, max_daisy_class + 1> tables{};  // by chain
};

constexpr std::uint64_t most_inserts = std::uint64_t{1} << 56;  // of a class; all classes together can be added up

// Everything that the parameter block says, and whether it says it of a filter that could be.
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
    bool countable = true;  // else a count that goes on from there would begin again at zero
    for (std::uint64_t& each : read.inserts) {
        each = fields.u64();
        countable = countable && each <= most_inserts;
    }
    for (std::uint8_t& each : read.tables) each = fields.u8();
    if (!fields.finished() || unknown_size > 1)
        return error::make(error_code::corrupt, "daisy_fingerprint snapshot: parameters of another size");
    if (!countable)
        return error::make(error_code::corrupt, "daisy_fingerprint snapshot: more than 2^56 inserts of a class");
    read.options.unknown_size = unknown_size == 1;
    const daisy_plan& plan = read.options.plan;
    const auto fine = check_plan(daisy_fingerprint_filter::name, plan);
    if (!fine) return error::make(error_code::corrupt, "snapshot: %s", fine.error().message().data());
    // Nothing is kept of classes that there are not: what such fields say would be lost, be it a zero's sign.
    for (unsigned j = plan.largest_class() + 1; j <= max_daisy_class; ++j) {
        if ((std::bit_cast<std::uint64_t>(plan.stored_share[j]) | std::bit_cast<std::uint64_t>(plan.asked_share[j]) |
             read.inserts[j]) != 0)
            return error::make(error_code::corrupt, "daisy_fingerprint snapshot: something of class %u, beyond all", j);
    }
    if (common->options.capacity != capacity_of(plan))
        return error::make(error_code::corrupt, "daisy_fingerprint snapshot: the capacity is not the plan's");
    return read;
}

// The tables that the plan and the counts ask for: their number, and the bytes of those beyond the plan.
struct wanted_tables {
    std::uint64_t tables = 0, extra_bytes = 0;
};
result<wanted_tables> wanted_by(const fingerprint_layout& layout, const saved_parameters& read) noexcept {
    wanted_tables wanted;
    for (unsigned chain = 0; chain < read.tables.size(); ++chain) {
        const bool may_be = chain != 0 && layout.is_chain(chain);
        const unsigned count = read.tables[chain], planned = may_be && layout.planned[chain] != 0 ? 1 : 0;
        if (count < planned || count > (may_be ? fingerprint_layout::most_tables : 0)) {
            return error::make(error_code::corrupt,
                               "daisy_fingerprint snapshot: %u tables in chain %u, where %u to %u can be", count, chain,
                               planned, may_be ? fingerprint_layout::most_tables : 0);
        }
        for (unsigned i = planned; i < count; ++i) wanted.extra_bytes += layout.nth(chain, i).bytes_alone();
        wanted.tables += count;
    }
    return wanted;
}

// The values of a chain came by inserts of its classes.
std::uint64_t inserts_into(const fingerprint_layout& layout, const saved_parameters& read, unsigned chain) noexcept {
    std::uint64_t sum = 0;
    for (unsigned j = chain; j > 0 && (j == chain || !layout.is_chain(j)); --j) sum += read.inserts[j];
    return sum;
}

}  // namespace

std::span<std::byte> daisy_fingerprint_filter::bytes_of(std::size_t at) noexcept {
    if (at >= planned_tables()) return own_[at - planned_tables()].bytes();
    return {reinterpret_cast<std::byte*>(tables_[at].state.blocks), shape_of(at).bytes()};
}

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
        for (unsigned chain = 0; chain <= max_daisy_class; ++chain) {
            const bool is_one = chain <= largest_ && is_chain(chain);
            fields.u8(static_cast<std::uint8_t>(is_one ? tables_in(chain) : 0));
            for (std::size_t at = is_one ? first_of_[chain] : none; at != none; at = tables_[at].next) {
                std::array<std::byte, 8> word;
                store_little_endian(word.data(), tables_[at].state.used);
                if (const auto put = used.write(word); !put) return put.error();
                if (at < planned_tables()) continue;
                if (const auto put = extra.write(own_[at - planned_tables()].bytes()); !put) return put.error();
            }
        }
        const std::array<std::span<const std::byte>, 3> sections = {used.bytes(), planned_.bytes(), extra.bytes()};
        return write_snapshot(out, *info, fields.view(), sections);
    });
}

// The tables are there, empty and of the right shape. Chain by chain: as they were written.
result<void> daisy_fingerprint_filter::take_over(std::span<const std::byte> used, std::span<const std::byte> planned,
                                                 std::span<const std::byte> extra) noexcept {
    const auto bad = [](unsigned chain, const fingerprint_layout_table& shape, std::uint64_t values) {
        return error::make(error_code::corrupt,
                           "daisy_fingerprint snapshot: a table of class %u has %llu values in room for %llu, or "
                           "something behind its end",
                           chain, static_cast<unsigned long long>(values),
                           static_cast<unsigned long long>(shape.room()));
    };
    if (!planned.empty()) std::memcpy(planned_.data(), planned.data(), planned.size());
    std::span<const std::byte> behind = planned;  // the last of the plan
    for (unsigned chain = 1; chain <= largest_; ++chain) {
        for (std::size_t at = is_chain(chain) ? first_of_[chain] : none; at != none; at = tables_[at].next) {
            cleary_state& state = tables_[at].state;
            const auto shape = shape_of(at);
            const std::span<std::byte> bytes = bytes_of(at);
            if (shape.planned) {
                behind = behind.subspan(bytes.size());
            } else {
                std::memcpy(bytes.data(), extra.data(), bytes.size());
                extra = extra.subspan(bytes.size());
            }
            state.used = load_little_endian<std::uint64_t>(used.data());
            used = used.subspan(8);
            if (const auto fine = cleary::check(state); !fine) return fine;
            const std::uint64_t blocks_end = shape.blocks * sizeof(cleary_block);
            const std::uint64_t values_end =
                blocks_end + sizeof(cleary_block) + cleary::remainder_bytes(shape.blocks, shape.bits);
            if (!all_zero(bytes.subspan(blocks_end, sizeof(cleary_block))) || !all_zero(bytes.subspan(values_end)) ||
                state.used > shape.room())
                return bad(chain, shape, state.used);
        }
    }
    if (!all_zero(behind)) return error::make(error_code::corrupt, "daisy_fingerprint snapshot: not zero at its end");
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
    const auto wanted = wanted_by(layout, *read);
    if (!wanted) return wanted.error();
    const auto used = view->sections[0], planned = view->sections[1], extra = view->sections[2];
    const std::uint64_t planned_bytes = layout.planned_bytes();
    if (used.size() != 8 * wanted->tables || planned.size() != planned_bytes || extra.size() != wanted->extra_bytes) {
        return error::make(
            error_code::corrupt,
            "daisy_fingerprint snapshot: %zu, %zu and %zu bytes, where plan and counts ask for %llu, %llu, %llu",
            used.size(), planned.size(), extra.size(), static_cast<unsigned long long>(8 * wanted->tables),
            static_cast<unsigned long long>(planned_bytes), static_cast<unsigned long long>(wanted->extra_bytes));
    }
    auto made = make(read->options);
    if (!made) return made.error();
    for (unsigned chain = 1; chain <= layout.largest; ++chain) {
        while (made->tables_in(chain) < read->tables[chain]) {
            if (const auto added = made->add_table(chain); !added) return added.error();
        }
    }
    if (const auto taken = made->take_over(used, planned, extra); !taken) return taken.error();
    for (unsigned j = 0; j <= layout.largest; ++j) made->classes_[j].inserts = read->inserts[j];
    for (unsigned chain = 1; chain <= layout.largest; ++chain) {
        std::uint64_t values = 0;
        if (!layout.is_chain(chain)) continue;
        for (std::size_t at = made->first_of_[chain]; at != none; at = made->tables_[at].next)
            values += made->tables_[at].state.used;
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
