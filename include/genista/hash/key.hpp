// key_view: the bytes of a key, borrowed for one call; strings convert to it by themselves. digest:
// what a filter knows of a key.
//
// A 64-bit integer key *is* its eight bytes in little-endian order: f.insert(7u) and f.insert of
// those bytes agree, on every machine.
#pragma once

#include <bit>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "genista/detail/base/uint128.hpp"

namespace genista {

struct key_view {
    const std::byte* data = nullptr;
    std::size_t size = 0;

    constexpr key_view() noexcept = default;
    constexpr key_view(const std::byte* bytes, std::size_t count) noexcept : data{bytes}, size{count} {}
    constexpr key_view(std::span<const std::byte> bytes) noexcept : data{bytes.data()}, size{bytes.size()} {}
    key_view(std::string_view text) noexcept
        : data{reinterpret_cast<const std::byte*>(text.data())}, size{text.size()} {}
    key_view(const char* text) noexcept : key_view{std::string_view{text}} {}
    template <class String>
    requires std::convertible_to<const String&, std::string_view> key_view(const String& text)
    noexcept : key_view{std::string_view{text}} {}

    [[nodiscard]] std::string_view text() const noexcept { return {reinterpret_cast<const char*>(data), size}; }
};

// The bytes of an integer key, for calls that take bytes.
struct integer_key {
    std::uint64_t little;
    explicit integer_key(std::uint64_t key) noexcept
        : little{std::endian::native == std::endian::big ? __builtin_bswap64(key) : key} {}
    [[nodiscard]] key_view view() const noexcept {
        return {reinterpret_cast<const std::byte*>(&little), sizeof little};
    }
};

// What a filter and R know of a key: 128 keyed pseudo-random bits (hasher.hpp).
struct digest {
    std::uint64_t position = 0;  // where: R is sorted by it, and every bin of a filter is a range of it
    std::uint64_t seed = 0;      // what: fingerprints are drawn from it

    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the zero inside a defaulted comparison for a pointer
    friend constexpr auto operator<=>(const digest&, const digest&) noexcept = default;
};

// The bin of `position` among `bins`, monotone in position: bin b owns one contiguous range of R at
// every size.
[[nodiscard]] constexpr std::uint64_t scale(std::uint64_t position, std::uint64_t bins) noexcept {
    return static_cast<std::uint64_t>((static_cast<uint128>(position) * bins) >> 64);
}

}  // namespace genista
