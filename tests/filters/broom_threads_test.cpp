// The history check of broom_history.hpp: writers, readers, readers of batches, adapters, growth
// and rebuilds on one filter. Made for ThreadSanitizer; without it the test runs more events in
// less time.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/support/broom_history.hpp"
#include "tests/support/scale.hpp"

namespace genista::broom_threads_test {
namespace {

class broom_threads : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {
  protected:
    static void run(test::history_setup setup, std::uint64_t rounds) {
        setup.rate = 1.0 / static_cast<double>(1u << std::get<0>(GetParam()));
        setup.history = std::get<1>(GetParam());
        test::findings wrong;
        test::history_events seen;
        for (std::uint64_t round = 0; round < rounds && wrong.none(); ++round) {
            setup.seed = round + 1;
            const auto check = std::make_unique<test::history_check<broom_filter>>(setup);
            seen.add(check->run(wrong));
        }
        EXPECT_TRUE(wrong.none()) << wrong.text();
        EXPECT_GT(seen.judged, 0u);
        if (setup.grows) {
            EXPECT_GE(seen.growths, 3 * rounds);
        }
        test::record_figure(test::sanitized ? "events_under_sanitizer" : "events", seen.all());
        test::record_figure("judged_queries", seen.judged);
    }
};

TEST_P(broom_threads, no_false_negative_while_the_filter_grows) {
    run({}, test::effort(4, 1, 50));
}

TEST_P(broom_threads, no_false_negative_in_a_crowded_filter_that_does_not_grow) {
    // Three bins of 48 slots and a backyard: every bin overflows, and all share one lock.
    run({.capacity = 120,
         .grows = false,
         .keys_per_writer = 90,
         .steps_per_writer = test::effort(12'000, 3000, 50'000)},
        test::effort(1, 1, 4));
}

TEST_P(broom_threads, many_writers_alone_agree_on_growth) {
    run({.steps_per_writer = 5000, .writers = 4, .readers = 1, .batch_readers = 0, .adapters = 0, .maintenance = false},
        test::effort(2, 1, 30));
}

std::string name_of(const testing::TestParamInfo<std::tuple<unsigned, unsigned>>& tried) {
    constexpr const char* histories[] = {"tombstone", "renew", "soft"};
    return "rate_2_to_the_minus_" + std::to_string(std::get<0>(tried.param)) + "_" +
           histories[std::get<1>(tried.param)];
}

INSTANTIATE_TEST_SUITE_P(all, broom_threads,
                         testing::Values(std::tuple{8u, 0u}, std::tuple{8u, 1u}, std::tuple{8u, 2u},
                                         std::tuple{13u, 0u}, std::tuple{24u, 0u}),
                         name_of);

}  // namespace
}  // namespace genista::broom_threads_test
