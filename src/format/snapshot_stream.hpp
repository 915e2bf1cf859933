// snapshot_stream: a snapshot written piece by piece (format version 2), for filters that change
// while they are saved and are too large to be copied first. Lengths and checksum of the payload
// come last, in a second header.
//
//     begin(parameters); then for each section add(bytes) any number of times and end_section();
//     then finish()
//
// After the first error no function may be called.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "format/checksum.hpp"
#include "genista/detail/format/snapshot.hpp"

namespace genista::detail {

class snapshot_stream {
  public:
    snapshot_stream(sink& out, const snapshot_info& info, std::size_t section_count) noexcept;

    [[nodiscard]] result<void> begin(std::span<const std::byte> parameters) noexcept;
    [[nodiscard]] result<void> add(std::span<const std::byte> bytes) noexcept;
    [[nodiscard]] result<void> end_section() noexcept;
    [[nodiscard]] result<void> finish() noexcept;

  private:
    [[nodiscard]] result<void> write(std::span<const std::byte> bytes) noexcept;

    sink& out_;
    snapshot_info info_;
    std::size_t section_count_;
    std::size_t parameters_bytes_ = 0;
    std::size_t section_ = 0;
    std::array<std::uint64_t, max_snapshot_sections> lengths_{};
    checksum128_stream payload_;
};

}  // namespace genista::detail
