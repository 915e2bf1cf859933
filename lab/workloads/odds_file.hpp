// Known probabilities: `key<TAB>probability` a line, plain or gzip. Empty lines are skipped.
//
// Reads the whole file or returns an error that names the line: a line without a TAB, a key that is
// empty, a probability that is no number or not in 0..1. The caller checks whether they sum to one
// (exact_oracle.hpp).
#pragma once

#include <string>
#include <vector>

#include "genista/oracles/exact_oracle.hpp"
#include "lab/workloads/key_list.hpp"

namespace genista::lab {

struct odds_file {
    key_list keys;
    std::vector<double> odds;  // one a key

    // Valid while this object lives.
    [[nodiscard]] std::vector<weighted_key> column() const;
};

[[nodiscard]] result<odds_file> read_odds_file(const std::string& path);

}  // namespace genista::lab
