// A finished run, for machines (JSON) and for people (two tables of at most 120 columns).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/figures.hpp"
#include "bench/machine.hpp"
#include "bench/plan.hpp"
#include "bench/rounds.hpp"

namespace genista::tool::bench {

struct report {
    plan what;
    std::vector<figures> filters;
    floor_figures floor;
    machine_facts machine;
};

// {"filters":[…],"floor":{…},"machine":{…}}: the field names are a promise to scripts.
[[nodiscard]] nlohmann::ordered_json to_json(const report& run);

[[nodiscard]] std::string to_text(const report& run);

}  // namespace genista::tool::bench
