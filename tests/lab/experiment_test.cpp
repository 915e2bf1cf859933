// The rows of the experiments are whole, and docs/papers.md lists the same promises.
#include "lab/experiment.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace genista::lab::experiment_test {
namespace {

// What is wrong with these rows, or "".
std::string fault_in(std::span<const experiment> rows) {
    std::set<std::string_view> ids;
    std::set<int> orders;
    for (const experiment& each : rows) {
        const std::string id{each.id};
        if (each.id.empty()) return "a row without an id";
        if (!ids.insert(each.id).second) return id + ": two rows";
        if (!orders.insert(each.order).second) return id + ": another row has its place";
        if (each.promise.empty()) return id + ": no promise";
        if (each.where.empty()) return id + ": no place in the papers";
        if (each.is_built() && !(each.takes.quick_seconds > 0 && each.takes.full_minutes > 0))
            return id + ": no estimate";
    }
    return "";
}

outcome measure_nothing(const run_options&) {
    return {};
}

constexpr experiment whole{.id = "whole",
                           .order = 101,
                           .promise = "a promise",
                           .where = "ours",
                           .measure = measure_nothing,
                           .takes = {.quick_seconds = 1, .full_minutes = 1}};

TEST(experiments, have_whole_rows_with_ids_and_places_of_their_own) {
    EXPECT_FALSE(all_experiments().empty());
    EXPECT_EQ(fault_in(all_experiments()), "");
}

TEST(experiments, a_faulty_row_is_refused) {
    EXPECT_EQ(fault_in(std::array{whole}), "");
    experiment other = whole;
    other.order = 102;
    EXPECT_EQ(fault_in(std::array{whole, other}), "whole: two rows");
    other.id = "other";
    EXPECT_EQ(fault_in(std::array{whole, other}), "");
    other.takes.full_minutes = 0;
    EXPECT_EQ(fault_in(std::array{whole, other}), "other: no estimate");
    other.measure = nullptr;
    EXPECT_EQ(fault_in(std::array{whole, other}), "") << "nothing to estimate before it is built";
    other.promise = "";
    EXPECT_EQ(fault_in(std::array{whole, other}), "other: no promise");
    other = whole;
    other.id = "other";
    EXPECT_EQ(fault_in(std::array{whole, other}), "other: another row has its place");
}

TEST(experiments, every_promise_has_one) {
    for (const experiment& each : all_experiments()) EXPECT_TRUE(each.is_built()) << each.id;
}

TEST(experiments, are_found_by_their_ids) {
    for (const experiment& each : all_experiments()) {
        EXPECT_EQ(find_experiment(each.id), each.is_built() ? &each : nullptr);
    }
    EXPECT_EQ(find_experiment("no-such-experiment"), nullptr);
}

// A row of a table in papers.md begins "| id |"; its state is its last cell.
TEST(experiments, papers_md_lists_them_in_order_with_the_state_they_have) {
    std::ifstream page{GENISTA_SOURCE_DIR "/docs/papers.md"};
    ASSERT_TRUE(page.good());
    auto next = all_experiments().begin();
    for (std::string line; std::getline(page, line) && next != all_experiments().end();) {
        if (line.rfind("| " + std::string{next->id} + " |", 0) != 0) continue;
        const bool shown = line.find("shown by `genista lab run " + std::string{next->id} + "`") != std::string::npos;
        EXPECT_EQ(shown, next->is_built()) << line;
        EXPECT_EQ(!shown, line.find("| not built yet |") != std::string::npos) << line;
        ++next;
    }
    EXPECT_EQ(next, all_experiments().end()) << "missing, or out of order: " << next->id;
}

// The cells of a row of a table, without blanks around them. "\\|" is a "|" inside a cell.
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::string cell;
    for (std::size_t i = 1; i < line.size(); ++i) {
        if (line.compare(i, 2, "\\|") == 0) {
            cell += '|';
            ++i;
        } else if (line[i] == '|') {
            const std::size_t first = cell.find_first_not_of(' ');
            cells.push_back(first == cell.npos ? "" : cell.substr(first, cell.find_last_not_of(' ') + 1 - first));
            cell.clear();
        } else {
            cell += line[i];
        }
    }
    return cells;
}

// The promises of our own have no place in a paper, and no column for it.
TEST(experiments, papers_md_has_their_promises_word_for_word) {
    EXPECT_EQ(cells_of("| a |  | b \\| c |"), (std::vector<std::string>{"a", "", "b | c"}));
    std::ifstream page{GENISTA_SOURCE_DIR "/docs/papers.md"};
    std::size_t compared = 0;
    for (std::string line; std::getline(page, line);) {
        if (line.find("| shown by `genista lab run ") == std::string::npos) continue;
        const std::vector<std::string> cells = cells_of(line);
        ASSERT_GE(cells.size(), 3u) << line;
        const experiment* const row = find_experiment(cells[0]);
        ASSERT_NE(row, nullptr) << cells[0];
        EXPECT_EQ(cells[1], row->promise);
        EXPECT_EQ(cells.size() == 3 ? "ours" : cells[2], row->where) << row->id;
        ++compared;
    }
    EXPECT_EQ(compared, all_experiments().size());
}

// The other direction: a row whose file is not linked would be missing from the list.
TEST(experiments, papers_md_names_no_other) {
    std::ifstream page{GENISTA_SOURCE_DIR "/docs/papers.md"};
    ASSERT_TRUE(page.good());
    const std::string shown_by = "shown by `genista lab run ";
    for (std::string line; std::getline(page, line);) {
        const std::size_t at = line.find(shown_by);
        if (at == std::string::npos) continue;
        const std::size_t from = at + shown_by.size();
        const std::string id = line.substr(from, line.find('`', from) - from);
        EXPECT_NE(find_experiment(id), nullptr) << id;
    }
}

}  // namespace
}  // namespace genista::lab::experiment_test
