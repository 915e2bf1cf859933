// Random operations on the broom filter and an exact set: every rate class, every history, with and
// without growth, and with a store that fails now and then. Small filters, each audited after every
// step; broom_model_sweep_test.cpp has more and larger ones.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/support/broom_model.hpp"
#include "tests/support/scale.hpp"

namespace genista::broom_model_test {
namespace {

class broom_model : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {};

TEST_P(broom_model, every_step_keeps_every_key_and_the_law) {
    const auto [rate_bits, history] = GetParam();
    test::findings wrong;
    const std::uint64_t runs = test::effort(6, 3, 60);
    const std::uint64_t steps = test::effort(600, 250, 3'000);
    const auto counts = test::drive_small_filters<broom_filter>(1.0 / static_cast<double>(1u << rate_bits), history,
                                                                rate_bits * 1000, runs, steps, wrong);
    EXPECT_TRUE(wrong.none()) << wrong.text();
    EXPECT_GT(counts.store_failures, 0u);
    test::record_figure("model_operations", counts.operations());
    test::record_figure("model_audits", counts.audits);
}

std::string name_of(const testing::TestParamInfo<std::tuple<unsigned, unsigned>>& tried) {
    constexpr const char* histories[] = {"tombstone", "renew", "soft"};
    return "rate_2_to_the_minus_" + std::to_string(std::get<0>(tried.param)) + "_" +
           histories[std::get<1>(tried.param)];
}

INSTANTIATE_TEST_SUITE_P(all, broom_model,
                         testing::Combine(testing::Values(8u, 10u, 13u, 20u, 24u), testing::Values(0u, 1u, 2u)),
                         name_of);

}  // namespace
}  // namespace genista::broom_model_test
