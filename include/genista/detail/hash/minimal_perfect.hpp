// minimal_perfect: maps n different digests to 0 .. n-1, each number once, in less than 3 bits a
// key. Other digests get some number below n as well: the function does not store its keys, only
// how to separate them.
//
// [ppr05 §6.2] cites another work for this ("a minimal perfect hash function, O(n + log w) bits
// [11]"). This one is our choice, and own code: hash, displace and compress (Belazzougui, Botelho,
// Dietzfelbinger, 2009) within small partitions (as in PTHash and PHOBIC).
//
//     position ──→ partition, about 2048 keys ──→ bucket, 4.5 keys on average, more in the first
//     word (position and seed mixed), seed of the bucket ──→ slot within the partition
//     number = start of the partition + slot
//
//     columns   | 8 buckets: offset, width | next 8 | ...   bits of their seeds, for all partitions
//     records   | start, size | seed 0 | seed 1 | ... |      partition 0, in whole words
//               | start, size | seed 0 | ...                 partition 1
//
//   I1  Slots of the keys of one partition differ, and there are as many as keys: a bijection.
//   I2  start of a partition = sizes of all before it; sizes are 1 to 65,535, their sum is n.
//   I3  A seed is the smallest that worked when its bucket was placed, large buckets first: the
//       bytes depend only on the keys, not on the number of threads.
//
// A look-up reads two places of one record (independent of each other) and a table that stays in
// the first-level cache. Building tries seeds, about 45 a key; 2.4 to 2.7 bits a key, measured by
// `genista lab run ppr-bloomier`.
//
// Digests are assumed to look random, as those of hasher.hpp do. If they are crowded (a hash of the
// caller's own), building gives an error after a bounded number of tries.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "genista/base/result.hpp"
#include "genista/detail/base/buffer.hpp"
#include "genista/hash/key.hpp"

namespace genista {

// Everything a look-up needs, as plain data. Valid as long as its minimal_perfect exists, also
// after that was moved.
struct minimal_perfect_view {
    static constexpr unsigned start_bits = 48;        // of the first word of a record; the size is in the other 16
    static constexpr unsigned column_buckets = 8;     // share a width
    static constexpr unsigned column_width_bits = 8;  // of an entry of `columns`; the offset is above them

    const std::uint32_t* columns = nullptr;
    const std::uint64_t* records = nullptr;
    std::uint64_t partitions = 0;
    std::uint64_t record_words = 0;
    std::uint64_t buckets = 0;
    std::uint64_t factor = 0;  // odd

    struct place {
        const std::uint64_t* record;
        const std::uint64_t* seed_at;  // the word in which the seed begins; it may end in the next
        std::uint64_t word;
        std::uint32_t shift, width;
    };

    // Reads no record. The first buckets are the crowded ones: they are placed while there is room.
    [[nodiscard]] place aim(const digest& d) const noexcept {
        const uint128 scaled = static_cast<uint128>(d.position) * partitions;
        const std::uint64_t bucket = bucket_of(static_cast<std::uint64_t>(scaled), buckets);
        const std::uint32_t column = columns[bucket / column_buckets];
        const auto width = column & ((1u << column_width_bits) - 1);
        const auto bit = (column >> column_width_bits) + static_cast<std::uint32_t>(bucket % column_buckets) * width;
        const std::uint64_t* const record = records + static_cast<std::uint64_t>(scaled >> 64) * record_words;
        return {record, record + 1 + bit / 64, word_of(d, factor), bit % 64, width};
    }
    // The result is below n.
    [[nodiscard]] static std::uint64_t number(const place& at) noexcept {
        const std::uint64_t both = at.seed_at[0] >> at.shift | at.seed_at[1] << 1 << (63 - at.shift);
        const std::uint64_t seed = both & ((std::uint64_t{1} << at.width) - 1);
        const std::uint64_t head = *at.record;
        return (head & ((std::uint64_t{1} << start_bits) - 1)) + slot_of(at.word, seed, head >> start_bits);
    }

    // A share of x/16 + 15/16 x² of the buckets lies before x, with x in units of 2^64. This is
    // monotone, hence buckets are ranges of position.
    [[nodiscard]] static std::uint64_t bucket_of(std::uint64_t x, std::uint64_t buckets) noexcept {
        const std::uint64_t square = scale(x, x);
        return scale(square - square / 16 + x / 16, buckets);
    }
    [[nodiscard]] static std::uint64_t word_of(const digest& d, std::uint64_t factor) noexcept {
        return d.seed ^ d.position * factor;
    }
    [[nodiscard]] static std::uint64_t slot_of(std::uint64_t word, std::uint64_t seed, std::uint64_t slots) noexcept {
        std::uint64_t x = word + seed * 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio: the sum differs for every seed
        x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;  // twice, so that neighbouring seeds give independent slots
        x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
        return scale(x, slots);
    }
};

class minimal_perfect {
  public:
    static constexpr std::uint64_t max_keys = std::uint64_t{1} << 40;
    static constexpr double most_bits_per_key =
        3;  // from 10^4 keys on; a little more for fewer keys, because of columns and rounding

    // How the keys of one build are spread. Shape, widths and records define the function.
    struct shape {
        std::uint64_t keys = 0;
        std::uint64_t partitions = 0;
        std::uint64_t buckets = 0;  // of each partition
        std::uint32_t salt = 0;     // of the word; not 0 only if two keys had the same word
    };

    // REQUIRES: `sorted` is strictly ascending. The bytes are the same for any number of threads.
    // Building takes one byte a key beside its result, and about 40 KiB a thread.
    [[nodiscard]] static result<minimal_perfect> build(std::span<const digest> sorted, unsigned threads = 1) noexcept;

    minimal_perfect() noexcept = default;  // a function of no keys

    [[nodiscard]] std::uint64_t size() const noexcept { return shape_.keys; }
    // REQUIRES: size() is not 0.
    [[nodiscard]] std::uint64_t operator()(const digest& d) const noexcept {
        assert(size() != 0);
        return minimal_perfect_view::number(view_.aim(d));
    }
    [[nodiscard]] const minimal_perfect_view& view() const noexcept { return view_; }
    [[nodiscard]] std::size_t allocated_bytes() const noexcept { return memory_.allocated_bytes(); }

    // For a snapshot: the width of each column, one byte each, widths_bytes(shape) bytes in all.
    [[nodiscard]] const shape& form() const noexcept { return shape_; }
    void widths(std::span<std::byte> out) const noexcept;
    [[nodiscard]] std::span<const std::byte> records() const noexcept;
    [[nodiscard]] static std::uint64_t widths_bytes(const shape& form) noexcept;
    // Checks everything a look-up relies on: for any bytes that load, numbers are below n. Without
    // the keys it cannot be checked that the function is a bijection of them.
    [[nodiscard]] static result<minimal_perfect> from_bytes(const shape& form, std::span<const std::byte> widths,
                                                            std::span<const std::byte> records) noexcept;

    [[nodiscard]] static shape shape_for(std::uint64_t keys) noexcept;

  private:
    [[nodiscard]] static result<minimal_perfect> lay_out(const shape& form, std::span<const std::byte> widths) noexcept;
    [[nodiscard]] std::uint64_t* mutable_records() noexcept;

    shape shape_;
    minimal_perfect_view view_;
    buffer memory_;  // columns, records, and two words that number() may read but does not use
};

}  // namespace genista
