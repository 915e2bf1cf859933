// What a call takes as a key. Most people pass text or a std::uint64_t and need nothing from here:
//
//     filter.insert("ada");                   text: std::string, std::string_view, a literal
//     filter.insert(7u);                      an unsigned integer of 16 to 64 bits
//     filter.insert(std::span{bytes});        std::byte: a span, an array, a vector
//     filter.insert(genista::signed_key(-1)); a signed integer, by name only
//
// A 64-bit integer key *is* its eight bytes in little-endian order: f.insert(7u) and f.insert of
// those bytes agree, on every machine. Narrower unsigned integers are widened, so that a key does
// not depend on the type of the variable that holds it.
//
// Nothing else converts. 3.5 would lose its fraction, -1 would become 2^64-1, 'a' another key than
// "a", true a number, nullptr an empty text: each of them would be a false negative that no
// compiler reports. They do not compile, and neither does {1, 2}.
#pragma once

#include <bit>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace genista {

__extension__ typedef unsigned __int128 uint128;  // ISO C++ has no name for it

template <class T>
concept text_key_type = std::convertible_to<const T&, std::string_view> && !std::same_as<T, std::nullptr_t>;
template <class T>
concept bytes_key_type = std::convertible_to<const T&, std::span<const std::byte>> && !text_key_type<T>;
// The integers that are keys as they are. No bool and no character: a char is text of one byte or a
// number, and the two are different keys.
template <class T>
concept integer_key_type = std::same_as<T, unsigned short> || std::same_as<T, unsigned> ||
    std::same_as<T, unsigned long> || std::same_as<T, unsigned long long>;
template <class T>
concept not_a_key_type = std::is_arithmetic_v<T> && !integer_key_type<T>;

// The bytes of a key, borrowed for one call. REQUIRES: text given as a const char* is not null and
// ends with a zero byte. An array of char is text up to its first zero byte, or up to its end: a
// literal with a zero byte inside is a shorter key, as everywhere in C++.
struct key_view {
    const std::byte* data = nullptr;
    std::size_t size = 0;

    constexpr key_view() noexcept = default;
    explicit constexpr key_view(const std::byte* bytes, std::size_t count) noexcept : data{bytes}, size{count} {}
    constexpr key_view(std::span<const std::byte> bytes) noexcept : data{bytes.data()}, size{bytes.size()} {}
    // A template also for std::string_view: a zero converts to one, by way of a null pointer.
    template <text_key_type Text>
    key_view(const Text& text) noexcept : key_view{bytes_of(text)} {}
    template <std::size_t Size>
    key_view(const char (&text)[Size]) noexcept : key_view{bytes_of({text, text_length(text, Size)})} {}
    template <bytes_key_type Bytes>
    constexpr key_view(const Bytes& bytes) noexcept : key_view{std::span<const std::byte>{bytes}} {}
    template <std::same_as<std::nullptr_t> Null>  // a template, because a literal 0u is a key and converts to nullptr_t
    key_view(Null) = delete;

    [[nodiscard]] std::string_view text() const noexcept { return {reinterpret_cast<const char*>(data), size}; }

  private:
    [[nodiscard]] static std::span<const std::byte> bytes_of(std::string_view text) noexcept {
        return std::as_bytes(std::span{text});
    }
    [[nodiscard]] static constexpr std::size_t text_length(const char* text, std::size_t most) noexcept {
        const char* const end = std::char_traits<char>::find(text, most, '\0');
        return end == nullptr ? most : static_cast<std::size_t>(end - text);
    }
};

// An integer key and its bytes. Calls take it where they take an integer.
struct integer_key {
    std::uint64_t little = 0;

    template <integer_key_type T>
    constexpr integer_key(T key) noexcept : little{in_order(key)} {}
    template <not_a_key_type T>
    integer_key(T) = delete;  // keys are unsigned integers, text or bytes; of a signed one: genista::signed_key(x)

    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return in_order(little); }
    // Of the bytes of this very object.
    [[nodiscard]] key_view view() const noexcept {
        return key_view{reinterpret_cast<const std::byte*>(&little), sizeof little};
    }

  private:
    [[nodiscard]] static constexpr std::uint64_t in_order(std::uint64_t key) noexcept {
        return std::endian::native == std::endian::big ? __builtin_bswap64(key) : key;
    }
};

// The key of a signed integer: its 64-bit two's complement. signed_key(7) is the key 7u, and
// signed_key(-1) the key 2^64-1, whatever the width of the argument.
template <std::signed_integral T>
[[nodiscard]] constexpr integer_key signed_key(T key) noexcept {
    static_assert(!std::same_as<T, char> && !std::same_as<T, wchar_t>, "a character is no number: pass it as text");
    return integer_key{static_cast<std::uint64_t>(std::int64_t{key})};
}

// What a filter and R know of a key: 128 keyed pseudo-random bits (hasher.hpp).
struct digest {
    std::uint64_t position = 0;  // where: R is sorted by it, and every bin of a filter is a range of it
    std::uint64_t seed = 0;      // what: fingerprints are drawn from it

    constexpr digest() noexcept = default;
    // Explicit: f.insert({1, 2}) is no key.
    explicit constexpr digest(std::uint64_t position_bits, std::uint64_t seed_bits) noexcept
        : position{position_bits}, seed{seed_bits} {}

    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the zero inside a defaulted comparison for a pointer
    friend constexpr auto operator<=>(const digest&, const digest&) noexcept = default;
};

// The bin of `position` among `bins`, monotone in position: bin b owns one contiguous range of R at
// every size.
[[nodiscard]] constexpr std::uint64_t scale(std::uint64_t position, std::uint64_t bins) noexcept {
    return static_cast<std::uint64_t>((static_cast<uint128>(position) * bins) >> 64);
}

}  // namespace genista
