// Keys from lines. See key_file.hpp.
#include "lab/workloads/key_file.hpp"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <string_view>

#include "lab/workloads/lines.hpp"

namespace genista::lab {

result<std::uint64_t> read_keys(const std::string& path, const take_key& take) {
    std::uint64_t keys = 0;
    const auto read = read_lines(path, [&](std::string_view line, std::uint64_t) -> result<void> {
        if (line.empty()) return {};
        ++keys;
        return take(line);
    });
    if (!read) return read.error();
    if (keys == 0) return no_key_in(path, "one a line");
    return keys;
}

result<void> check_key_file(const std::string& path) {
    return path == "-" ? result<void>{} : byte_source{path}.open();
}

error no_key_in(const std::string& path, std::string_view expected) noexcept {
    return error::make(error_code::invalid_argument, "%s holds no key: %.*s is expected", shown_path(path).c_str(),
                       static_cast<int>(expected.size()), expected.data());
}

result<key_list> read_key_list(const std::string& path) {
    key_list keys;
    const auto read = read_keys(path, [&keys](std::string_view key) -> result<void> {
        keys.add(key);
        return {};
    });
    if (!read) return read.error();
    return keys;
}

namespace {

// Labels are searched one by one: a file whose second column holds keys instead of labels should
// fail early.
constexpr std::size_t most_labels = 1000;

class set_reader {
  public:
    explicit set_reader(const std::string& path) : file_{shown_path(path)} {}

    result<void> take(std::string_view line, std::uint64_t number) {
        if (line.empty()) return {};
        line_ = number;
        const std::size_t tab = line.find('\t');
        if (tab == std::string_view::npos) return bad("no TAB between key and label");
        const std::string_view key = line.substr(0, tab), label = line.substr(tab + 1);
        if (label.find('\t') != std::string_view::npos) return bad("more than one TAB; key and label are expected");
        if (key.empty()) return bad("the key is empty");
        if (label.empty()) return bad("the label is empty");
        const std::size_t before = made_.keys.size();
        const auto place = made_.keys.add(key);
        if (!place) return bad("more different keys than a set may have");
        if (*place != before) return seen_before(key);
        return add_label(label);
    }

    result<key_set> finish(const std::string& path) {
        if (made_.label_of.empty()) return no_key_in(path, "key, TAB and label on each line");
        return std::move(made_);
    }

  private:
    [[nodiscard]] error bad(const char* why) const noexcept {
        return error::make(error_code::invalid_argument, "%s, line %" PRIu64 ": %s", file_.c_str(), line_, why);
    }
    [[nodiscard]] error seen_before(std::string_view key) const noexcept {
        return error::make(error_code::invalid_argument, "%s, line %" PRIu64 ": the key '%s' was there before",
                           file_.c_str(), line_, shown_text(key).c_str());
    }

    result<void> add_label(std::string_view label) {
        auto found = std::ranges::find(made_.labels, label);
        if (found == made_.labels.end()) {
            if (made_.labels.size() == most_labels) return bad("more than 1000 different labels");
            found = made_.labels.emplace(found, label);
        }
        made_.label_of.push_back(static_cast<std::uint32_t>(found - made_.labels.begin()));
        return {};
    }

    std::string file_;
    std::uint64_t line_ = 0;
    key_set made_;
};

}  // namespace

result<key_set> read_key_set(const std::string& path) {
    set_reader set{path};
    const auto read = read_lines(
        path, [&](std::string_view line, std::uint64_t number) -> result<void> { return set.take(line, number); });
    if (!read) return read.error();
    return set.finish(path);
}

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
