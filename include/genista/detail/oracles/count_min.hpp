// count_min: an estimate of how often each key was added, in a few kilobytes, never too small.
// After Cormode and Muthukrishnan.
//
// Every addition of a key raises all of its counters, so each of them is at least its count, and
// the smallest one is the best estimate. Proved, for a key and N additions in all: it is too large
// by more than e N / width with probability at most e^-depth. Use it for a long log whose frequent
// keys matter. count_sketch errs less if many small counts add up, but in both directions.
//
// *Conservative update* (the default) raises a counter only as far as it must: to the smallest one
// plus the new count. Counters are then never larger than without it, and still
//
//   I1  every counter of a key is at least its count (up to 2^32 - 1, where counters stop).
//
// merge() adds counter by counter. I1 holds afterwards, whichever way either sketch was filled. The
// sum may be larger than the counters of one conservative sketch of both logs, but it is at most
// that of a plain sketch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "genista/detail/oracles/sketch_table.hpp"

namespace genista {

struct count_min_options {
    sketch_shape shape{};
    bool conservative = true;
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of its own
};

class count_min {
  public:
    static constexpr std::string_view name = "count_min";
    using options = count_min_options;

    [[nodiscard]] static result<count_min> make(const count_min_options& options = {}) noexcept;

    void add(key_view key, std::uint64_t count = 1) noexcept { add(hash()(key), count); }
    void add(integer_key key, std::uint64_t count = 1) noexcept { add(hash()(key), count); }
    void add(const digest& d, std::uint64_t count = 1) noexcept;

    [[nodiscard]] std::uint64_t estimate(key_view key) const noexcept { return estimate(hash()(key)); }
    [[nodiscard]] std::uint64_t estimate(integer_key key) const noexcept { return estimate(hash()(key)); }
    [[nodiscard]] std::uint64_t estimate(const digest& d) const noexcept;

    // Adds the other's counts. Both must have the same shape, hash function and way of updating.
    [[nodiscard]] result<void> merge(const count_min& other) noexcept;

    // e N / width: an estimate up to this value may be only noise.
    [[nodiscard]] double noise() const noexcept;
    [[nodiscard]] std::uint64_t total() const noexcept { return table_.total(); }
    [[nodiscard]] bool conservative() const noexcept { return conservative_; }
    [[nodiscard]] const sketch_shape& shape() const noexcept { return table_.shape(); }
    [[nodiscard]] const hasher& hash() const noexcept { return table_.hash(); }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return table_.allocated_bytes() + sizeof *this; }

    // The counters as bytes, row by row, to save the sketch, and back. An error if a counter
    // exceeds the total.
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return table_.bytes(); }
    [[nodiscard]] static result<count_min> from_bytes(const count_min_options& options, std::uint64_t total,
                                                      std::span<const std::byte> bytes) noexcept;

  private:
    count_min(sketch_table<std::uint32_t> table, bool conservative) noexcept
        : table_{std::move(table)}, conservative_{conservative} {}

    sketch_table<std::uint32_t> table_;
    bool conservative_;
};

}  // namespace genista
