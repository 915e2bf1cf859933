// What can go wrong in the world, as a value: result<T> is a T or an error that names the value and what is allowed.
//
// Three kinds of trouble, three tools (CONTRIBUTING.md): bugs are asserted, ordinary outcomes are enums, and what the
// world does to us (bad parameters, damaged bytes, a store that fails, no memory) is an `error` in a `result<T>`.
// An error carries its text inside itself, so that reporting "out of memory" never allocates.
#pragma once

#include <cassert>
#include <cstdarg>
#include <cstdio>
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
    // printf-style, cut at the buffer's end.
    [[gnu::format(printf, 2, 3)]] static error make(error_code code, const char* format, ...) noexcept {
        error made{code};
        va_list arguments;
        va_start(arguments, format);
        std::vsnprintf(made.text_, sizeof made.text_, format, arguments);
        va_end(arguments);
        return made;
    }

    [[nodiscard]] error_code code() const noexcept { return code_; }
    [[nodiscard]] std::string_view message() const noexcept { return text_; }

  private:
    explicit error(error_code code) noexcept : code_{code} { text_[0] = '\0'; }

    error_code code_;
    char text_[239];
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
