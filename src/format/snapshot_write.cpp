// write_snapshot and snapshot_stream: lengths first, then the payload's checksum, then the header,
// then the bytes.
#include <algorithm>
#include <exception>
#include <limits>
#include <new>

#include "format/checksum.hpp"
#include "format/snapshot_layout.hpp"
#include "format/snapshot_stream.hpp"
#include "genista/detail/format/snapshot.hpp"

namespace genista {
namespace {

constexpr std::array<std::byte, snapshot_alignment_bytes> padding_zeros{};

[[nodiscard]] std::span<const std::byte> padding_of(std::span<const std::byte> part) noexcept {
    return std::span{padding_zeros}.first(detail::padding_after(part.size()));
}

[[nodiscard]] error too_many_sections(std::size_t count) noexcept {
    return error::make(error_code::invalid_argument, "%zu snapshot sections; at most %zu are allowed", count,
                       max_snapshot_sections);
}

using header_bytes = std::array<std::byte, snapshot_header_bytes>;

// All header fields but total, lengths and checksums.
[[nodiscard]] header_bytes begin_header(const snapshot_info& info, std::uint16_t version, std::size_t parameters_bytes,
                                        std::size_t section_count) noexcept {
    header_bytes header{};
    std::byte* const at = header.data();
    std::copy(detail::snapshot_magic.begin(), detail::snapshot_magic.end(), at);
    store_little_endian(at + detail::format_version_at, version);
    store_little_endian(at + detail::kind_at, static_cast<std::uint16_t>(info.kind));
    store_little_endian(at + detail::kind_version_at, info.kind_version);
    store_little_endian(at + detail::hash_id_at, info.hash_id);
    store_little_endian(at + detail::key_id_at, info.key_id);
    std::copy(info.store.identity.begin(), info.store.identity.end(), at + detail::store_identity_at);
    store_little_endian(at + detail::sequence_at, info.store.sequence);
    store_little_endian(at + detail::parameters_bytes_at, static_cast<std::uint32_t>(parameters_bytes));
    store_little_endian(at + detail::section_count_at, static_cast<std::uint32_t>(section_count));
    return header;
}

void seal(header_bytes& header) noexcept {
    store_little_endian(header.data() + detail::header_checksum_at,
                        detail::checksum64_of(std::span{header}.first(detail::header_checksum_at)));
}

[[nodiscard]] header_bytes make_header(const snapshot_info& info, std::uint64_t total_bytes,
                                       std::span<const std::byte> parameters,
                                       std::span<const std::span<const std::byte>> sections) noexcept {
    header_bytes header = begin_header(info, snapshot_format_version, parameters.size(), sections.size());
    std::byte* const at = header.data();
    store_little_endian(at + detail::total_bytes_at, total_bytes);
    detail::checksum128_stream payload;
    payload.add(parameters);
    payload.add(padding_of(parameters));
    for (std::size_t i = 0; i < sections.size(); ++i) {
        store_little_endian(at + detail::section_bytes_at + 8 * i, std::uint64_t{sections[i].size()});
        payload.add(sections[i]);
        payload.add(padding_of(sections[i]));
    }
    const detail::checksum128 payload_checksum = payload.value();
    std::copy(payload_checksum.begin(), payload_checksum.end(), at + detail::payload_checksum_at);
    seal(header);
    return header;
}

// Turns an exception of a sink into an error.
template <class Write>
result<void> caught(const Write& write) noexcept {
    try {
        return write();
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "the sink ran out of memory while a snapshot was written");
    } catch (const std::exception& thrown) {
        return error::make(error_code::io, "the sink threw while a snapshot was written: %s", thrown.what());
    } catch (...) {
        return error::make(error_code::io, "the sink threw while a snapshot was written");
    }
}

// Writes a part and its padding. Nothing is written for an empty part.
result<void> write_part(sink& out, std::span<const std::byte> part) {
    for (const std::span<const std::byte> piece : {part, padding_of(part)}) {
        if (piece.empty()) continue;
        if (result<void> written = out.write(piece); !written) return written;
    }
    return {};
}

result<void> write_parts(sink& out, const header_bytes& header, std::span<const std::byte> parameters,
                         std::span<const std::span<const std::byte>> sections) {
    if (result<void> written = write_part(out, header); !written) return written;
    if (result<void> written = write_part(out, parameters); !written) return written;
    for (const std::span<const std::byte> section : sections) {
        if (result<void> written = write_part(out, section); !written) return written;
    }
    return {};
}

}  // namespace

