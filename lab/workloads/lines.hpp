// Lines of a text file, plain or gzip (byte_source.hpp), one after the other; `-` is standard
// input.
//
//   line end    \n, or \r\n: one \r before the \n belongs to it. The last line needs none
//   limit       a longer line is an error, so that a file without line ends does not take all
//               memory
//
// A file is read once, in pieces: only what the caller keeps takes memory. A file is used only if
// all of it could be read: after an error the caller drops what it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "genista/base/result.hpp"
#include "lab/workloads/byte_source.hpp"

namespace genista::lab {

inline constexpr std::size_t longest_line_bytes = std::size_t{64} << 10;

// Called for each line, empty ones too, with its number from 1; the view is valid during the call.
// An error ends the reading.
using take_line = std::function<result<void>(std::string_view line, std::uint64_t number)>;

[[nodiscard]] result<void> read_lines(const std::string& path, const take_line& take,
                                      std::size_t longest = longest_line_bytes);

// A piece of a file for a message: cut, and a ? for each byte that could upset a terminal or begin
// a new line.
[[nodiscard]] std::string shown_text(std::string_view text, std::size_t longest = 40);

}  // namespace genista::lab
