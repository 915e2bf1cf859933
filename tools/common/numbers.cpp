// Counts and rates from text. See numbers.hpp for the promise; the grammar is written above each
// function.
#include "numbers.hpp"

#include <charconv>
#include <cinttypes>
#include <cmath>
#include <optional>
#include <string>

namespace genista::tool {
namespace {

using text_size = std::string_view::size_type;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// "1'000_000" -> "1000000": a separator only counts between two digits, and only if there are
// nothing but digits.
std::optional<std::string> plain_digits(std::string_view text) {
    std::string digits;
    for (text_size i = 0; i < text.size(); ++i) {
        const bool separates = (text[i] == '\'' || text[i] == '_') && i > 0 && is_digit(text[i - 1]) &&
                               i + 1 < text.size() && is_digit(text[i + 1]);
        if (is_digit(text[i]))
            digits += text[i];
        else if (!separates)
            return std::nullopt;
    }
    if (digits.empty()) return std::nullopt;
    return digits;
}

// The kinds of text. A number that is too large and a text that is no number have different
// messages.
struct parsed {
    enum class kind { value, senseless, too_large };
    kind is = kind::senseless;
    std::uint64_t value = 0;
};

parsed from_digits(std::string_view text) {
    const auto digits = plain_digits(text);
    if (!digits) return {};
    std::uint64_t value = 0;
    const auto [end, status] = std::from_chars(digits->data(), digits->data() + digits->size(), value);
    if (status == std::errc::result_out_of_range) return {parsed::kind::too_large, 0};
    return {parsed::kind::value, value};
}

parsed power(parsed mantissa, std::uint64_t base, std::uint64_t exponent) {
    if (mantissa.is != parsed::kind::value || mantissa.value == 0) return mantissa;
    for (; exponent > 0 && base > 1; --exponent) {
        if (__builtin_mul_overflow(mantissa.value, base, &mantissa.value)) return {parsed::kind::too_large, 0};
    }
    return mantissa;
}

// digits [. digits] (e|E) [+] digits, where the fraction has no more digits than the exponent:
// 2.5e6 is a count, 2.5e0 is not.
parsed from_decimal(std::string_view text, text_size e) {
    std::string_view mantissa = text.substr(0, e), exponent_text = text.substr(e + 1);
    if (exponent_text.starts_with('+')) exponent_text.remove_prefix(1);
    const parsed exponent = from_digits(exponent_text);
    std::string digits{mantissa};
    std::uint64_t fraction = 0;
    if (const auto point = mantissa.find('.'); point != std::string_view::npos) {
        const auto after = plain_digits(mantissa.substr(point + 1));
        if (!after) return {};
        digits = std::string{mantissa.substr(0, point)} + *after;
        fraction = after->size();
        while (fraction > 0 && digits.back() == '0') {
            digits.pop_back();
            --fraction;
        }
    }
    if (exponent.is != parsed::kind::value) return exponent;
    if (exponent.value < fraction) return {};
    return power(from_digits(digits), 10, exponent.value - fraction);
}

// digits ^ digits
parsed from_power(std::string_view text, text_size caret) {
    const parsed base = from_digits(text.substr(0, caret)), exponent = from_digits(text.substr(caret + 1));
    if (base.is != parsed::kind::value) return base;
    if (exponent.is != parsed::kind::value) return exponent;
    if (base.value == 0) return {parsed::kind::value, exponent.value == 0 ? 1u : 0u};
    return power({parsed::kind::value, 1}, base.value, exponent.value);
}

// A decimal number and nothing after it; NaN, infinity and signs are refused.
std::optional<double> from_real(std::string_view text) {
    if (text.empty() || !(is_digit(text[0]) || text[0] == '.')) return std::nullopt;
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

// real | real % | real / real | real ^ [-] digits
std::optional<double> rate_value(std::string_view text) {
    if (text.ends_with('%')) {
        const auto percent = from_real(text.substr(0, text.size() - 1));
        return percent ? std::optional{*percent / 100} : std::nullopt;
    }
    if (const auto slash = text.find('/'); slash != std::string_view::npos) {
        const auto above = from_real(text.substr(0, slash)), below = from_real(text.substr(slash + 1));
        return above && below && *below > 0 ? std::optional{*above / *below} : std::nullopt;
    }
    if (const auto caret = text.find('^'); caret != std::string_view::npos) {
        std::string_view power_text = text.substr(caret + 1);
        const bool negative = power_text.starts_with('-');
        if (negative) power_text.remove_prefix(1);
        const auto base = from_real(text.substr(0, caret)), exponent = from_real(power_text);
        return base && exponent ? std::optional{std::pow(*base, negative ? -*exponent : *exponent)} : std::nullopt;
    }
    return from_real(text);
}

// A long text is truncated: the message needs room for what is allowed.
int shown(std::string_view text) {
    return static_cast<int>(text.size() > 40 ? 40 : text.size());
}

}  // namespace

result<std::uint64_t> parse_count(std::string_view text, count_range allowed) {
    parsed number;
    if (const auto caret = text.find('^'); caret != std::string_view::npos)
        number = from_power(text, caret);
    else if (const auto e = text.find_first_of("eE"); e != std::string_view::npos)
        number = from_decimal(text, e);
    else
        number = from_digits(text);
    if (number.is == parsed::kind::value && number.value >= allowed.least && number.value <= allowed.most) {
        return number.value;
    }
    if (number.is == parsed::kind::senseless) {
        return error::make(error_code::invalid_argument,
                           "'%.*s' is not a whole number from %" PRIu64 " to %" PRIu64 ", written as %s", shown(text),
                           text.data(), allowed.least, allowed.most, count_syntax.data());
    }
    return error::make(error_code::invalid_argument, "'%.*s' is outside the range from %" PRIu64 " to %" PRIu64,
                       shown(text), text.data(), allowed.least, allowed.most);
}

result<double> parse_rate(std::string_view text) {
    const auto rate = rate_value(text);
    if (!rate) {
        return error::make(error_code::invalid_argument, "'%.*s' is not a rate in (0, 1/2], written as %s", shown(text),
                           text.data(), rate_syntax.data());
    }
    if (!(*rate > 0 && *rate <= 0.5)) {
        return error::make(error_code::invalid_argument, "'%.*s' is outside the range (0, 1/2]", shown(text),
                           text.data());
    }
    return *rate;
}

}  // namespace genista::tool
