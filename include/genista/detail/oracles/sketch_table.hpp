// sketch_table: the common part of Count-Min and Count-Sketch: rows of 32-bit counters, one of each
// row for a key.
//
//     row 0     |   |   | x |   |   |   |        width counters
//     row 1     |   | x |   |   |   |   |        a key x has one in each row, at mix(position + i ·
//                                                seed) of its digest,
//     row d-1   |   |   |   |   | x |   |        scaled to the width; the lowest bit of that word
//                                                is its sign (Count-Sketch)
//
// The digest is keyed (hash/hasher.hpp), by default with a random secret: an attacker without it
// cannot choose keys that share another key's counters. The papers ask for pairwise independent
// rows; that mixed digests are as good is believed, and tests/oracles/sketches_stat_test.cpp
// measures it.
//
// Counters stop at their largest value and do not wrap round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "genista/base/result.hpp"
#include "genista/detail/base/buffer.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/hash/key.hpp"

namespace genista {

struct sketch_shape {
    std::uint64_t width = 4096;  // counters a row, 1..2^32
    std::uint32_t depth = 4;     // rows, 1..32

    friend bool operator==(const sketch_shape&, const sketch_shape&) = default;
};

inline constexpr std::uint64_t max_sketch_width = std::uint64_t{1} << 32;
inline constexpr std::uint32_t max_sketch_depth = 32;

[[nodiscard]] result<void> check_shape(std::string_view sketch, const sketch_shape& shape) noexcept;

// The word of a key in a row: its high bits are the place, its lowest bit is the sign.
[[nodiscard]] inline std::uint64_t sketch_word(const digest& d, std::uint32_t row) noexcept {
    std::uint64_t x = d.position + (row + 1) * (d.seed | 1);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

template <class Counter>
class sketch_table {
  public:
    static_assert(sizeof(Counter) == 4);

    [[nodiscard]] static result<sketch_table> make(std::string_view sketch, const sketch_shape& shape,
                                                   const std::optional<hasher>& hash) noexcept;

    [[nodiscard]] Counter& at(std::uint32_t row, std::uint64_t its_word) noexcept {
        return counters()[row * shape_.width + scale(its_word, shape_.width)];
    }
    [[nodiscard]] Counter at(std::uint32_t row, std::uint64_t its_word) const noexcept {
        return counters()[row * shape_.width + scale(its_word, shape_.width)];
    }
    [[nodiscard]] std::span<Counter> counters() noexcept {
        return {reinterpret_cast<Counter*>(memory_.data()), shape_.depth * shape_.width};
    }
    [[nodiscard]] std::span<const Counter> counters() const noexcept {
        return {reinterpret_cast<const Counter*>(memory_.data()), shape_.depth * shape_.width};
    }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return memory_.bytes(); }
    [[nodiscard]] std::span<std::byte> bytes() noexcept { return memory_.bytes(); }

    // The sum of all counts added; stops at 2^64 - 1.
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    void add_to_total(std::uint64_t count) noexcept {
        total_ = total_ + count < total_ ? ~std::uint64_t{0} : total_ + count;
    }

    [[nodiscard]] const sketch_shape& shape() const noexcept { return shape_; }
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return memory_.allocated_bytes(); }

    // An error that names the difference, unless both have the same shape and hash function.
    [[nodiscard]] result<void> check_mergeable(std::string_view sketch, const sketch_table& other) const noexcept;

  private:
    sketch_table(const sketch_shape& shape, const hasher& hash, buffer memory) noexcept
        : shape_{shape}, hash_{hash}, memory_{std::move(memory)} {}

    sketch_shape shape_;
    hasher hash_;
    buffer memory_;
    std::uint64_t total_ = 0;
};

}  // namespace genista
