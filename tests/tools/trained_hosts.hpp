// Generated hosts as logs, and the model that `genista daisy train` makes of them: what the tests
// of the daisy commands share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/workloads/synthetic_hosts.hpp"
#include "run_tool.hpp"

namespace genista::test {

// A block list and popular hosts, numbers first .. last - 1 of each, one a line.
inline void write_hosts(const std::string& blocked_path, const std::string& popular_path, std::uint64_t first,
                        std::uint64_t last) {
    const lab::synthetic_hosts hosts{1};
    std::string blocked, popular;
    for (std::uint64_t i = first; i < last; ++i) {
        blocked += hosts.blocked(i) + "\n";
        popular += hosts.popular(i) + "\n";
    }
    put_contents(blocked_path, blocked);
    put_contents(popular_path, popular);
}

inline void write_logs(const scratch_folder& scratch, std::uint64_t count) {
    write_hosts(scratch / "inserts.txt", scratch / "queries.txt", 0, count);
}

// Of the two logs, to hosts.model.
inline std::vector<std::string> train_line(const scratch_folder& scratch, const std::vector<std::string>& more = {}) {
    std::vector<std::string> line = {"daisy",     "train",
                                     "--inserts", scratch / "inserts.txt",
                                     "--queries", scratch / "queries.txt",
                                     "--out",     scratch / "hosts.model"};
    line.insert(line.end(), more.begin(), more.end());
    return line;
}

}  // namespace genista::test
