// A set with labels: `key<TAB>label` a line, plain or gzip, keys all different. For example host
// names to block and to pass.
//
// Reads the whole file or returns an error that names the line: a line without a TAB or with two, a
// key or a label that is empty, a key that was there before. Empty lines are skipped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "genista/base/result.hpp"
#include "lab/workloads/key_table.hpp"

namespace genista::lab {

struct key_set {
    key_table keys;                       // in the order of the file
    std::vector<std::uint32_t> label_of;  // a number of `labels` for each key
    std::vector<std::string> labels;      // in the order of first appearance; few
};

[[nodiscard]] result<key_set> read_key_set(const std::string& path);

}  // namespace genista::lab
