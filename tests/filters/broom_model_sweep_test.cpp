// The model test with more operations: more small filters, and filters of tens of thousands of keys
// with the truth in a bitmap, scanned in batches. With broom_model_test.cpp these are the 5·10^7
// operations of every `./test`.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/support/broom_model.hpp"
#include "tests/support/scale.hpp"

namespace genista::broom_model_sweep_test {
namespace {

class broom_model_sweep : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {
  protected:
    static double rate() { return 1.0 / static_cast<double>(1u << std::get<0>(GetParam())); }
    static unsigned history() { return std::get<1>(GetParam()); }
};

TEST_P(broom_model_sweep, small_filters_keep_every_key_and_the_law) {
    test::findings wrong;
    const auto counts = test::drive_small_filters<broom_filter>(rate(), history(), 1'000'000, test::effort(4, 2, 20),
                                                                test::effort(2000, 400, 10'000), wrong);
    EXPECT_TRUE(wrong.none()) << wrong.text();
    test::record_figure("model_operations", counts.operations());
    test::record_figure("model_audits", counts.audits);
}

TEST_P(broom_model_sweep, large_filters_keep_every_key_through_growth_and_churn) {
    test::world_counts counts;
    for (const bool grows : {false, true}) {
        const std::uint64_t keys = test::effort(30'000, 6000, 200'000);
        test::broom_world<broom_filter> w{{.capacity = grows ? keys / 20 : keys,
                                           .rate = rate(),
                                           .history = history(),
                                           .grows = grows,
                                           .seed = 77 + history(),
                                           .universe = keys}};
        const std::uint64_t steps = test::effort(60'000, 8000, 1'500'000);
        test::drive(w, {.steps = steps,
                        .audit_every = 10'000,
                        .scan_every = steps / 70,
                        .hunt = 512,
                        .fault_share = 0,
                        .most_bins = 512,
                        .sweeps_per_million = 4'000'000 / steps + 1});
        EXPECT_TRUE(w.wrong.none()) << w.wrong.text();
        counts.add(w.counts);
    }
    test::record_figure("model_operations", counts.operations());
    test::record_figure("model_audits", counts.audits);
}

std::string name_of(const testing::TestParamInfo<std::tuple<unsigned, unsigned>>& tried) {
    constexpr const char* histories[] = {"tombstone", "renew", "soft"};
    return "rate_2_to_the_minus_" + std::to_string(std::get<0>(tried.param)) + "_" +
           histories[std::get<1>(tried.param)];
}

INSTANTIATE_TEST_SUITE_P(all, broom_model_sweep,
                         testing::Combine(testing::Values(8u, 10u, 13u, 20u, 24u), testing::Values(0u, 1u, 2u)),
                         name_of);

}  // namespace
}  // namespace genista::broom_model_sweep_test
