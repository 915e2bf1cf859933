// The envelope that binds a saved filter of classes to its oracle. See with_oracle.hpp;
// docs/format.md draws it.
#include "genista/filters/with_oracle.hpp"

#include "format/hash_fields.hpp"
#include "genista/detail/format/snapshot.hpp"

namespace genista {
namespace {

constexpr std::uint16_t with_oracle_version = 1;

}  // namespace

result<void> write_marked(sink& out, const hasher& hash, const oracle_marks& oracle,
                          std::span<const std::byte> filter) noexcept {
    const auto info = describe(snapshot_kind::with_oracle, with_oracle_version, hash);
    if (!info) return info.error();
    field_writer fields;
    fields.bytes(oracle.identity.bytes).bytes(oracle.probe.bytes);
    const std::array sections = {filter};
    return write_snapshot(out, *info, fields.view(), sections);
}

// The filter inside has a loader of its own, which trusts the bytes as little.
result<marked_snapshot> read_marked(std::span<const std::byte> bytes) noexcept {
    const auto view = open_snapshot_as(snapshot_kind::with_oracle, with_oracle_version, 1, bytes);
    if (!view) return view.error();
    marked_snapshot read{.oracle = {}, .filter = view->sections[0]};
    field_reader fields{view->parameters};
    fields.copy(read.oracle.identity.bytes);
    fields.copy(read.oracle.probe.bytes);
    if (!fields.finished()) return error::make(error_code::corrupt, "with_oracle snapshot: marks of another length");
    const auto inside = open_snapshot(read.filter);
    if (!inside) return inside.error();
    if (inside->info.hash_id != view->info.hash_id || inside->info.key_id != view->info.key_id)
        return error::make(error_code::corrupt, "with_oracle snapshot: a filter of another hash key inside");
    return read;
}

}  // namespace genista
