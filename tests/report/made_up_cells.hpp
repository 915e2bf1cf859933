// A made-up attack matrix with every kind of cell, for the tests of its figure and its page.
#pragma once

#include <string>
#include <vector>

#include "lab/games/attack_matrix.hpp"

namespace genista::test {

[[nodiscard]] inline nlohmann::ordered_json made_up_cell(const std::string& adversary, const std::string& filter,
                                                         std::uint64_t right, std::uint64_t guesses) {
    return {{"adversary", adversary},       {"filter", filter},     {"why", ""},
            {"promised", lab::matrix_rate}, {"keys", 45},           {"games", 2},
            {"guesses", guesses},           {"right", right},       {"negatives", 400'000},
            {"false_positives", 1'200},     {"false_negatives", 0}, {"operations", 400'100},
            {"range_reads", 1'200},         {"capacity", 45}};
}

// Three adversaries and three filters: sturdy never loses, middling loses some, frail loses, and
// denies a stored key if asked to.
[[nodiscard]] inline std::vector<lab::matrix_cell> made_up_cells(bool with_denied_key = false) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const char* const adversary : {"fresh", "repeat-one", "growth-replay"}) {
        const std::string by = adversary;
        rows.push_back(made_up_cell(by, "sturdy", 31, 9'000));
        rows.push_back(made_up_cell(by, "middling", by == "repeat-one" ? 640 : 20, 8'000));
        rows.push_back(made_up_cell(by, "frail_and_long_of_name", by == "fresh" ? 10 : 5'000, 5'000));
        if (by == "growth-replay") {  // frail cannot grow
            rows.back()["guesses"] = rows.back()["right"] = rows.back()["negatives"] = rows.back()["false_positives"] =
                0;
            rows.back()["why"] = "frail does not grow";
        }
        if (by == "fresh" && with_denied_key) rows.back()["false_negatives"] = 2;
    }
    rows[0]["guesses"] = rows[0]["right"] = 0;  // no claims
    return lab::matrix_from_json(rows);
}

}  // namespace genista::test
