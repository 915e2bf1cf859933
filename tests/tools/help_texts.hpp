// The commands and options that `genista ... --help` lists, for what must agree with them: man
// pages and completion.
#pragma once

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "run_tool.hpp"

namespace genista::test {

struct command_help {
    std::vector<std::string> words;  // store, audit; none for genista itself
    std::set<std::string> options;   // --json
    std::vector<std::string> commands;
    std::string positional;  // FILE: the first argument without an option; empty if there is none

    // "genista store audit"
    [[nodiscard]] std::string name() const {
        std::string all = "genista";
        for (const std::string& word : words) all.append(" ").append(word);
        return all;
    }
};

// Of one --help: lines of two spaces and a name. Descriptions are indented further.
[[nodiscard]] inline command_help help_of(const std::vector<std::string>& words) {
    std::vector<std::string> line = words;
    line.emplace_back("--help");
    command_help made{words, {}, {}, {}};
    std::istringstream text{run_tool(line).out};
    std::string section;
    for (std::string each; std::getline(text, each);) {
        if (!each.starts_with("  ")) {
            section = each;
        } else if (each.starts_with("  -")) {
            const std::size_t begin = each.find("--");
            made.options.insert(each.substr(begin, each.find_first_of(" =", begin) - begin));
        } else if (each[2] != ' ') {
            const std::string name = each.substr(2, each.find(' ', 2) - 2);
            if (section == "Subcommands:") made.commands.push_back(name);
            if (section == "Positionals:" && made.positional.empty()) made.positional = name;
        }
    }
    return made;
}

// genista and all commands below it, each before those below it.
[[nodiscard]] inline std::vector<command_help> all_help() {
    std::vector<command_help> all{help_of({})};
    for (std::size_t i = 0; i < all.size(); ++i) {
        const command_help above = all[i];
        for (const std::string& each : above.commands) {
            std::vector<std::string> words = above.words;
            words.push_back(each);
            all.push_back(help_of(words));
        }
    }
    return all;
}

}  // namespace genista::test
