// Sketches: Count-Min and Count-Sketch, and sketch_table, their common part: rows of 32-bit
// counters, one of each row for a key.
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
#include <cstring>
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
// The same, and that so many bytes are the counters of this shape.
[[nodiscard]] result<void> check_bytes(std::string_view sketch, const sketch_shape& shape, std::size_t bytes) noexcept;

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

// What both sketches offer. Derived has add and estimate of a digest.
template <class Derived, class Counter, class Estimate>
class sketch_surface {
  public:
    void add(key_view key, std::uint64_t count = 1) noexcept { self().add(hash()(key), count); }
    void add(integer_key key, std::uint64_t count = 1) noexcept { self().add(hash()(key), count); }
    [[nodiscard]] Estimate estimate(key_view key) const noexcept { return self().estimate(hash()(key)); }
    [[nodiscard]] Estimate estimate(integer_key key) const noexcept { return self().estimate(hash()(key)); }

    [[nodiscard]] std::uint64_t total() const noexcept { return table_.total(); }
    [[nodiscard]] const sketch_shape& shape() const noexcept { return table_.shape(); }
    [[nodiscard]] const hasher& hash() const noexcept { return table_.hash(); }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return table_.allocated_bytes() + sizeof(Derived); }
    // The counters as bytes, row by row, to save the sketch. Derived::from_bytes reads them again;
    // an error if a counter exceeds the total.
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return table_.bytes(); }

  protected:
    explicit sketch_surface(sketch_table<Counter> table) noexcept : table_{std::move(table)} {}
    // Fills a new sketch. REQUIRES: check_bytes() accepted the bytes.
    void restore(std::span<const std::byte> bytes, std::uint64_t total) noexcept {
        std::memcpy(table_.bytes().data(), bytes.data(), bytes.size());
        table_.add_to_total(total);
    }

    sketch_table<Counter> table_;

  private:
    [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }
    [[nodiscard]] const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }
};

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
struct count_min_options {
    sketch_shape shape{};
    bool conservative = true;
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of its own
};

class count_min : public sketch_surface<count_min, std::uint32_t, std::uint64_t> {
  public:
    static constexpr std::string_view name = "count_min";
    using options = count_min_options;

    [[nodiscard]] static result<count_min> make(const count_min_options& options = {}) noexcept;

    using sketch_surface::add;
    void add(const digest& d, std::uint64_t count = 1) noexcept;

    using sketch_surface::estimate;
    [[nodiscard]] std::uint64_t estimate(const digest& d) const noexcept;

    // Adds the other's counts. Both must have the same shape, hash function and way of updating.
    [[nodiscard]] result<void> merge(const count_min& other) noexcept;

    // e N / width: an estimate up to this value may be only noise.
    [[nodiscard]] double noise() const noexcept;
    [[nodiscard]] bool conservative() const noexcept { return conservative_; }

    [[nodiscard]] static result<count_min> from_bytes(const count_min_options& options, std::uint64_t total,
                                                      std::span<const std::byte> bytes) noexcept;

  private:
    count_min(sketch_table<std::uint32_t> table, bool conservative) noexcept
        : sketch_surface{std::move(table)}, conservative_{conservative} {}

    bool conservative_;
};

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
struct count_sketch_options {
    sketch_shape shape{.width = 4096, .depth = 5};
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of its own
};

class count_sketch : public sketch_surface<count_sketch, std::int32_t, std::int64_t> {
  public:
    static constexpr std::string_view name = "count_sketch";
    using options = count_sketch_options;

    [[nodiscard]] static result<count_sketch> make(const count_sketch_options& options = {}) noexcept;

    using sketch_surface::add;
    void add(const digest& d, std::uint64_t count = 1) noexcept;

    // May be negative: then the key was added seldom or never.
    using sketch_surface::estimate;
    [[nodiscard]] std::int64_t estimate(const digest& d) const noexcept;

    // Adds the other's counts. Both must have the same shape and hash function.
    [[nodiscard]] result<void> merge(const count_sketch& other) noexcept;

    // 3 √(F / width), F by the median row's sum of squares: an estimate up to this value may be
    // only noise. Reads every counter.
    [[nodiscard]] double noise() const noexcept;

    [[nodiscard]] static result<count_sketch> from_bytes(const count_sketch_options& options, std::uint64_t total,
                                                         std::span<const std::byte> bytes) noexcept;

  private:
    explicit count_sketch(sketch_table<std::int32_t> table) noexcept : sketch_surface{std::move(table)} {}
};

}  // namespace genista
