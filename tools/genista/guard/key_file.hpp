// Key files: one key a line, plain or gzip; `-` is standard input.
//
//   a key       is the bytes of its line, whatever they are (zero bytes too), at most longest_key_bytes of them
//   line end    \n, or \r\n: one \r before the \n goes with it. The last line needs none
//   empty line  is no key and is left out
//
// A file is read once, in pieces: only what the caller keeps takes memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "genista/base/result.hpp"

namespace genista::tool::guard {

inline constexpr std::size_t longest_key_bytes = std::size_t{64} << 10;

// Called for each key; the view is valid during the call. An error ends the reading.
using take_key = std::function<result<void>(std::string_view key)>;

// How many keys there were. Errors name the file, the line and what is allowed.
[[nodiscard]] result<std::uint64_t> read_keys(const std::string& path, const take_key& take);

// Can `path` be opened, and is it a file? So that a bad second file is found before the first has been read.
[[nodiscard]] result<void> check_key_file(const std::string& path);

}  // namespace genista::tool::guard
