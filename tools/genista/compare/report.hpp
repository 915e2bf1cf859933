// The outcome of a run as tables and as JSON. docs/guard.md explains the fields.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compare/databases.hpp"
#include "compare/figures.hpp"
#include "compare/request.hpp"

namespace genista::tool::compare {

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
