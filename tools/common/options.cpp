// Numbers and names from text, and the options that take them. See options.hpp; the grammar of
// numbers is written above each function.
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cmath>
#include <limits>

#include "json_target.hpp"

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
    return parse_number(text, 0, std::numeric_limits<double>::max());
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

constexpr std::size_t longest_shown = 60;

// Dynamic programming over prefixes; three rows suffice, because an exchange looks two letters
// back.
std::size_t changes_between(std::string_view a, std::string_view b) {
    std::vector<std::size_t> two_ago(b.size() + 1), before(b.size() + 1), now(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) before[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            now[j] = std::min({before[j] + 1, now[j - 1] + 1, before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = std::min(now[j], two_ago[j - 2] + 1);
        }
        two_ago.swap(before);
        before.swap(now);
    }
    return before[b.size()];
}

// CLI11 takes a refusal as an exception; it never leaves the parser.
[[noreturn]] void refuse(const std::string& option, const error& why) {
    throw CLI::ValidationError{option, std::string{why.message()}};
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

std::optional<double> parse_number(std::string_view text, double least, double most) {
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most)) return {};
    return value;
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& known) {
    const std::string* found = nullptr;
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    for (const std::string& each : known) {
        if (word.size() > 2 * each.size()) continue;  // also spares a long word the table
        const std::size_t changes = changes_between(word, each);
        // A third of the letters: half of them wrong would make "none" the nearest of "bloom".
        if (changes < fewest && changes <= std::max<std::size_t>(1, std::max(word.size(), each.size()) / 3)) {
            found = &each;
            fewest = changes;
        }
    }
    return found == nullptr ? "" : *found;
}

std::string unknown_name(std::string_view word, std::string_view kind, const std::vector<std::string>& known) {
    const std::string near = nearest_name(word, known);
    return fmt::format("'{}' is not a known {}; {}nown are {}", word.substr(0, longest_shown), kind,
                       near.empty() ? "k" : "did you mean " + near + "? K", fmt::join(known, ", "));
}

std::string named_twice(std::string_view name) {
    return fmt::format("'{}' is named twice; once is enough", name);
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t& target, count_range allowed,
                       const std::string& help) {
    const auto take = [&target, allowed, name](const std::string& text) {
        const result<std::uint64_t> value = parse_count(text, allowed);
        if (!value) refuse(name, value.error());
        target = *value;
    };
    return app.add_option_function<std::string>(name, take, help)->type_name("N")->default_str(fmt::to_string(target));
}

CLI::Option* add_rate(CLI::App& app, const std::string& name, double& target, const std::string& help) {
    const auto take = [&target, name](const std::string& text) {
        const result<double> value = parse_rate(text);
        if (!value) refuse(name, value.error());
        target = *value;
    };
    return app.add_option_function<std::string>(name, take, help)->type_name("E")->default_str(fmt::to_string(target));
}

CLI::Option* add_filter_names(CLI::App& app, const std::string& help, const std::vector<std::string>& known,
                              const std::function<void(const std::vector<std::size_t>&)>& take) {
    const auto take_names = [known, take](const std::vector<std::string>& names) {
        std::vector<std::size_t> chosen;
        for (const std::string& name : names) {
            const auto place = static_cast<std::size_t>(std::ranges::find(known, name) - known.begin());
            if (place == known.size()) throw CLI::ValidationError{"--filters", unknown_name(name, "filter", known)};
            if (std::ranges::find(chosen, place) != chosen.end())
                throw CLI::ValidationError{"--filters", named_twice(name)};
            chosen.push_back(place);
        }
        take(chosen);
    };
    return app.add_option_function<std::vector<std::string>>("--filters", take_names, help)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("A,B");
}

CLI::Option* add_json_target(CLI::App& app, std::string& target) {
    const auto take = [&target](const std::string& path) {
        if (const result<void> usable = check_json_target(path); !usable) refuse("--json", usable.error());
        target = path;
    };
    return app
        .add_option_function<std::string>("--json", take,
                                          "write the results as JSON; - is stdout, which then has nothing else")
        ->type_name("FILE|-");
}

CLI::Option* add_report_target(CLI::App& app, std::string& target, const std::string& name) {
    const auto take = [&target, name](const std::string& path) {
        if (path == "-") throw CLI::ValidationError{name, "'-' is not a file; the report is HTML for a browser"};
        if (const result<void> usable = check_file_target(path); !usable) refuse(name, usable.error());
        target = path;
    };
    return app.add_option_function<std::string>(name, take, "write an HTML page with charts")->type_name("FILE.html");
}

}  // namespace genista::tool
