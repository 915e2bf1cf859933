// std::to_chars ignores the locale and is exact; printf would write commas for points after a
// setlocale.
#include "lab/report/numbers.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace genista::lab::report {
namespace {

constexpr int most_decimals = 12;
constexpr double most_written = 1e15;

// Commas between every three digits in front of the point.
[[nodiscard]] std::string grouped(std::string_view number) {
    const std::size_t sign = number.starts_with('-') ? 1 : 0;
    const std::size_t point = std::min(number.find('.'), number.size());
    std::string out{number.substr(0, sign)};
    for (std::size_t i = sign; i < number.size(); ++i) {
        if (i < point && i > sign && (point - i) % 3 == 0) out += ',';
        out += number[i];
    }
    return out;
}

[[nodiscard]] std::string written(double value, std::chars_format format, int digits) {
    std::array<char, 64> room{};
    const auto done = std::to_chars(room.data(), room.data() + room.size(), value, format, digits);
    return {room.data(), done.ptr};
}

[[nodiscard]] std::string significant(double value, int digits) {
    if (!std::isfinite(value)) return std::string{not_measured};
    if (value == 0) return "0";
    const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(value))));
    const int decimals = digits - 1 - magnitude;
    if (std::fabs(value) >= most_written || decimals > most_decimals)
        return written(value, std::chars_format::scientific, digits - 1);
    if (decimals <= 0) {  // no zeros in place of known digits: 12,345 stays 12,345
        return rounded_text(value);
    }
    return grouped(written(value, std::chars_format::fixed, decimals));
}

}  // namespace

std::string count_text(std::uint64_t count) {
    return grouped(std::to_string(count));
}

std::string rounded_text(double value) {
    return fixed_text(value, 0);
}

std::string fixed_text(double value, int digits) {
    if (!std::isfinite(value)) return std::string{not_measured};
    if (std::fabs(value) >= most_written) return written(value, std::chars_format::scientific, 3);
    return grouped(written(value, std::chars_format::fixed, digits));
}

std::string amount_text(double value) {
    return significant(value, 3);
}

std::string share_text(double share) {
    return std::isfinite(share) ? significant(100 * share, 3) + no_break + "%" : std::string{not_measured};
}

std::string ratio_text(double ratio) {
    if (ratio >= 0.1 && ratio < 2) return fixed_text(ratio, 2);
    return significant(ratio, 2);
}

}  // namespace genista::lab::report
