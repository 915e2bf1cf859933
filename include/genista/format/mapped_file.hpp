// mapped_file, read_file: the bytes of a file, either in place or as a copy.
//
// A mapping costs no memory and no time until a page is touched, and holds no promise about the
// future: if the file is cut short while it is mapped, touching a lost page raises SIGBUS,
// which no check can prevent. So:
//
//     mapped_file::open   files that are replaced and never rewritten, as by atomic_file_sink
//                         (sink.hpp, I3)
//     read_file           every other place: a copy of at most limit_bytes, which cannot change any
//                         more
//
// A loader verifies checksums first and uses the bytes after; over a mapping that others may write,
// the second look can differ from the first, over a copy it cannot. Both give data aligned to 64
// bytes, as snapshots like it. A missing file, a directory, a device, an unreadable and an empty
// file are errors that name the path and the reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "genista/base/result.hpp"
#include "genista/detail/base/buffer.hpp"

namespace genista {

class mapped_file {
  public:
    [[nodiscard]] static result<mapped_file> open(std::string_view path) noexcept;

    mapped_file() noexcept = default;
    mapped_file(mapped_file&& other) noexcept
        : data_{std::exchange(other.data_, nullptr)}, size_{std::exchange(other.size_, 0)} {}
    mapped_file& operator=(mapped_file&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~mapped_file();

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

  private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

// The limit is checked against the file's size before anything is allocated; a file that changes
// its length while it is read is an error.
[[nodiscard]] result<buffer> read_file(std::string_view path, std::uint64_t limit_bytes) noexcept;

}  // namespace genista
