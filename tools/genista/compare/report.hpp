// What a run found, and its tables and JSON. docs/guard.md explains the fields.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/request.hpp"

namespace genista::tool::compare {

// What one filter did in one phase.
struct figures {
    filter_kind filter = filter_kind::none;
    double bits_per_key = 0;  // all local state, at the end of the phase
    std::uint64_t queries = 0;
    std::uint64_t absent = 0;
    std::uint64_t distinct_absent = 0;
    std::uint64_t wasted_reads = 0;           // queries for absent keys that the filter let through
    std::uint64_t repeated_wasted_reads = 0;  // for a key that had wasted one before
    std::uint64_t device_reads = 0;           // blocks from the device, those that taught the filter included
    std::uint64_t adapts = 0;                 // false positives repaired
    std::uint64_t remote_reads = 0;           // reads of R that it took to try: ranges, or single slots and records
    std::uint64_t false_negatives = 0;
    std::uint64_t absent_keys_found = 0;  // values for absent keys: a bug
    double seconds = 0;
    double p50_us = 0, p99_us = 0, p999_us = 0;
    std::vector<std::uint64_t> timeline_queries;  // after so many queries ...
    std::vector<std::uint64_t> timeline_wasted;   // ... so many wasted reads
    std::optional<std::uint64_t> guard_wasted;    // by the counters of the guard
    std::optional<std::uint64_t> pool;            // false positives that the adversary found, ...
    std::uint64_t pool_asked = 0;                 // ... with so many queries

    [[nodiscard]] double wasted_share() const noexcept {
        return absent == 0 ? 0 : static_cast<double>(wasted_reads) / static_cast<double>(absent);
    }
    [[nodiscard]] double queries_per_second() const noexcept {
        return seconds > 0 ? static_cast<double>(queries) / seconds : 0;
    }
};

struct phase_result {
    std::string name;
    std::string about;  // in words
    std::vector<figures> rows;

    [[nodiscard]] const figures* row(filter_kind kind) const noexcept {
        for (const figures& each : rows) {
            if (each.filter == kind) return &each;
        }
        return nullptr;
    }
};

struct budget {
    double bits_per_key = 0;  // of every filter
    double broom_rate = 0;    // the rate of broom in that memory
};

struct outcome {
    const request& asked;
    std::uint64_t keys = 0;
    budget sizes;
    bool direct_reads = true;
    std::vector<phase_result> phases;
};

// Tables and a few sentences, at most page_width columns.
[[nodiscard]] std::string to_text(const outcome& run);
[[nodiscard]] nlohmann::ordered_json to_json(const outcome& run);

// What must not happen, in words: a stored key denied, an absent key found, a guard that miscounts.
// Empty if nothing did.
[[nodiscard]] std::string faults(const outcome& run);

}  // namespace genista::tool::compare
