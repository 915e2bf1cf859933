// Planted bugs: every switch in the second block of genista/filters/broom/faults.hpp, and those of
// the first block that a check can see in one filter, one at a time. At least one of the checks in
// tests/support/broom_checks.hpp must report each bug, and no check may report a failure when no
// bug is switched on: so a check that passes on the product filter means something.
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "tests/support/broom_checks.hpp"

namespace genista::planted_test {
namespace {

struct planted_bug {
    std::string_view name;
    bool broom_faults::*on;
    std::string_view caught_by;         // the check that is made for it
    bool needs_two_processors = false;  // it shows only where two threads run at the same time
};

constexpr planted_bug bugs[] = {
    {"insert_trusts_remote", &broom_faults::insert_trusts_remote, "a colliding insert"},
    {"insert_takes_dead_slot", &broom_faults::insert_takes_dead_slot, "an erased key comes back"},
    {"insert_keeps_quiet", &broom_faults::insert_keeps_quiet, "an erase while its key is inserted again"},
    {"erase_guesses", &broom_faults::erase_guesses, "rolling back a commit that collides"},
    {"erase_buries_twin", &broom_faults::erase_buries_twin, "keys with one digest"},
    {"adapt_extends_wrong_key", &broom_faults::adapt_extends_wrong_key,
     "an adapt while R holds a key that is not inserted yet"},
    {"growth_skips_a_bin", &broom_faults::growth_skips_a_bin, "growth"},
    {"reader_without_recheck", &broom_faults::reader_without_recheck, "the history of threads", true},
    {"writer_without_recheck", &broom_faults::writer_without_recheck, "an erase while a neighbour is inserted"},
    {"writer_without_recheck", &broom_faults::writer_without_recheck, "growth while a key is inserted"},
    {"salt_repeats", &broom_faults::salt_repeats, "a renewal repeats no salt"},
    {"dead_slot_matches", &broom_faults::dead_slot_matches, "the model"},
    {"extension_ignored", &broom_faults::extension_ignored, "the model"},
    {"slot_names_stay", &broom_faults::slot_names_stay, "the model"},
    {"error_is_absent", &broom_faults::error_is_absent, "a range read that fails"},
    {"load_forgets_backyard", &broom_faults::load_forgets_backyard, "snapshots"},
    {"bury_ignores_claims", &broom_faults::bury_ignores_claims, "an assume_present erase while its slot is claimed"},
    {"insert_guesses_by_count", &broom_faults::insert_guesses_by_count, "an outcome while a neighbour is erased"},
    {"full_with_dead_slots", &broom_faults::full_with_dead_slots, "a full bin with tombstones"},
    {"refusal_leaves_bin", &broom_faults::refusal_leaves_bin, "an insert that is refused"},
    {"refusal_throws_out", &broom_faults::refusal_throws_out, "a stored key that is refused"},
    {"renewal_keeps_refused", &broom_faults::renewal_keeps_refused, "refused keys that stay in R"},
    {"failed_read_shows", &broom_faults::failed_read_shows, "an insert while R cannot be read"},
    {"load_keeps_empty_epochs", &broom_faults::load_keeps_empty_epochs, "a restore of empty bins"},
};

const test::broom_check& check_named(std::string_view name) {
    for (const test::broom_check& each : test::broom_checks<broom_filter>) {
        if (each.name == name) return each;
    }
    ADD_FAILURE() << "no check is called " << name;
    return test::broom_checks<broom_filter>[0];
}

std::string with_underscores(std::string_view text) {
    std::string name{text};
    for (char& c : name) c = c == ' ' ? '_' : c;
    return name;
}

class planted : public testing::TestWithParam<planted_bug> {
  protected:
    void SetUp() override { faults = {}; }
    void TearDown() override { faults = {}; }
};

TEST_P(planted, is_caught) {
    cpu_set_t ours;
    CPU_ZERO(&ours);
    if (GetParam().needs_two_processors && sched_getaffinity(0, sizeof ours, &ours) == 0 && CPU_COUNT(&ours) < 2)
        GTEST_SKIP() << "with one processor no writer changes a bin during a look-up";
    const test::broom_check& check = check_named(GetParam().caught_by);
    faults.*GetParam().on = true;
    const std::string complaint = check.run();
    std::printf("complaint: %s: %s\n", GetParam().name.data(), complaint.substr(0, 200).c_str());
    EXPECT_NE(complaint, "") << GetParam().name << " was not caught by \"" << check.name << "\"";
}

INSTANTIATE_TEST_SUITE_P(bugs, planted, testing::ValuesIn(bugs), [](const auto& tried) {
    return std::string{tried.param.name} + "__" + with_underscores(tried.param.caught_by);
});

class planted_control : public testing::TestWithParam<test::broom_check> {};

TEST_P(planted_control, finds_nothing_without_a_bug) {
    faults = {};
    EXPECT_EQ(GetParam().run(), "");
}

INSTANTIATE_TEST_SUITE_P(checks, planted_control, testing::ValuesIn(test::broom_checks<broom_filter>),
                         [](const auto& tried) { return with_underscores(tried.param.name); });

}  // namespace
}  // namespace genista::planted_test
