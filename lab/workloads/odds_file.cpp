// Keys and numbers from lines. See odds_file.hpp.
#include "lab/workloads/odds_file.hpp"

#include <charconv>

#include "lab/workloads/byte_source.hpp"
#include "lab/workloads/key_file.hpp"
#include "lab/workloads/lines.hpp"

namespace genista::lab {

std::vector<weighted_key> odds_file::column() const {
    std::vector<weighted_key> made;
    made.reserve(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) made.push_back({keys[i], odds[i]});
    return made;
}

result<odds_file> read_odds_file(const std::string& path) {
    odds_file read;
    const auto take = [&](std::string_view line, std::uint64_t number) -> result<void> {
        if (line.empty()) return {};
        const std::size_t tab = line.rfind('\t');
        if (tab == std::string_view::npos || tab == 0) {
            return error::make(error_code::invalid_argument, "%s, line %llu: '%s' is no key, TAB, probability",
                               shown_path(path).c_str(), static_cast<unsigned long long>(number),
                               shown_text(line).c_str());
        }
        const std::string_view text = line.substr(tab + 1);
        double value = 0;
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
        // from_chars reports a number that is too small for a double as "out of range", with its
        // digits read: for a filter it is 0. A NaN fails the comparison, too.
        const bool is_tiny = status == std::errc::result_out_of_range && text.find("e-") != std::string_view::npos;
        if ((status != std::errc{} && !is_tiny) || end != text.data() + text.size() || !(value >= 0 && value <= 1)) {
            return error::make(error_code::invalid_argument,
                               "%s, line %llu: the probability '%s' is not a number in 0..1", shown_path(path).c_str(),
                               static_cast<unsigned long long>(number), shown_text(text).c_str());
        }
        read.keys.add(line.substr(0, tab));
        read.odds.push_back(value);
        return {};
    };
    if (const auto done = read_lines(path, take); !done) return done.error();
    if (read.odds.empty()) return no_key_in(path, "key, TAB, probability, one a line");
    return read;
}

}  // namespace genista::lab
