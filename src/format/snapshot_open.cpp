// open_snapshot: each check relies on the checks before it, so the order matters.
//
//     magic → size → header checksum → version → lengths and their sum → payload checksum → zeros
//     in padding → kind
//
// The header checksum comes before the version, so that a flipped bit in the version reads
// "damaged" and not "newer". For that, every later version must keep bytes [0, 10) and the checksum
// of the first 192 bytes in place. A streamed snapshot (version 2) has a second header at its end,
// which has to pass the same checks.
#include <algorithm>
#include <limits>

#include "bits/words.hpp"
#include "format/checksum.hpp"
#include "format/snapshot_layout.hpp"
#include "genista/detail/format/snapshot.hpp"

namespace genista {
namespace {

using bytes_view = std::span<const std::byte>;

[[nodiscard]] unsigned long long wide(std::uint64_t value) noexcept {
    return value;
}

[[nodiscard]] result<void> check_magic(bytes_view bytes) noexcept {
    const bytes_view magic = detail::snapshot_magic;
    const std::size_t seen = std::min(bytes.size(), magic.size());
    if (seen > 0 && std::equal(magic.begin(), magic.begin() + static_cast<std::ptrdiff_t>(seen), bytes.begin())) {
        return {};
    }
    const bytes_view letters = magic.subspan(1, detail::line_ends_at - 1);
    if (bytes.size() > detail::line_ends_at && std::equal(letters.begin(), letters.end(), bytes.begin() + 1)) {
        return error::make(error_code::corrupt,
                           "not a Genista snapshot any more: its first 8 bytes were changed, "
                           "as by a transfer in text mode");
    }
    return error::make(error_code::corrupt, "not a Genista snapshot: %s",
                       bytes.empty() ? "no bytes at all" : "it does not begin with the snapshot magic");
}

[[nodiscard]] result<void> check_header(bytes_view bytes) noexcept {
    if (result<void> magic = check_magic(bytes); !magic) return magic;
    if (bytes.size() < snapshot_header_bytes) {
        return error::make(error_code::corrupt, "snapshot truncated: %zu bytes, and the header alone has %zu",
                           bytes.size(), snapshot_header_bytes);
    }
    const std::byte* const at = bytes.data();
    const std::uint64_t found = load_little_endian<std::uint64_t>(at + detail::header_checksum_at);
    const std::uint64_t computed = detail::checksum64_of(bytes.first(detail::header_checksum_at));
    if (found != computed) {
        return error::make(error_code::corrupt,
                           "snapshot header damaged: its checksum is %016llx, its bytes give %016llx", wide(found),
                           wide(computed));
    }
    const unsigned version = load_little_endian<std::uint16_t>(at + detail::format_version_at);
    if (version != snapshot_format_version && version != streamed_format_version) {
        return error::make(error_code::unsupported,
                           "snapshot of format version %u; this library reads versions %u and %u", version,
                           unsigned{snapshot_format_version}, unsigned{streamed_format_version});
    }
    if (!bits::all_zero(bytes.subspan(detail::reserved_at, detail::header_checksum_at - detail::reserved_at))) {
        return error::make(error_code::corrupt, "snapshot header with reserved bytes [%zu, %zu) that are not zero",
                           detail::reserved_at, detail::header_checksum_at);
    }
    return {};
}

struct lengths {
    std::uint32_t parameters_bytes = 0;
    std::array<std::uint64_t, max_snapshot_sections> section_bytes{};
    std::size_t section_count = 0;
};

// Proves that parameters, sections and their padding end exactly where `bytes` ends, so that every
// later sum of them is below bytes.size() and no arithmetic on them can overflow. `header` is the
// header with the lengths; `more_bytes` are the bytes of the file besides one header and its parts.
[[nodiscard]] result<lengths> check_lengths(bytes_view bytes, const std::byte* header,
                                            std::uint64_t more_bytes) noexcept {
    const std::byte* const at = header;
    lengths found;
    found.parameters_bytes = load_little_endian<std::uint32_t>(at + detail::parameters_bytes_at);
    const std::uint32_t count = load_little_endian<std::uint32_t>(at + detail::section_count_at);
    if (found.parameters_bytes > max_parameters_bytes || count > max_snapshot_sections) {
        return error::make(error_code::corrupt,
                           "snapshot with %lu bytes of parameters and %lu sections; at most %zu and %zu are allowed",
                           static_cast<unsigned long>(found.parameters_bytes), static_cast<unsigned long>(count),
                           max_parameters_bytes, max_snapshot_sections);
    }
    found.section_count = count;
    for (std::size_t i = 0; i < max_snapshot_sections; ++i) {
        found.section_bytes[i] = load_little_endian<std::uint64_t>(at + detail::section_bytes_at + 8 * i);
        if (i >= count && found.section_bytes[i] != 0) {
            return error::make(error_code::corrupt, "snapshot with %lu sections gives a length to section %zu",
                               static_cast<unsigned long>(count), i);
        }
    }
    const std::uint64_t total = load_little_endian<std::uint64_t>(at + detail::total_bytes_at);
    const result<std::uint64_t> sum =
        snapshot_size_bytes(found.parameters_bytes, std::span{found.section_bytes}.first(count));
    if (!sum || total < more_bytes || *sum != total - more_bytes) {
        return error::make(error_code::corrupt, "snapshot whose parts do not add up to its total of %llu bytes",
                           wide(total));
    }
    if (total > bytes.size()) {
        return error::make(error_code::corrupt, "snapshot truncated: %zu bytes of %llu", bytes.size(), wide(total));
    }
    if (total < bytes.size()) {
        return error::make(error_code::corrupt, "snapshot of %llu bytes is followed by %llu more", wide(total),
                           wide(bytes.size() - total));
    }
    return found;
}

[[nodiscard]] bool is_streamed(bytes_view bytes) noexcept {
    return load_little_endian<std::uint16_t>(bytes.data() + detail::format_version_at) == streamed_format_version;
}

// The header at the end of a streamed snapshot. It is complete, and it must equal the first header
// in everything that was known when writing began. The first header, whose checksum was checked,
// has no lengths and no checksum of the payload.
[[nodiscard]] result<bytes_view> closing_header(bytes_view bytes) noexcept {
    const auto cut = [&] {
        return error::make(error_code::corrupt, "snapshot truncated: %zu bytes, and the header at its end is not there",
                           bytes.size());
    };
    if (bytes.size() < 2 * snapshot_header_bytes) return cut();
    const bytes_view first = bytes.first(snapshot_header_bytes);
    const bytes_view last = bytes.last(snapshot_header_bytes);
    const bytes_view magic = detail::snapshot_magic;
    if (!std::equal(magic.begin(), magic.end(), last.begin())) return cut();
    if (result<void> checked = check_header(last); !checked) return checked.error();
    const auto same = [&](std::size_t from, std::size_t end) {
        return std::equal(first.begin() + static_cast<std::ptrdiff_t>(from),
                          first.begin() + static_cast<std::ptrdiff_t>(end),
                          last.begin() + static_cast<std::ptrdiff_t>(from));
    };
    if (!same(0, detail::total_bytes_at) || !same(detail::parameters_bytes_at, detail::section_bytes_at) ||
        !bits::all_zero(first.subspan(detail::total_bytes_at, 8)) ||
        !bits::all_zero(first.subspan(detail::section_bytes_at, detail::reserved_at - detail::section_bytes_at)))
        return error::make(error_code::corrupt, "snapshot whose first and last header do not agree");
    return last;
}

// Removes the next part from `rest` and checks that its padding is zero.
[[nodiscard]] bool take_part(bytes_view& rest, std::uint64_t length_bytes, bytes_view& part) noexcept {
    const auto length = static_cast<std::size_t>(length_bytes);
    const std::size_t padding = detail::padding_after(length_bytes);
    part = rest.first(length);
    const bool clean = bits::all_zero(rest.subspan(length, padding));
    rest = rest.subspan(length + padding);
    return clean;
}

}  // namespace

result<snapshot_view> open_snapshot(std::span<const std::byte> bytes) noexcept {
    if (result<void> header = check_header(bytes); !header) return header.error();
    const bool streamed = is_streamed(bytes);
    bytes_view header = bytes.first(snapshot_header_bytes);
    if (streamed) {
        const result<bytes_view> last = closing_header(bytes);
        if (!last) return last.error();
        header = *last;
    }
    const std::size_t more_bytes = streamed ? snapshot_header_bytes : 0;
    const result<lengths> found = check_lengths(bytes, header.data(), more_bytes);
    if (!found) return found.error();

    const std::byte* const at = header.data();
    bytes_view rest = bytes.subspan(snapshot_header_bytes, bytes.size() - snapshot_header_bytes - more_bytes);
    const detail::checksum128 computed = detail::checksum128_of(rest);
    if (!std::equal(computed.begin(), computed.end(), at + detail::payload_checksum_at)) {
        return error::make(error_code::corrupt, "snapshot payload damaged: %zu bytes do not match their checksum",
                           rest.size());
    }

    snapshot_view view;
    bool clean = take_part(rest, found->parameters_bytes, view.parameters);
    for (std::size_t i = 0; i < found->section_count; ++i) {
        clean = take_part(rest, found->section_bytes[i], view.sections[i]) && clean;
    }
    if (!clean) return error::make(error_code::corrupt, "snapshot with padding that is not zero");
    view.section_count = found->section_count;
    view.format_version = streamed ? streamed_format_version : snapshot_format_version;
    view.info.kind = static_cast<snapshot_kind>(load_little_endian<std::uint16_t>(at + detail::kind_at));
    view.info.kind_version = load_little_endian<std::uint16_t>(at + detail::kind_version_at);
    view.info.hash_id = load_little_endian<std::uint16_t>(at + detail::hash_id_at);
    view.info.key_id = load_little_endian<std::uint64_t>(at + detail::key_id_at);
    std::copy_n(at + detail::store_identity_at, view.info.store.identity.size(), view.info.store.identity.begin());
    view.info.store.sequence = load_little_endian<std::uint64_t>(at + detail::sequence_at);
    if (is_retired(view.info.kind)) {
        const std::string_view name = to_string(view.info.kind);
        return error::make(error_code::unsupported,
                           "snapshot of kind %u (%.*s); this version no longer reads snapshots of that filter",
                           static_cast<unsigned>(view.info.kind), static_cast<int>(name.size()), name.data());
    }
    return view;
}

result<snapshot_view> open_snapshot_as(snapshot_kind kind, std::uint16_t newest_kind_version, std::size_t section_count,
                                       std::span<const std::byte> bytes) noexcept {
    result<snapshot_view> view = open_snapshot(bytes);
    if (!view) return view;
    const std::string_view wanted = to_string(kind);
    if (view->info.kind != kind) {
        const std::string_view present = to_string(view->info.kind);
        return error::make(error_code::mismatch, "snapshot of kind %u (%.*s), not of kind %u (%.*s)",
                           static_cast<unsigned>(view->info.kind), static_cast<int>(present.size()), present.data(),
                           static_cast<unsigned>(kind), static_cast<int>(wanted.size()), wanted.data());
    }
    if (view->info.kind_version == 0 || view->info.kind_version > newest_kind_version) {
        return error::make(error_code::unsupported,
                           "%.*s snapshot of kind version %u; this library reads versions 1 to %u",
                           static_cast<int>(wanted.size()), wanted.data(), unsigned{view->info.kind_version},
                           unsigned{newest_kind_version});
    }
    if (view->section_count != section_count) {
        return error::make(error_code::corrupt, "%.*s snapshot with %zu sections; it has %zu",
                           static_cast<int>(wanted.size()), wanted.data(), view->section_count, section_count);
    }
    return view;
}

}  // namespace genista
