// The checks of tests/support/broom_checks.hpp find no failure in the product filter. tests/planted
// shows that each of them can fail.
#include "tests/support/broom_checks.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/scale.hpp"

namespace genista::broom_checks_test {
namespace {

class broom_checked : public testing::TestWithParam<test::broom_check> {};

TEST_P(broom_checked, finds_no_failure) {
    if (test::thread_sanitized && !GetParam().has_threads) GTEST_SKIP() << "one thread: the other presets run it";
    EXPECT_EQ(GetParam().run(), "") << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(all, broom_checked, testing::ValuesIn(test::broom_checks<broom_filter>),
                         [](const auto& tried) {
                             std::string name{tried.param.name};
                             for (char& c : name) c = c == ' ' ? '_' : c;
                             return name;
                         });

}  // namespace
}  // namespace genista::broom_checks_test
