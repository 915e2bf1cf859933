// The repository as the house tests see it: its files and their lines.
//
// Only the folders and files of ARCHITECTURE.md count, so build trees and an editor's files are
// never checked. The functions accept missing folders: one that does not exist yet (modules/) has
// no files.
#pragma once

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace genista::test {

namespace files = std::filesystem;

struct source_file {
    std::string path;  // from the root of the repository, with '/'
    std::vector<std::string> lines;

    [[nodiscard]] std::string extension() const { return files::path{path}.extension().string(); }
    [[nodiscard]] bool is_cpp() const {
        static const std::set<std::string, std::less<>> cpp{".hpp", ".cpp", ".inl", ".h", ".c", ".cc"};
        return cpp.contains(extension());
    }
    [[nodiscard]] bool is_text() const {
        static const std::set<std::string, std::less<>> text{".md",   ".cmake", ".txt", ".json", ".in",
                                                             ".yaml", ".yml",   ".py",  ".sh",   ".html"};
        return is_cpp() || text.contains(extension()) || is_script();
    }
    // The commands have no extension: a file that begins with "#!" is one.
    [[nodiscard]] bool is_script() const {
        return extension().empty() && !lines.empty() && lines.front().starts_with("#!");
    }
};

[[nodiscard]] inline std::vector<std::string> lines_of(const files::path& path) {
    std::ifstream stream{path, std::ios::binary};
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

// Every text file of the repository, in the order of the paths.
[[nodiscard]] inline std::vector<source_file> source_tree(const files::path& root) {
    static constexpr std::string_view folders[] = {"include", "src",  "stores", "modules",  "bindings",
                                                   "tools",   "lab",  "bench",  "examples", "fuzz",
                                                   "tests",   "docs", "cmake",  "scripts",  ".ci"};
    std::set<files::path> paths;
    for (const auto& entry : files::directory_iterator{root}) {
        if (entry.is_regular_file()) paths.insert(entry.path());
    }
    for (const std::string_view folder : folders) {
        if (!files::is_directory(root / folder)) continue;
        for (const auto& entry : files::recursive_directory_iterator{root / folder}) {
            if (entry.is_regular_file()) paths.insert(entry.path());
        }
    }
    std::vector<source_file> tree;
    for (const files::path& path : paths) {
        source_file file{path.lexically_relative(root).generic_string(), {}};
        if (file.is_text() || file.extension().empty()) {
            file.lines = lines_of(path);
            if (file.is_text()) tree.push_back(std::move(file));
        }
    }
    return tree;
}

}  // namespace genista::test
