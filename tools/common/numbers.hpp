// Numbers from the command line: 1000000, 1'000'000, 1_000_000, 1e6, 2^20 for counts; 0.01, 1%,
// 1/256, 2^-8 for rates.
//
// Counts are exact (no way through a double), and everything else, a sign, a fraction, a stray
// letter, a number outside the range, is an error that names the text and what is allowed.
#pragma once

#include <cstdint>
#include <string_view>

#include "genista/base/result.hpp"

namespace genista::tool {

inline constexpr std::string_view count_syntax = "digits (with ' or _ between them), 1e6 or 2^20";
inline constexpr std::string_view rate_syntax = "0.01, 1%, 1/256 or 2^-8";

struct count_range {
    std::uint64_t least = 0;
    std::uint64_t most = UINT64_MAX;
};

[[nodiscard]] result<std::uint64_t> parse_count(std::string_view text, count_range allowed);

// A false positive rate: in (0, 1/2].
[[nodiscard]] result<double> parse_rate(std::string_view text);

}  // namespace genista::tool
