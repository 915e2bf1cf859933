// What a report says, as text: numbers (1,234,567; 0.0123 as 1.23 %; 4.06 for an amount; 41 × for a
// ratio), and strings escaped for the three places of a page: text, an attribute, JSON inside a
// <script>.
//
// Numbers have a point and commas, whatever the locale of the process. A number that is not finite
// is an en dash: it was not measured.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
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

// For text and for attributes in double quotes: & < > " ' become entities. Bytes that are no UTF-8,
// and control characters that HTML forbids, become U+FFFD, one for each byte.
[[nodiscard]] std::string escaped(std::string_view text);

// JSON that may stand inside a <script>: no < > & in it, so that neither </script> nor <!-- can
// appear. Numbers that are not finite become null, bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string script_json(const nlohmann::ordered_json& value);

}  // namespace genista::lab::report
