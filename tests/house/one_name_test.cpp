// One name, one type: no two files of a program define a struct, class or enum of the same full
// name.
//
// No compiler detects such a pair, because it never sees both. The linker keeps one of their
// destructors and calls it for both. Two structs of the lab once had one name, and an experiment
// crashed on some machines and not on others. Names in an unnamed namespace belong to their file,
// and tests of different rooms are different programs.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "source_tree.hpp"

namespace genista::test::one_name_test {
namespace {

// The full names of the types that a file defines at namespace level. The sources are formatted: a
// definition begins its line, and a comment marks the end of a namespace.
std::vector<std::string> types_of(const source_file& file) {
    static const std::regex opens{R"((?:inline )?namespace ([\w:]*) ?\{)"}, closes{R"(\}\s*// namespace.*)"},
        defines{
            R"((?:struct|class|enum class|enum|union) (?:alignas\(\w+\) |\[\[\w+\]\] )?(\w+)(?: final)?(?: : [^;]*)? \{.*)"};
    std::vector<std::string> inside, found;
    for (const std::string& line : file.lines) {
        std::smatch seen;
        if (std::regex_match(line, seen, opens)) {
            inside.push_back(seen[1]);
        } else if (!inside.empty() && std::regex_match(line, closes)) {
            inside.pop_back();
        } else if (std::regex_match(line, seen, defines)) {
            std::string name;
            bool is_own = false;
            for (const std::string& outer : inside) {
                is_own = is_own || outer.empty();
                name += outer + "::";
            }
            if (!is_own) found.push_back(name + seen[1].str());
        }
    }
    return found;
}

// tests/filters and tests/lab are different programs. All other files may be in one program.
std::string program_of(const std::string& path) {
    if (!path.starts_with("tests/") || path.starts_with("tests/support/")) return "";
    return path.substr(0, path.find('/', 6));
}

std::vector<std::string> complaints_about(const std::vector<source_file>& tree) {
    std::map<std::string, std::map<std::string, std::set<std::string>>> files_of;  // name → program → files
    for (const source_file& file : tree) {
        if (!file.is_cpp() || file.path.starts_with("examples/")) continue;
        for (const std::string& name : types_of(file)) files_of[name][program_of(file.path)].insert(file.path);
    }
    std::vector<std::string> found;
    for (const auto& [name, programs] : files_of) {
        const auto everywhere = programs.find("");
        for (const auto& [program, own] : programs) {
            std::set<std::string> all = own;
            if (everywhere != programs.end()) all.insert(everywhere->second.begin(), everywhere->second.end());
            if (all.size() < 2) continue;
            std::string where;
            for (const std::string& file : all) where += " " + file;
            found.push_back(name + " is defined in" + where);
        }
    }
    return found;
}

source_file made_up(std::string path, std::vector<std::string> lines) {
    return {std::move(path), std::move(lines)};
}

TEST(one_name, two_types_of_one_name_are_found) {
    const auto first =
        made_up("lab/a.hpp", {"namespace genista::lab {", "struct draw {", "};", "}  // namespace genista::lab"});
    const auto second =
        made_up("lab/b.cpp", {"namespace genista::lab {", "class draw final : base {", "};", "}  // namespace"});
    const auto own = made_up("lab/c.cpp", {"namespace genista::lab {", "namespace {", "struct draw {", "};"});
    const auto other_room = made_up("lab/d.cpp", {"namespace genista::bits {", "struct draw {", "};"});
    const auto nested = made_up("lab/e.cpp", {"namespace genista::lab {", "struct draw::part {", "};", "struct draw;"});
    const auto test = made_up("tests/lab/a_test.cpp", {"namespace genista::lab {", "enum class draw {", "};"});
    EXPECT_EQ(complaints_about({first, second}).size(), 1u);
    EXPECT_EQ(complaints_about({first, test}).size(), 1u);
    EXPECT_TRUE(complaints_about({first, own, other_room, nested}).empty());
}

TEST(one_name, holds_for_the_repository) {
    for (const std::string& each : complaints_about(source_tree(GENISTA_SOURCE_DIR))) ADD_FAILURE() << each;
}

}  // namespace
}  // namespace genista::test::one_name_test
