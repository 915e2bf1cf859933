// Key files: one key a line, plain or gzip; `-` is standard input. lines.hpp defines a line.
//
//   a key       is the bytes of its line, whatever they are (zero bytes too), at most
//               longest_line_bytes of them
//   empty line  is no key and is left out
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "genista/base/result.hpp"

namespace genista::lab {

// Called for each key; the view is valid during the call. An error ends the reading.
using take_key = std::function<result<void>(std::string_view key)>;

// Returns the number of keys. Errors name the file, the line and what is allowed; a file without
// keys is an error.
[[nodiscard]] result<std::uint64_t> read_keys(const std::string& path, const take_key& take);

// Checks that `path` is a file and can be opened, so that a bad second file is found before the
// first has been read.
[[nodiscard]] result<void> check_key_file(const std::string& path);

// The error of a reader for a file that holds no key.
[[nodiscard]] error no_key_in(const std::string& path, std::string_view expected) noexcept;

}  // namespace genista::lab
