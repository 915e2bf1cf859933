// Edit distances. See names.hpp.
#include "names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace genista::tool {
namespace {

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

}  // namespace

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

}  // namespace genista::tool
