// The claims as data, the experiments and docs/papers.md tell one story.
#include "lab/claims.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "lab/experiment.hpp"

namespace genista::lab::claims_test {
namespace {

TEST(claims, have_distinct_ids_a_promise_and_a_place) {
    std::set<std::string_view> ids;
    for (const claim& each : all_claims()) {
        EXPECT_TRUE(ids.insert(each.id).second) << each.id;
        EXPECT_FALSE(each.promise.empty()) << each.id;
        EXPECT_FALSE(each.where.empty()) << each.id;
        EXPECT_EQ(find_claim(each.id), &each);
    }
    EXPECT_EQ(find_claim("no-such-claim"), nullptr);
}

TEST(claims, every_one_has_an_experiment) {
    for (const claim& each : all_claims()) EXPECT_NE(find_experiment(each.id), nullptr) << each.id;
}

TEST(claims, every_experiment_measures_one) {
    for (const experiment& each : all_experiments()) {
        EXPECT_NE(find_claim(each.id), nullptr) << each.id;
        EXPECT_EQ(find_experiment(each.id), &each);
    }
}

// A row of a table in papers.md begins "| id |"; its state is its last cell.
TEST(claims, papers_md_lists_them_in_order_with_the_state_they_have) {
    std::ifstream page{GENISTA_SOURCE_DIR "/docs/papers.md"};
    ASSERT_TRUE(page.good());
    auto next = all_claims().begin();
    for (std::string line; std::getline(page, line) && next != all_claims().end();) {
        if (line.rfind("| " + std::string{next->id} + " |", 0) != 0) continue;
        const bool shown = line.find("shown by `genista lab run " + std::string{next->id} + "`") != std::string::npos;
        EXPECT_EQ(shown, find_experiment(next->id) != nullptr) << line;
        EXPECT_EQ(!shown, line.find("| not built yet |") != std::string::npos) << line;
        ++next;
    }
    EXPECT_EQ(next, all_claims().end()) << "missing, or out of order: " << next->id;
}

}  // namespace
}  // namespace genista::lab::claims_test
