// Numbers as the text of a report: 1,234,567; 0.0123 as 1.23 %; 4.06 for an amount; 41 × for a
// ratio.
//
// Always with a point and commas, whatever the locale of the process. A number that is not finite
// is an en dash: it was not measured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace genista::lab::report {

// Between a number and its sign, so that a narrow tile does not separate them.
inline const std::string no_break = "\xC2\xA0";

inline constexpr std::string_view not_measured = "\xE2\x80\x93";  // –

// 1234567 -> 1,234,567
[[nodiscard]] std::string count_text(std::uint64_t count);

// Rounded to a whole number, with commas.
[[nodiscard]] std::string rounded_text(double value);

// `digits` after the point: fixed_text(10.4, 2) is 10.40.
[[nodiscard]] std::string fixed_text(double value, int digits);

// Three significant digits, never an exponent between 10^-9 and 10^15: 0.00123, 4.06, 12.3, 1,230.
[[nodiscard]] std::string amount_text(double value);

// A share of one: 0.0123 -> 1.23 %
[[nodiscard]] std::string share_text(double share);

// How many times: 41, 4.1, 1.05, 0.97, 0.012. Near one, a hundredth counts.
[[nodiscard]] std::string ratio_text(double ratio);

}  // namespace genista::lab::report
