// The include arrow: in which room a file is, and from which rooms it may include.
//
//     base → bits → hash → format → remote → oracles → filters → guard → stores → papers → support
//          → modules, bindings, tools, lab
//
// A file may include its own room and the rooms to the left of it, never those to the right. The
// last four share one place, because they are all users of the library. Rules, by number:
//   A1  no include points to the right;
//   A2  a header of include/ includes only headers of include/ and the system's, because an
//       installed copy has no others;
//   A3  no include climbs ("../"), because then its room could not be read from the line.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace genista::test {

// The place of a room on the arrow, counted from the left; nothing if it is not a room of the
// repository.
[[nodiscard]] inline std::optional<int> place_on_arrow(std::string_view room) {
    static constexpr std::array<std::pair<std::string_view, int>, 15> rooms{{{"base", 0},
                                                                             {"bits", 1},
                                                                             {"hash", 2},
                                                                             {"format", 3},
                                                                             {"remote", 4},
                                                                             {"oracles", 5},
                                                                             {"filters", 6},
                                                                             {"guard", 7},
                                                                             {"stores", 8},
                                                                             {"papers", 9},
                                                                             {"support", 10},
                                                                             {"modules", 11},
                                                                             {"bindings", 11},
                                                                             {"tools", 11},
                                                                             {"lab", 11}}};
    const auto* const found = std::ranges::find(rooms, room, &std::pair<std::string_view, int>::first);
    if (found == rooms.end()) return std::nullopt;
    return found->second;
}

[[nodiscard]] inline std::string_view first_part(std::string_view path) {
    return path.substr(0, path.find('/'));
}

// The room of a file: include/genista/ROOM/, include/genista/detail/ROOM/, src/ROOM/, or a top
// folder that is a room itself.
[[nodiscard]] inline std::optional<std::string_view> room_of_file(std::string_view path) {
    for (const std::string_view prefix : {"include/genista/detail/", "include/genista/", "src/"}) {
        if (path.starts_with(prefix)) {
            path.remove_prefix(prefix.size());
            return path.find('/') != std::string_view::npos ? std::optional{first_part(path)} : std::nullopt;
        }
    }
    if (place_on_arrow(first_part(path)) >= place_on_arrow("stores")) return first_part(path);
    return std::nullopt;
}

// The path that a line includes, without its quotes or brackets; nothing if it is not an #include.
[[nodiscard]] inline std::optional<std::string_view> included_path(std::string_view line) {
    const auto skip_blanks = [&line] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
    skip_blanks();
    if (!line.starts_with('#')) return std::nullopt;
    line.remove_prefix(1);
    skip_blanks();
    if (!line.starts_with("include")) return std::nullopt;
    line.remove_prefix(std::string_view{"include"}.size());
    skip_blanks();
    if (!line.starts_with('"') && !line.starts_with('<')) return std::nullopt;
    const char closing = line.front() == '"' ? '"' : '>';
    line.remove_prefix(1);
    const std::size_t end = line.find(closing);
    if (end == std::string_view::npos) return std::nullopt;
    return line.substr(0, end);
}

// Why a line of a file breaks the arrow, in words; empty if it does not.
[[nodiscard]] inline std::string broken_arrow(std::string_view file, std::string_view line) {
    const auto room = room_of_file(file);
    const auto target = included_path(line);
    if (!room || !target) return {};
    const auto place = place_on_arrow(*room);
    if (!place) return "lives in '" + std::string{*room} + "', which is no room of the arrow";
    if (target->find("../") != std::string_view::npos)
        return "A3: climbs out of its folder with " + std::string{*target};

    std::string_view rest = *target;
    const bool is_public = rest.starts_with("genista/");
    if (is_public) rest.remove_prefix(std::string_view{"genista/"}.size());
    if (is_public && rest.starts_with("detail/")) rest.remove_prefix(std::string_view{"detail/"}.size());
    if (rest.find('/') == std::string_view::npos) return {};  // a header in the same folder, or one of the system
    const auto target_place = place_on_arrow(first_part(rest));
    if (!target_place) {
        return is_public ? "includes " + std::string{*target} + ", which is in no room of the arrow" : std::string{};
    }
    if (!is_public && file.starts_with("include/")) return "A2: a public header includes " + std::string{*target};
    if (*target_place > *place) return "A1: " + std::string{*room} + " includes " + std::string{*target};
    return {};
}

}  // namespace genista::test
