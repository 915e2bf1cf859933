// UTF-8 is checked by the table of Unicode's chapter 3 (well-formed byte sequences): no overlong
// forms, no surrogates, nothing above U+10FFFF.
#include "lab/report/escape.hpp"

#include <cstddef>

namespace genista::lab::report {
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