std::string_view to_string(snapshot_kind kind) noexcept {
    switch (kind) {
        case snapshot_kind::bloom:
            return "bloom";
        case snapshot_kind::blocked_bloom:
            return "blocked_bloom";
        case snapshot_kind::cuckoo_partial:
            return "cuckoo_partial";
        case snapshot_kind::broom:
            return "broom";
        case snapshot_kind::cuckoo:
            return "cuckoo";
        case snapshot_kind::cuckooing:
            return "cuckooing";
        case snapshot_kind::cyclic:
            return "cyclic";
        case snapshot_kind::swapping:
            return "swapping";
        case snapshot_kind::broom_paper:
            return "broom_paper";
        case snapshot_kind::adaptive_bloom:
            return "adaptive_bloom";
        case snapshot_kind::cascade:
            return "cascade";
        case snapshot_kind::whitelist:
            return "whitelist";
        case snapshot_kind::succinct:
            return "succinct_set";
        case snapshot_kind::multiset:
            return "multiset";
        case snapshot_kind::optimal:
            return "optimal_filter";
        case snapshot_kind::spectral:
            return "spectral";
        case snapshot_kind::lossy:
            return "lossy";
        case snapshot_kind::bloomier:
            return "bloomier";
        case snapshot_kind::exact_oracle:
            return "exact_oracle";
        case snapshot_kind::count_min_oracle:
            return "count_min_oracle";
        case snapshot_kind::count_sketch_oracle:
            return "count_sketch_oracle";
        case snapshot_kind::score_oracle:
            return "score_oracle";
        case snapshot_kind::oracle_model:
            return "oracle_model";
        case snapshot_kind::daisy_bloom:
            return "daisy_bloom";
        case snapshot_kind::weighted_bloom:
            return "weighted_bloom";
        case snapshot_kind::daisy_fingerprint:
            return "daisy_fingerprint";
        case snapshot_kind::daisy_broom:
            return "daisy_broom";
        case snapshot_kind::with_oracle:
            return "with_oracle";
        case snapshot_kind::cleary:
            return "cleary";
    }
    return "unknown";
}

bool is_retired(snapshot_kind kind) noexcept {
    switch (kind) {
        case snapshot_kind::cuckoo:
        case snapshot_kind::cyclic:
        case snapshot_kind::swapping:
        case snapshot_kind::broom_paper:
        case snapshot_kind::whitelist:
        case snapshot_kind::weighted_bloom:
            return true;
        default:
            return false;
    }
}

result<std::uint64_t> snapshot_size_bytes(std::uint64_t parameters_bytes,
                                          std::span<const std::uint64_t> section_bytes) noexcept {
    if (parameters_bytes > max_parameters_bytes) {
        return error::make(error_code::invalid_argument, "snapshot parameters of %llu bytes; at most %zu are allowed",
                           static_cast<unsigned long long>(parameters_bytes), max_parameters_bytes);
    }
    if (section_bytes.size() > max_snapshot_sections) {
        return too_many_sections(section_bytes.size());
    }
    constexpr std::uint64_t limit = std::numeric_limits<std::int64_t>::max();
    std::uint64_t total = snapshot_header_bytes + parameters_bytes + detail::padding_after(parameters_bytes);
    for (const std::uint64_t length : section_bytes) {
        const std::uint64_t padding = detail::padding_after(length);
        if (length > limit - total || padding > limit - total - length) {
            return error::make(error_code::invalid_argument,
                               "snapshot section of %llu bytes after %llu others; a file has at most 2^63 - 1",
                               static_cast<unsigned long long>(length), static_cast<unsigned long long>(total));
        }
        total += length + padding;
    }
    return total;
}

result<void> write_snapshot(sink& out, const snapshot_info& info, std::span<const std::byte> parameters,
                            std::span<const std::span<const std::byte>> sections) noexcept {
    if (sections.size() > max_snapshot_sections) return too_many_sections(sections.size());
    std::array<std::uint64_t, max_snapshot_sections> lengths{};
    for (std::size_t i = 0; i < sections.size(); ++i) lengths[i] = sections[i].size();
    const result<std::uint64_t> total =
        snapshot_size_bytes(parameters.size(), std::span{lengths}.first(sections.size()));
    if (!total) return total.error();

    const header_bytes header = make_header(info, *total, parameters, sections);
    return caught([&] { return write_parts(out, header, parameters, sections); });
}

namespace detail {

snapshot_stream::snapshot_stream(sink& out, const snapshot_info& info, std::size_t section_count) noexcept
    : out_{out}, info_{info}, section_count_{section_count} {}

result<void> snapshot_stream::write(std::span<const std::byte> bytes) noexcept {
    if (bytes.empty()) return {};
    return caught([&] { return out_.write(bytes); });
}

result<void> snapshot_stream::begin(std::span<const std::byte> parameters) noexcept {
    if (section_count_ > max_snapshot_sections) return too_many_sections(section_count_);
    if (const auto fits = snapshot_size_bytes(parameters.size(), {}); !fits) return fits.error();
    parameters_bytes_ = parameters.size();
    header_bytes header = begin_header(info_, streamed_format_version, parameters_bytes_, section_count_);
    seal(header);
    if (auto written = write(header); !written) return written;
    payload_.add(parameters);
    payload_.add(padding_of(parameters));
    if (auto written = write(parameters); !written) return written;
    return write(padding_of(parameters));
}

result<void> snapshot_stream::add(std::span<const std::byte> bytes) noexcept {
    payload_.add(bytes);
    lengths_[section_] += bytes.size();
    return write(bytes);
}

result<void> snapshot_stream::end_section() noexcept {
    const auto padding = std::span{padding_zeros}.first(padding_after(lengths_[section_++]));
    payload_.add(padding);
    return write(padding);
}

result<void> snapshot_stream::finish() noexcept {
    const std::span lengths = std::span{lengths_}.first(section_count_);
    const auto parts = snapshot_size_bytes(parameters_bytes_, lengths);
    if (!parts) return parts.error();
    header_bytes header = begin_header(info_, streamed_format_version, parameters_bytes_, section_count_);
    std::byte* const at = header.data();
    store_little_endian(at + total_bytes_at, *parts + snapshot_header_bytes);
    for (std::size_t i = 0; i < lengths.size(); ++i) store_little_endian(at + section_bytes_at + 8 * i, lengths[i]);
    const checksum128 sum = payload_.value();
    std::copy(sum.begin(), sum.end(), at + payload_checksum_at);
    seal(header);
    return write(header);
}

}  // namespace detail
}  // namespace genista
