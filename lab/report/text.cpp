// Numbers as text, and text as HTML and JSON. See text.hpp.
#include "lab/report/text.hpp"

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

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

[[nodiscard]] unsigned byte_at(std::string_view text, std::size_t place) noexcept {
    return place < text.size() ? static_cast<unsigned char>(text[place]) : 0;  // 0 continues no sequence
}

[[nodiscard]] bool within(unsigned byte, unsigned least, unsigned most) noexcept {
    return byte >= least && byte <= most;
}

// The length of the code point that starts here, 0 if none does.
[[nodiscard]] std::size_t code_point_bytes(std::string_view text, std::size_t place) noexcept {
    const unsigned first = byte_at(text, place);
    if (first < 0x80) return 1;
    const unsigned second = byte_at(text, place + 1);
    if (within(first, 0xC2, 0xDF)) return within(second, 0x80, 0xBF) ? 2 : 0;
    const bool third = within(byte_at(text, place + 2), 0x80, 0xBF);
    if (within(first, 0xE0, 0xEF)) {
        const unsigned least = first == 0xE0 ? 0xA0 : 0x80;
        const unsigned most = first == 0xED ? 0x9F : 0xBF;
        return third && within(second, least, most) ? 3 : 0;
    }
    const bool fourth = within(byte_at(text, place + 3), 0x80, 0xBF);
    if (within(first, 0xF0, 0xF4)) {
        const unsigned least = first == 0xF0 ? 0x90 : 0x80;
        const unsigned most = first == 0xF4 ? 0x8F : 0xBF;
        return third && fourth && within(second, least, most) ? 4 : 0;
    }
    return 0;
}

void append_ascii(std::string& out, char character) {
    switch (character) {
        case '&':
            out += "&amp;";
            return;
        case '<':
            out += "&lt;";
            return;
        case '>':
            out += "&gt;";
            return;
        case '"':
            out += "&quot;";
            return;
        case '\'':
            out += "&#39;";
            return;
        default:
            break;
    }
    const bool blank = character == '\n' || character == '\t';
    const bool control = static_cast<unsigned char>(character) < 0x20 || character == 0x7F;
    if (control && !blank)
        out += replacement;
    else
        out += character;
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for (std::size_t place = 0; place < text.size();) {
        const std::size_t length = code_point_bytes(text, place);
        if (length == 1)
            append_ascii(out, text[place]);
        else if (length == 0)
            out += replacement;
        else
            out += text.substr(place, length);
        place += length == 0 ? 1 : length;
    }
    return out;
}

std::string script_json(const nlohmann::ordered_json& value) {
    const std::string plain = value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    std::string out;
    out.reserve(plain.size());
    for (const char each : plain) {  // outside its strings JSON has none of these three
        if (each == '<')
            out += "\\u003c";
        else if (each == '>')
            out += "\\u003e";
        else if (each == '&')
            out += "\\u0026";
        else
            out += each;
    }
    return out;
}

}  // namespace genista::lab::report
