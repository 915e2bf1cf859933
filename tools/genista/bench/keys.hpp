// The keys of a run: distinct 64-bit integers, without a set that stores them.
//
// A key is a fixed bijection of a counter, so different counters are different keys. Each use has
// its own stretch of counters, and a stored key is never among the absent ones, at 10^8
// keys as at 10:
//
//     0         2^40            2·2^40              3·2^40              4·2^40              5·2^40
//     [ stored  | absent, timed | absent, for rates | inserted by mixes | inserted by churn |
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "genista/hash/key.hpp"

namespace genista::tool::bench {

enum class key_use : std::uint64_t { stored = 0, absent = 1, rate = 2, mixed = 3, churned = 4 };

// Keys are generated so many at a time, outside the clock: 10^8 keys need little memory.
inline constexpr std::size_t key_chunk = std::size_t{1} << 16;  // 512 KiB

class key_source {
  public:
    static constexpr std::uint64_t stretch = std::uint64_t{1} << 40;

    explicit key_source(std::uint64_t seed) noexcept : before_{mix(seed)}, after_{mix(before_ + 1)} {}

    [[nodiscard]] std::uint64_t operator()(key_use use, std::uint64_t i) const noexcept {
        assert(i < stretch);
        return mix((static_cast<std::uint64_t>(use) * stretch + i) ^ before_) ^ after_;
    }

    // Keys first, first + 1, … of one use.
    void fill(key_use use, std::uint64_t first, std::span<std::uint64_t> out) const noexcept {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = (*this)(use, first + i);
    }

    // Random numbers without state: the i-th number below `below` of a stream. Streams are
    // independent.
    [[nodiscard]] std::uint64_t chance(std::uint64_t stream, std::uint64_t i, std::uint64_t below) const noexcept {
        return scale(mix(mix(after_ ^ ~stream) + i), below);
    }

    // `count` stored keys among `keys`, drawn at random with replacement, so that the order of
    // insertion is no help.
    [[nodiscard]] std::vector<std::uint64_t> draw_stored(std::uint64_t keys, std::size_t count) const {
        std::vector<std::uint64_t> drawn(count);
        for (std::size_t i = 0; i < count; ++i) drawn[i] = (*this)(key_use::stored, scale(mix(after_ + i), keys));
        return drawn;
    }

    // `count` different stored keys, evenly spread; count ≤ keys.
    [[nodiscard]] std::vector<std::uint64_t> spread_stored(std::uint64_t keys, std::size_t count) const {
        assert(count <= keys);
        std::vector<std::uint64_t> chosen(count);
        for (std::size_t i = 0; i < count; ++i) chosen[i] = (*this)(key_use::stored, i * (keys / count));
        return chosen;
    }

  private:
    // The finaliser of splitmix64: xor-shifts and odd factors, each undoable, so the whole is a
    // bijection.
    static constexpr std::uint64_t mix(std::uint64_t x) noexcept {
        x += 0x9e3779b97f4a7c15;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }

    std::uint64_t before_;
    std::uint64_t after_;
};

}  // namespace genista::tool::bench
