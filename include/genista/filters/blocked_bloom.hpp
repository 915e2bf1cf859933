// blocked_bloom_filter: a Bloom filter whose bits for one key share a cache line. The fastest
// filter here that does not adapt: one line a look-up, no branch, no deletions, 0.7-4 bits a key
// over the plain Bloom filter.
//
// The table is an array of blocks, and a block an array of lanes; a key sets one bit in each lane
// of one block:
//
//     quad    32 bytes = 4 lanes of 64 bits      rates down to about 2.2 %
//     octet   64 bytes = 8 lanes of 64 bits      rates from there down to about 0.016 %
//     sixteen 64 bytes = 16 lanes of 32 bits     smaller rates
//
//     block 0                                          block 1
//     | lane 0  | lane 1  | ...            | lane 7  |  ...
//       ↑ 1 bit   ↑ 1 bit                    ↑ 1 bit      each chosen by its own bits of the digest
//
// The block is scale(position, blocks). Lanes take disjoint bits of the seed (sixteen lanes need 80
// bits: the last four take theirs from the low half of position·blocks), so within a block the bits
// are independent and the rate is exactly
//
//     E[(1 - (1 - 1/lane_bits)^J)^lanes],   J ~ Poisson(n / blocks) keys in the block,
//
// which is what make() sizes for, choosing the layout with the fewest bits. Split blocks as in
// Parquet and Impala are the same idea with 8 lanes of 32 bits; at 2^-8 those need 0.7 bits a key
// more than `octet` (docs/filters/blocked_bloom.md).
//
// Many threads may query at once; an insert excludes everything else, as with a standard container.
#pragma once

#include <cstdint>
#include <string_view>

#include "genista/detail/filters/counted_table.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

// Numbers are written into snapshots: never renumber.
enum class block_layout : std::uint8_t { quad = 0, octet = 1, sixteen = 2 };

struct blocked_bloom_state {
    std::byte* bytes = nullptr;
    std::uint64_t blocks = 0;
};

using blocked_bloom_kernels = adding_kernels<blocked_bloom_state>;

class blocked_bloom_filter : public counted_table<blocked_bloom_filter, blocked_bloom_state, blocked_bloom_kernels,
                                                  insert_outcome::already_present> {
  public:
    static constexpr std::string_view name = "blocked_bloom";
    static constexpr double min_false_positive_rate = 1e-7;  // about 51 bits a key; below, other filters are smaller

    // Allocates the whole table. Keys past the capacity are accepted: the rate then exceeds the
    // promise, slowly, and no key is lost.
    [[nodiscard]] static result<blocked_bloom_filter> make(const filter_options& options = {}) noexcept;

    // Inserts of one key and of many, clear(), stats() and hash(): counted_table.hpp. No insert is
    // `full`.

    // Afterwards this filter holds the keys of both. Both must have the same table size, layout and
    // hash key. The key count becomes an upper bound: keys in both are counted twice.
    [[nodiscard]] result<void> merge(const blocked_bloom_filter& other) noexcept;

    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<blocked_bloom_filter> load(std::span<const std::byte> bytes) noexcept;

    [[nodiscard]] block_layout layout() const noexcept { return layout_; }

    [[nodiscard]] static result<std::uint64_t> bits_for(std::uint64_t capacity, double rate) noexcept;
    [[nodiscard]] static double fpr_for(std::uint64_t capacity, std::uint64_t bits) noexcept;
    [[nodiscard]] static result<std::uint64_t> keys_for_bits(std::uint64_t bits, double rate) noexcept;

  private:
    blocked_bloom_filter(const filter_options& options, const hasher& hash, block_layout layout, buffer table) noexcept;

    [[nodiscard]] static result<blocked_bloom_filter> make_with(const filter_options& options, block_layout layout,
                                                                std::uint64_t blocks) noexcept;

    block_layout layout_;
};

}  // namespace genista
