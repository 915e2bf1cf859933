// os_error: errors of the operating system as `error`s: what was tried, on which path, and errno in
// words and figures.
#pragma once

#include <cerrno>
#include <new>
#include <string>
#include <string_view>

#include "genista/base/result.hpp"

namespace genista::detail {

// The last 120 bytes of a path: enough to recognise a file, with room for the rest of an error's
// text.
[[nodiscard]] std::string_view end_of_path(std::string_view path) noexcept;

// For example "cannot open /a/b: No such file or directory (errno 2)".
[[nodiscard]] error os_error(const char* what, std::string_view path, int number = errno) noexcept;

// The path as a C string. The C library would stop at a zero byte and open some other file, so that
// is an error; so are an empty path and a lack of memory.
[[nodiscard]] result<std::string> path_string(std::string_view path) noexcept;

}  // namespace genista::detail
