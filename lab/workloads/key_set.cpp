// Keys with labels from lines. See key_set.hpp.
#include "lab/workloads/key_set.hpp"

#include <algorithm>
#include <cinttypes>
#include <string_view>

#include "lab/workloads/key_file.hpp"
#include "lab/workloads/lines.hpp"

namespace genista::lab {
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

}  // namespace genista::lab
