// A trace: which keys were asked for, in their order of time. Experiments replay it instead of
// synthetic queries.
//
//     accesses   0 1 0 2 1 3 …     numbers of keys, given in the order of first appearance
//     keys       keys[n] is the text of number n
//
// So "the first n different keys" are the numbers below n, and accesses to all others are those ≥
// n: an experiment stores the first n flows of a network trace and asks for the rest.
//
// Where traces come from: data.hpp (a folder, or synthetic), csv.hpp (a user's own table), and
// read_trace here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"
#include "lab/workloads/key_table.hpp"

namespace genista::lab {

struct trace {
    std::string name;
    std::vector<std::uint32_t> accesses;
    key_table keys;
    bool is_network = false;    // packets or flows of a network: the name begins with net-
    bool is_synthetic = false;  // its figures are not about real networks
};

// An empty trace with the name that its path gives: no folders, no .gz, and no .keys, .csv, .tsv or
// .txt before it.
[[nodiscard]] trace trace_named_after(const std::string& path);

// Adds an access. An error if there are more different keys than numbers.
[[nodiscard]] result<void> add_access(trace& into, std::string_view key);

// One key a line (key_file.hpp). Reads the whole file or returns an error, never a part of it.
[[nodiscard]] result<trace> read_trace(const std::string& path);

// Figures of a trace, to judge a measurement that was made from it.
struct trace_facts {
    std::uint64_t accesses = 0;
    std::uint64_t keys = 0;        // different ones
    double top_percent_share = 0;  // of the accesses that go to the most frequent 1 % of keys, rounded up to whole keys
    double repeat_share = 0;       // of the accesses that are not the first to their key
    double seen_once_share = 0;    // of the keys
    double most_frequent_share = 0;  // of the accesses that go to a single key
};

[[nodiscard]] trace_facts facts_of(const trace& of);

}  // namespace genista::lab
