// Save and load, of cuckooing_filter only. docs/format.md draws the sections. R's index is not
// part of a snapshot: a loaded filter rebuilds from R before its first change (family.hpp).
#include <algorithm>
#include <cstring>

#include "filters/cuckoo/core.hpp"
#include "filters/cuckoo/slots.hpp"
#include "filters/snapshot_fields.hpp"

namespace genista::cuckoo {
namespace {

constexpr std::uint16_t version = 1;
constexpr double least_saved_rate = 0x1p-40;

// The rate that is saved: small fingerprints may have a rate beyond what the format accepts, so it
// is bounded.
double rate_to_save(const cuckoo_shape& shape, double load) noexcept {
    return std::min(rate_of(shape, load), max_false_positive_rate);
}

error bad(const member_of_family& who, const char* what, std::uint64_t number) noexcept {
    return error::make(error_code::corrupt, "%.*s snapshot: %s (%llu)", static_cast<int>(who.name.size()),
                       who.name.data(), what, static_cast<unsigned long long>(number));
}

bool is_possible(const cuckoo_shape& shape, const member_of_family& who) noexcept {
    return shape.selector_bits == who.usual.selector_bits && shape.tables >= least_tables &&
           shape.tables <= most_tables && shape.bin_slots >= 1 && shape.bin_slots <= most_bin_slots &&
           shape.fingerprint_bits >= least_fingerprint_bits && shape.fingerprint_bits <= most_fingerprint_bits &&
           shape.bins >= 1 && shape.bins <= most_slots / (shape.tables * shape.bin_slots);
}

}  // namespace

result<void> core::save(sink& out) const {
    const std::lock_guard held{mutex_};
    const auto info = describe(snapshot_kind::cuckooing, version, hash_);
    if (!info) return info.error();
    field_writer fields;
    filter_stats common;
    common.capacity = capacity_;
    common.false_positive_rate = rate_to_save(shape(), load_);
    common.keys = keys_;
    write_common(fields, common, hash_);
    fields.u32(shape().tables).u32(shape().bin_slots).u32(shape().fingerprint_bits).u32(shape().selector_bits);
    fields.u64(shape().bins).f64(load_);
    for (const std::uint64_t salt : current_salts()) fields.u64(salt);
    const std::array sections = {table_.bytes()};
    return write_snapshot(out, *info, fields.view(), sections);
}

result<std::unique_ptr<core>> core::load(const member_of_family& who, std::span<const std::byte> bytes) {
    auto opened = open_filter(snapshot_kind::cuckooing, version, 1, bytes, who.name, least_saved_rate);
    if (!opened) return opened.error();
    auto& [view, fields, common] = *opened;
    cuckoo_shape shape = who.usual;
    shape.tables = fields.u32();
    shape.bin_slots = fields.u32();
    shape.fingerprint_bits = fields.u32();
    shape.selector_bits = fields.u32();
    shape.bins = fields.u64();
    const double load = fields.f64();
    salts under{};
    for (std::uint64_t& salt : under) salt = fields.u64();
    if (!fields.finished() || !is_possible(shape, who) || !(load >= least_load && load <= 1))
        return bad(who, "impossible tables, slots, bits or load", shape.tables);
    if (common.options.false_positive_rate != rate_to_save(shape, load))
        return bad(who, "a rate that these fingerprints do not have", shape.fingerprint_bits);
    const std::span<const std::byte> table = view.sections[0];
    if (table.size() != table_bytes(shape)) return bad(who, "a table of another size", table.size());
    const auto seed = hash_key::random();
    if (!seed) return seed.error();
    std::uint64_t chance = 0;
    std::memcpy(&chance, seed->bytes.data(), sizeof chance);
    auto made = make(who, {.shape = shape,
                           .capacity = common.options.capacity,
                           .load = load,
                           .rate = rate_of(shape, load),
                           .hash = *common.options.hash,
                           .seed = chance});
    if (!made) return made;
    core& loaded = **made;
    std::memcpy(loaded.table_.data(), table.data(), table.size());
    for (std::size_t i = 0; i < under.size(); ++i) loaded.state_.salts[i].store(under[i], std::memory_order_relaxed);
    std::uint64_t occupied = 0;
    for (std::uint64_t slot = 0; slot < shape.slots(); ++slot) {
        occupied += loaded.is_empty(slot) ? 0u : 1u;
    }
    if (occupied != common.keys) return bad(who, "occupied slots are not as many as keys", occupied);
    for (std::uint64_t bit = shape.slots() * shape.slot_bits(); bit < 8 * table.size(); ++bit) {
        if ((std::to_integer<unsigned>(table[bit / 8]) >> bit % 8 & 1) != 0)
            return bad(who, "a bit beyond the last slot", bit);
    }
    loaded.keys_ = common.keys;
    return made;
}

}  // namespace genista::cuckoo
