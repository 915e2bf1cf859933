// count_min: how often each key came, in a few kilobytes, never too little. After Cormode and
// Muthukrishnan.
//
// Every counter of a key is at least its count, for it is raised whenever the key comes; so the
// smallest of them is the best guess. Proved, for a key and N additions in all: it is too large by
// more than e N / width with probability at most e^-depth. Take it where a log is long and what
// matters are the keys that make up a good part of it; count_sketch errs less where many small
// counts add up, and in both directions.
//
// *Conservative update* (the default) raises a counter only as far as it must: to the smallest one
// plus the new count. Counters are then never larger than without it, and still
//
//   I1  every counter of a key is at least its count (up to 2^32 - 1, where counters stop).
//
// merge() adds counter by counter. I1 survives it whichever way either was filled; what
// conservative update gained over the two logs read one after the other may be lost, what it
// promised is not: counters remain at most those of a plain sketch.
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

    // The other's counts too. Both must have one shape, hash function and way of updating.
    [[nodiscard]] result<void> merge(const count_min& other) noexcept;

    // e N / width: an estimate up to here may be all noise.
    [[nodiscard]] double noise() const noexcept;
    [[nodiscard]] std::uint64_t total() const noexcept { return table_.total(); }
    [[nodiscard]] bool conservative() const noexcept { return conservative_; }
    [[nodiscard]] const sketch_shape& shape() const noexcept { return table_.shape(); }
    [[nodiscard]] const hasher& hash() const noexcept { return table_.hash(); }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return table_.allocated_bytes() + sizeof *this; }

    // The counters as bytes, row by row, for whoever saves the sketch; and back. An error if a
    // counter exceeds the total.
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
