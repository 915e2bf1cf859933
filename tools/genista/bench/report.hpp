// A finished run as JSON, and as tables of at most 120 columns.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/figures.hpp"
#include "bench/plan.hpp"
#include "machine.hpp"

namespace genista::tool::bench {

// What was measured at one size: filters, then the churned ones.
struct size_report {
    plan what;
    std::vector<figures> filters{};
    floor_figures floor{};

    [[nodiscard]] double bits_per_key(const figures& each) const {
        return static_cast<double>(each.stats.local_bytes) * 8 / static_cast<double>(what.keys);
    }
    // Over log2(1/measured rate), the least any filter of that rate can have; unknown while no
    // false positive was seen.
    [[nodiscard]] std::optional<double> bits_over_optimal(const figures& each) const;

    // How many times as many operations a second plan::threads[team] do together as the first entry
    // does, by medians.
    [[nodiscard]] std::optional<double> speedup(const samples& of_first, const samples& of_team,
                                                std::size_t team) const;
};

struct report {
    plan asked;  // with the keys of the last size
    std::vector<size_report> sizes{};
    machine_facts machine{};
};

// Of the JSON document. 1, which had no such fields, was {"filters":[…],"floor":{…},"machine":{…}}
// for one size.
inline constexpr std::string_view report_format = "genista bench";
inline constexpr std::uint64_t report_version = 2;

[[nodiscard]] std::string_view name_of(hash_kind kind);
// "90/10"
[[nodiscard]] std::string mix_name(const plan& what);

// {"format":…,"version":2,"sizes":[{"keys":…,"filters":[…],"floor":{…},…}],"machine":{…}}: scripts
// may rely on the names of the fields.
[[nodiscard]] nlohmann::ordered_json to_json(const report& run);

[[nodiscard]] std::string to_text(const report& run);

// Four characters at most, so that slow machines do not widen a table; the JSON has every digit.
[[nodiscard]] std::string rounded(double number);

}  // namespace genista::tool::bench
