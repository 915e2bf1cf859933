// key_view: the bytes of a key, borrowed for one call. Integers and strings convert to it by themselves.
//
// A 64-bit integer key *is* its eight bytes in little-endian order: f.insert(7u) and f.insert of those bytes agree,
// on every machine.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

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

}  // namespace genista
