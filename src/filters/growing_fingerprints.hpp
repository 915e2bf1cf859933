// growing_fingerprints: an approximate set that grows without bound. At every moment an absent key
// passes with probability at most 2^-j, and a value takes about j + 2 log log n + 4 bits; an
// operation reads or writes one page [daisy §4.3, first remark; Pagh, Segev, Wieder 2013].
//
// **What is kept.** The digest is a string of 128 bits, the position's lowest bit first. Of value
// number v (from 0) the first L(v) bits are kept. An absent key passes if one of the kept strings
// is a prefix of its own: with probability Σ 2^-L(v) at most.
//
//     generation g = -1, 0, 1 …     values [0, 256), [256, 512), [512, 1024) …: 256 · 2^g of them
//     L                             j + 8 + max(g, 0) + ⌈log2((g + 2)(g + 3))⌉ bits
//     rate                          256 · 2^g · 2^-L ≤ 2^-j / ((g + 2)(g + 3)): in all 2^-j
//
// A key whose string extends a kept one is "already present", so no kept string is a prefix of
// another.
//
// **Where it is kept.** P pages, one for 256 values. With 2^q ≤ P < 2^(q+1), page i is that of the
// keys whose first q bits are the number i, or q + 1 bits if that number is below P: linear
// hashing. The next 8 bits are the *home* in the page, and the rest of the L bits is the remainder.
// Every 256 values one page is split in two, in the order of their numbers: a remainder gives its
// first bit to the home, the home one to the page.
//
//     page    | count, width | remainders of home 0, of home 1, … →        ← 1 001 01 1 … |
//                              `width` bits each, a 1 above its last bit     256 homes: 0 is a
//                                                                            remainder, 1 its end
//
// Remainders of one page differ in length: earlier ones have fewer bits left. The highest set bit
// of a slot marks the end of a remainder, so `width` is one more than the longest. A remainder
// without bits lets its whole home pass, and is copied to both homes when the home is split. There
// are few of these: the rate allows no more such homes, and they cost no more than the values that
// would be in them.
//
// **Cost.** A page is allocated as large as needed, in steps of 64 bytes, and there is no other
// free space. Just after a power of two a value takes j + ⌈log2((g + 2)(g + 3))⌉ + 3 bits, and
// about a tenth of that for pages (header, rounding, allocator, directory). A look-up reads one
// page. An insert writes one page, and every 256th also splits one: bounded by the size of a page,
// whatever the number of values. No structure is ever moved as a whole, not even the directory,
// whose pieces double in size and stay.
//
//   I1  No false negative.
//   I2  `full` means that memory is exhausted; all answers are unchanged.
//   I3  Σ 2^-length over the kept strings is at most Σ 2^-L(v) over the values v, and so below 2^-j
//       however many values come.
//
// Threads may query concurrently; an insert excludes all other calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "genista/base/result.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

class growing_fingerprints {
  public:
    static constexpr unsigned home_bits = 8;
    static constexpr std::uint64_t homes = std::uint64_t{1} << home_bits;
    static constexpr std::uint64_t page_values = 256;
    static constexpr unsigned most_bits = 50;  // j; a slot has up to 12 more
    static constexpr unsigned most_page_bits = 40;
    static constexpr std::uint64_t most_values = page_values << most_page_bits;

    // L(v), for 1 ≤ j ≤ most_bits and v < most_values.
    [[nodiscard]] static unsigned length_of(unsigned rate_bits, std::uint64_t value) noexcept;
    // Σ 2^-L(v) over v < values.
    [[nodiscard]] static double most_let_through(unsigned rate_bits, std::uint64_t values) noexcept;
    [[nodiscard]] static std::uint64_t pages_for(std::uint64_t values) noexcept {
        return values <= page_values ? 1 : (values - 1) / page_values + 1;
    }

    // An empty set with its first page. `rate_bits` is j.
    [[nodiscard]] static result<growing_fingerprints> make(unsigned rate_bits) noexcept;
    growing_fingerprints(growing_fingerprints&& other) noexcept;
    growing_fingerprints& operator=(growing_fingerprints&& other) noexcept;
    ~growing_fingerprints();

    insert_outcome insert(const digest& d) noexcept;
    [[nodiscard]] bool may_contain(const digest& d) const noexcept;
    void prefetch(const digest& d) const noexcept;

    [[nodiscard]] unsigned rate_bits() const noexcept { return rate_bits_; }
    [[nodiscard]] std::uint64_t values() const noexcept { return values_; }  // inserted ones
    [[nodiscard]] std::uint64_t pages() const noexcept { return pages_; }
    // All memory that it allocates, with the allocator's 8 bytes a page; not the object.
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return bytes_; }
    // Σ 2^-length, by a walk over all pages.
    [[nodiscard]] double let_through() const noexcept;
    // The length of the longest remainder that an insert writes now.
    [[nodiscard]] unsigned remainder_bits() const noexcept;

    // Page by page: its words as in the picture without free space, then those of the homes, in
    // order.
    [[nodiscard]] std::uint64_t saved_bytes() const noexcept;
    [[nodiscard]] result<void> save(sink& out) const noexcept;
    // Reads off the front of `bytes`, which may be anything. Refuses pages that contradict
    // themselves, and strings that let more pass than those of so many values may (I3).
    [[nodiscard]] static result<growing_fingerprints> load(unsigned rate_bits, std::uint64_t values,
                                                           std::uint64_t pages,
                                                           std::span<const std::byte>& bytes) noexcept;

  private:
    using page = std::uint64_t*;
    struct aim;

    explicit growing_fingerprints(unsigned rate_bits) noexcept : rate_bits_{rate_bits} {}
    [[nodiscard]] page& page_at(std::uint64_t index) const noexcept;
    [[nodiscard]] aim aim_at(const digest& d) const noexcept;
    [[nodiscard]] unsigned consumed_by(std::uint64_t index) const noexcept;  // bits of the digest
    [[nodiscard]] page new_page(std::uint64_t count, unsigned width) noexcept;
    void free_page(page p) noexcept;
    [[nodiscard]] bool make_place(std::uint64_t index) noexcept;
    [[nodiscard]] bool split() noexcept;
    [[nodiscard]] bool put(page& p, std::uint64_t home, std::uint64_t slot) noexcept;
    [[nodiscard]] result<void> load_page(std::uint64_t index, std::span<const std::byte>& bytes) noexcept;
    void swap(growing_fingerprints& other) noexcept;

    // Piece 0 has page 0, piece k the pages from 2^(k-1) to 2^k - 1.
    std::array<page*, most_page_bits + 2> pieces_{};
    std::uint64_t pages_ = 0;
    std::uint64_t values_ = 0;
    std::uint64_t bytes_ = 0;
    unsigned rate_bits_;
};

}  // namespace genista
