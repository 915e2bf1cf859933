// buffer: zeroed, cache-line aligned bytes with exact accounting, the memory every filter lives in.
//
// From 2 MiB on the bytes come from mmap with huge pages advised (fewer TLB misses: believed 5-10 % of a
// look-up in DRAM); below that from the C++ allocator. Never throws: no memory is an error that names the size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "genista/base/result.hpp"

namespace genista {

class buffer {
  public:
    static constexpr std::size_t alignment = 64;

    [[nodiscard]] static result<buffer> zeroed(std::uint64_t size_bytes) noexcept;

    buffer() noexcept = default;
    buffer(buffer&& other) noexcept
        : data_{std::exchange(other.data_, nullptr)},
          size_{std::exchange(other.size_, 0)},
          allocated_{std::exchange(other.allocated_, 0)} {}
    buffer& operator=(buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(allocated_, other.allocated_);
        return *this;
    }
    ~buffer();

    // Gives the pages back and keeps the addresses, which then read as zeros; below 2 MiB it does nothing.
    void give_pages_back() noexcept;

    [[nodiscard]] std::byte* data() noexcept { return data_; }
    [[nodiscard]] const std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return size_; }
    // What the allocator gave, which is what stats() counts.
    [[nodiscard]] std::size_t allocated_bytes() const noexcept { return allocated_; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
    [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data_, size_}; }

  private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t allocated_ = 0;
};

}  // namespace genista
