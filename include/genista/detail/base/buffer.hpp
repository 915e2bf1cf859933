// buffer: zeroed, cache-line aligned bytes with exact accounting: the memory of every filter.
//
//     below 128 KiB   from the C++ allocator
//     from there on   from mmap, as the C++ allocator would do itself: pages that can be given back
//                     one by one
//     from 2 MiB on   at addresses that are multiples of 2 MiB, with huge pages advised (fewer TLB
//                     misses: believed 5-10 % of a look-up in DRAM)
//
// A mapping counts as the pages it was given: all of them for zeroed(); for untouched() the pages
// that take_pages() asked for; minus those given back. Never throws: a lack of memory is an error
// that names the size.
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
    static constexpr std::size_t page = 4096;
    static constexpr std::size_t huge_page = std::size_t{2} << 20;
    static constexpr std::size_t least_mapping = std::size_t{128} << 10;

    [[nodiscard]] static result<buffer> zeroed(std::uint64_t size_bytes) noexcept;
    // Addresses without pages: call take_pages() before the first write. Below 128 KiB the same as
    // zeroed().
    [[nodiscard]] static result<buffer> untouched(std::uint64_t size_bytes) noexcept;
    // What the allocator will allocate for so many bytes.
    [[nodiscard]] static constexpr std::uint64_t bytes_for(std::uint64_t size_bytes) noexcept {
        const std::uint64_t unit = size_bytes < least_mapping ? alignment : page;
        return (size_bytes + unit - 1) / unit * unit;
    }
    // The unit in which a buffer of this size takes pages and gives them back: a huge page is never
    // split.
    [[nodiscard]] static constexpr std::size_t piece_for(std::uint64_t size_bytes) noexcept {
        return size_bytes < huge_page ? page : huge_page;
    }

    buffer() noexcept = default;
    buffer(buffer&& other) noexcept { swap(other); }
    buffer& operator=(buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~buffer();

    // Takes pages for all pieces that contain bytes below `end`. Pieces that were given back stay
    // without.
    void take_pages(std::size_t end) noexcept;
    // Gives back the pages of whole pieces below `end` and keeps the addresses, which then read as
    // zeros. Below 128 KiB it does nothing.
    void give_pages_back(std::size_t end) noexcept;
    void give_pages_back() noexcept;  // all of them

    [[nodiscard]] std::byte* data() noexcept { return data_; }
    [[nodiscard]] const std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return size_; }
    // What was allocated, which is what stats() counts.
    [[nodiscard]] std::size_t allocated_bytes() const noexcept { return taken_ - given_back_; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
    [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data_, size_}; }

  private:
    [[nodiscard]] bool is_mapped() const noexcept { return size_ >= least_mapping; }
    void give_back_until(std::size_t end) noexcept;
    void swap(buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(taken_, other.taken_);
        std::swap(given_back_, other.given_back_);
    }

    // The buffer has the pages of [given_back_, taken_).
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t taken_ = 0;
    std::size_t given_back_ = 0;
};

}  // namespace genista
