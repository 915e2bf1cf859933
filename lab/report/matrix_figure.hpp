// The attack matrix (games/attack_matrix.hpp) as a heat map, and its result for each filter in
// words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lab/games/attack_matrix.hpp"
#include "lab/report/page.hpp"

namespace genista::lab::report {

// Rows and columns in the order in which they first appear.
[[nodiscard]] heat_map matrix_figure(std::span<const matrix_cell> cells);

// One filter over all adversaries.
struct filter_record {
    std::string filter;
    std::size_t holds = 0;
    std::vector<std::string> lost_to;
    std::vector<std::string> could_not;
    std::vector<std::string> denied;     // adversaries against which it denied a stored key
    const matrix_cell* worst = nullptr;  // of those lost, by rate

    [[nodiscard]] bool unbeaten() const noexcept { return lost_to.empty() && denied.empty() && holds > 0; }
};
[[nodiscard]] std::vector<filter_record> records_of(std::span<const matrix_cell> cells);

// A row a filter: how many adversaries it withstands, to which it loses, the worst of them.
[[nodiscard]] table record_table(std::span<const matrix_cell> cells);

// Which filter to trust with what: new keys only, keys that repeat, an attacker. Only what these
// cells show.
[[nodiscard]] table trust_table(std::span<const matrix_cell> cells);

// "a, b and c"
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

}  // namespace genista::lab::report
