// field_writer, field_reader: fixed-width little-endian fields, for the parameter block of a
// snapshot.
//
// The bytes are the same on every machine, without padding between fields and without tags: the
// order of the calls is the format, so a loader mirrors its saver line by line, and docs/format.md
// draws the result. Neither class allocates.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace genista {

// The largest parameter block of a snapshot: enough for any list of numbers and keys, too little
// for an attack.
inline constexpr std::size_t max_parameters_bytes = 4096;

// An integer in little-endian order, to and from any address. Compilers turn both loops into one
// move.
template <std::unsigned_integral Word>
constexpr void store_little_endian(std::byte* to, Word value) noexcept {
    for (std::size_t i = 0; i < sizeof(Word); ++i) {
        to[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
    }
}
template <std::unsigned_integral Word>
[[nodiscard]] constexpr Word load_little_endian(const std::byte* from) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Word); ++i) {
        value |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
    }
    return static_cast<Word>(value);
}

// field_writer fields;
// fields.u64(capacity).f64(rate).bytes(key);
// write_snapshot(out, info, fields.view(), sections);
class field_writer {
  public:
    field_writer& u8(std::uint8_t value) noexcept { return word(value); }
    field_writer& u16(std::uint16_t value) noexcept { return word(value); }
    field_writer& u32(std::uint32_t value) noexcept { return word(value); }
    field_writer& u64(std::uint64_t value) noexcept { return word(value); }
    field_writer& f64(double value) noexcept { return word(std::bit_cast<std::uint64_t>(value)); }
    field_writer& bytes(std::span<const std::byte> value) noexcept {
        if (std::byte* to = room_for(value.size()); to != nullptr && !value.empty()) {
            std::memcpy(to, value.data(), value.size());
        }
        return *this;
    }

    // Everything so far; empty once overflowed(), so that half a list is never written.
    [[nodiscard]] std::span<const std::byte> view() const noexcept {
        return overflowed_ ? std::span<const std::byte>{} : std::span{storage_}.first(size_);
    }
    // More than max_parameters_bytes were written. Only a writer of bytes of variable length needs
    // to check it.
    [[nodiscard]] bool overflowed() const noexcept { return overflowed_; }

  private:
    template <std::unsigned_integral Word>
    field_writer& word(Word value) noexcept {
        if (std::byte* to = room_for(sizeof(Word)); to != nullptr) store_little_endian(to, value);
        return *this;
    }
    std::byte* room_for(std::size_t count) noexcept {
        if (overflowed_ || count > storage_.size() - size_) {
            overflowed_ = true;
            return nullptr;
        }
        std::byte* const to = storage_.data() + size_;
        size_ += count;
        return to;
    }

    std::array<std::byte, max_parameters_bytes> storage_{};
    std::size_t size_ = 0;
    bool overflowed_ = false;
};

// Reading never fails: past the end it gives zeros and sets a failure that stays, so a loader reads
// all of its fields and then calls finished() once. Values may be anything (an f64 may be a NaN):
// the loader checks their ranges.
class field_reader {
  public:
    explicit field_reader(std::span<const std::byte> bytes) noexcept : rest_{bytes} {}

    [[nodiscard]] std::uint8_t u8() noexcept { return word<std::uint8_t>(); }
    [[nodiscard]] std::uint16_t u16() noexcept { return word<std::uint16_t>(); }
    [[nodiscard]] std::uint32_t u32() noexcept { return word<std::uint32_t>(); }
    [[nodiscard]] std::uint64_t u64() noexcept { return word<std::uint64_t>(); }
    [[nodiscard]] double f64() noexcept { return std::bit_cast<double>(u64()); }
    // The next `count` bytes, not copied; empty, with a failure, if there are fewer.
    [[nodiscard]] std::span<const std::byte> bytes(std::size_t count) noexcept {
        if (failed_ || count > rest_.size()) {
            failed_ = true;
            return {};
        }
        const std::span<const std::byte> taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }
    // The same into an array of the caller, zeroed on failure:
    // reader.copy(std::as_writable_bytes(std::span{key.bytes})).
    void copy(std::span<std::byte> out) noexcept {
        if (out.empty()) return;
        if (const std::span<const std::byte> from = bytes(out.size()); !from.empty()) {
            std::memcpy(out.data(), from.data(), out.size());
        } else {
            std::memset(out.data(), 0, out.size());
        }
    }

    [[nodiscard]] std::size_t remaining_bytes() const noexcept { return rest_.size(); }
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    // Every byte was read and none was missing.
    [[nodiscard]] bool finished() const noexcept { return !failed_ && rest_.empty(); }

  private:
    template <std::unsigned_integral Word>
    Word word() noexcept {
        const std::span<const std::byte> from = bytes(sizeof(Word));
        return from.empty() ? Word{0} : load_little_endian<Word>(from.data());
    }

    std::span<const std::byte> rest_;
    bool failed_ = false;
};

}  // namespace genista
