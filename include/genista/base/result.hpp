// What can go wrong outside the program, as a value: result<T> is a T or an error that names the
// value and what is allowed.
//
// Three kinds of trouble, three tools (CONTRIBUTING.md): bugs are asserted, ordinary outcomes are
// enums, and everything else (bad parameters, damaged bytes, a store that fails, no memory) is an
// `error` in a `result<T>`.
//
//     auto made = genista::broom_filter::make({.capacity = 1'000'000});
//     if (!made) return report(made.error().message());
//     genista::broom_filter filter = *std::move(made);
//
// An error is one pointer to a text that is shared by its copies: result<bool> has 16 bytes. Making
// an error never fails. Where there is no memory for its text, a few places are kept back for such
// texts; when they are used up, the text is that of the code.
#pragma once

#include <cassert>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

namespace genista {

enum class error_code : unsigned char {
    invalid_argument,  // a parameter outside its range
    out_of_memory,     // the allocator said no
    corrupt,           // bytes that are no valid snapshot
    unsupported,       // valid, but not by this version or this structure
    mismatch,          // two things that do not belong together (merge of unlike filters, another store's snapshot)
    io,                // the operating system or the store failed
    timeout,           // the store did not answer in time
};

[[nodiscard]] constexpr std::string_view to_string(error_code code) noexcept {
    switch (code) {
        case error_code::invalid_argument:
            return "invalid argument";
        case error_code::out_of_memory:
            return "out of memory";
        case error_code::corrupt:
            return "corrupt";
        case error_code::unsupported:
            return "unsupported";
        case error_code::mismatch:
            return "mismatch";
        case error_code::io:
            return "I/O error";
        case error_code::timeout:
            return "time-out";
    }
    return "unknown error";
}

class error {
  public:
    // printf-style; a text longer than most_text bytes is cut there.
    [[gnu::format(printf, 2, 3)]] static error make(error_code code, const char* format, ...) noexcept;

    error(const error& other) noexcept;
    error& operator=(const error& other) noexcept;
    ~error();

    [[nodiscard]] error_code code() const noexcept;
    // Valid as long as this error or a copy of it is.
    [[nodiscard]] std::string_view message() const noexcept;

    [[nodiscard]] bool is_invalid_argument() const noexcept { return code() == error_code::invalid_argument; }
    [[nodiscard]] bool is_out_of_memory() const noexcept { return code() == error_code::out_of_memory; }
    [[nodiscard]] bool is_corrupt() const noexcept { return code() == error_code::corrupt; }
    [[nodiscard]] bool is_unsupported() const noexcept { return code() == error_code::unsupported; }
    [[nodiscard]] bool is_mismatch() const noexcept { return code() == error_code::mismatch; }
    [[nodiscard]] bool is_io() const noexcept { return code() == error_code::io; }
    [[nodiscard]] bool is_timeout() const noexcept { return code() == error_code::timeout; }

    static constexpr std::size_t most_text = 238;

  private:
    struct shared_text;  // src/base/result.cpp
    explicit error(shared_text* text) noexcept : text_{text} {}

    shared_text* text_;  // never null
};

// A T or an error. `if (!r) return r.error();` then `*r`.
template <class T>
class [[nodiscard]] result {
  public:
    result(T value) : held_{std::in_place_index<0>, std::move(value)} {}
    result(const class error& failure) : held_{std::in_place_index<1>, failure} {}

    [[nodiscard]] bool has_value() const noexcept { return held_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    [[nodiscard]] T& operator*() & noexcept { return *pointer(); }
    [[nodiscard]] const T& operator*() const& noexcept { return *pointer(); }
    [[nodiscard]] T&& operator*() && noexcept { return std::move(*pointer()); }
    [[nodiscard]] T* operator->() noexcept { return pointer(); }
    [[nodiscard]] const T* operator->() const noexcept { return pointer(); }

    // The value, or `otherwise` where there is none.
    template <class U>
    [[nodiscard]] T value_or(U&& otherwise) const& {
        return has_value() ? **this : static_cast<T>(std::forward<U>(otherwise));
    }
    template <class U>
    [[nodiscard]] T value_or(U&& otherwise) && {
        return has_value() ? *std::move(*this) : static_cast<T>(std::forward<U>(otherwise));
    }

    // REQUIRES: !has_value().
    [[nodiscard]] const class error& error() const noexcept {
        assert(!has_value());
        return *std::get_if<1>(&held_);
    }

  private:
    T* pointer() noexcept {
        assert(has_value());
        return std::get_if<0>(&held_);
    }
    const T* pointer() const noexcept {
        assert(has_value());
        return std::get_if<0>(&held_);
    }

    std::variant<T, class error> held_;
};

template <>
class [[nodiscard]] result<void> {
  public:
    result() = default;
    result(const class error& failure) : failure_{failure} {}

    [[nodiscard]] bool has_value() const noexcept { return !failure_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }

    [[nodiscard]] const class error& error() const noexcept {
        assert(!has_value());
        return *failure_;
    }

  private:
    std::optional<class error> failure_;
};

}  // namespace genista
