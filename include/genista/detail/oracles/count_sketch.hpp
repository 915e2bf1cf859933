// count_sketch: an estimate of how often each key was added, in a few kilobytes, right on average.
// After Charikar, Chen and Farach-Colton.
//
// In each row a key adds its count to its counter or subtracts it, by a sign of its own. Read with
// that sign, a counter is the key's count plus the counts of other keys with random signs, which
// cancel on average. The median of the rows is the estimate. Proved for one row: unbiased, with
// variance at most F / width, F the sum of the squares of all counts; the median is off by more
// than 3 √(F / width) with a probability that falls exponentially with the depth. So the error
// grows with the square root of what count_min's error grows with: better if a log is mostly a long
// tail. Use an odd depth; for an even one the estimate is the mean of the two middle rows.
//
// Counters stop at ±(2^31 - 1). merge() adds counter by counter, and is then exactly the sketch of
// both logs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "genista/detail/oracles/sketch_table.hpp"

namespace genista {

struct count_sketch_options {
    sketch_shape shape{.width = 4096, .depth = 5};
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of its own
};

class count_sketch {
  public:
    static constexpr std::string_view name = "count_sketch";
    using options = count_sketch_options;

    [[nodiscard]] static result<count_sketch> make(const count_sketch_options& options = {}) noexcept;

    void add(key_view key, std::uint64_t count = 1) noexcept { add(hash()(key), count); }
    void add(integer_key key, std::uint64_t count = 1) noexcept { add(hash()(key), count); }
    void add(const digest& d, std::uint64_t count = 1) noexcept;

    // May be negative: then the key was added seldom or never.
    [[nodiscard]] std::int64_t estimate(key_view key) const noexcept { return estimate(hash()(key)); }
    [[nodiscard]] std::int64_t estimate(integer_key key) const noexcept { return estimate(hash()(key)); }
    [[nodiscard]] std::int64_t estimate(const digest& d) const noexcept;

    // Adds the other's counts. Both must have the same shape and hash function.
    [[nodiscard]] result<void> merge(const count_sketch& other) noexcept;

    // 3 √(F / width), F by the median row's sum of squares: an estimate up to this value may be
    // only noise. Reads every counter.
    [[nodiscard]] double noise() const noexcept;
    [[nodiscard]] std::uint64_t total() const noexcept { return table_.total(); }
    [[nodiscard]] const sketch_shape& shape() const noexcept { return table_.shape(); }
    [[nodiscard]] const hasher& hash() const noexcept { return table_.hash(); }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return table_.allocated_bytes() + sizeof *this; }

    // The counters as bytes, row by row, to save the sketch, and back. An error if a counter
    // exceeds the total.
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return table_.bytes(); }
    [[nodiscard]] static result<count_sketch> from_bytes(const count_sketch_options& options, std::uint64_t total,
                                                         std::span<const std::byte> bytes) noexcept;

  private:
    explicit count_sketch(sketch_table<std::int32_t> table) noexcept : table_{std::move(table)} {}

    sketch_table<std::int32_t> table_;
};

}  // namespace genista
