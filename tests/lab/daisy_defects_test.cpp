// The experiments on daisy filters see defects: each planted defect changes the verdict.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "genista/filters/daisy_fingerprint.hpp"
#include "lab/experiments/daisy_encoding.hpp"
#include "lab/experiments/drawn_world.hpp"

namespace genista::lab::daisy_defects_test {
namespace {

// Bytes with a factor, as in a wasteful layout.
unknown_bits seen_with(double factor, unsigned its_class) {
    auto filter =
        must(daisy_fingerprint_filter::make({{.terms = {100'000, 0x1p-8}}, hasher{hash_key::from_seed(1)}, true}));
    unknown_bits bits{its_class};
    for (std::uint64_t key = 0; key < 40'000; ++key) {
        if (filter.insert(key, its_class) == insert_outcome::full) throw workload_error{"full"};
        bits.see(key + 1, static_cast<std::uint64_t>(factor * static_cast<double>(filter.stats().local_bytes)));
    }
    return bits;
}

TEST(daisy_sampling_defects, fifteen_percent_more_bits_of_an_unknown_size_are_seen) {
    EXPECT_TRUE(seen_with(1, 8).kept());
    EXPECT_FALSE(seen_with(1.15, 8).kept());
    EXPECT_LT(seen_with(1, 8).sees_percent(), 15);
}

// One moment is enough: everything twice for 300 draws, as after a doubling.
TEST(daisy_sampling_defects, one_bad_moment_is_seen) {
    unknown_bits bits{8};
    for (std::uint64_t n = 1'000; n < 20'000; ++n) bits.see(n, n * 20 / 8);
    EXPECT_TRUE(bits.kept());
    for (std::uint64_t n = 20'000; n < 20'300; ++n) bits.see(n, 2 * n * 20 / 8);
    for (std::uint64_t n = 20'300; n < 30'000; ++n) bits.see(n, n * 20 / 8);
    EXPECT_FALSE(bits.kept());
}

constexpr std::uint64_t universe = std::uint64_t{1} << 13;
const daisy_terms small_terms{64, 0x1p-6};

struct coded {
    encoding_seen honest{}, lying{}, forgetful{};
};
coded code(const odds_world& world) {
    const drawn_world input{world, small_terms, 5};
    auto filter = must(daisy_fingerprint_filter::make({.plan = input.tuned(), .hash = hasher{hash_key::from_seed(3)}}));
    insert_all(filter, input);
    double bits = 0;
    for (const auto& table : filter.tables()) bits += static_cast<double>(table.cells) * (table.bits + 2 + 2.0 / 15);
    const auto odds = [&](std::uint64_t key) { return world.odds(key); };
    const auto passes = [&](std::uint64_t key) {
        return filter.may_contain(key, daisy_class(world.odds(key), filter.terms()));
    };
    const auto encode = [&](const auto& answers, double its_bits) {
        return encode_draws(universe, small_terms, input.draws, odds, answers, its_bits);
    };
    return {encode(passes, bits), encode([&](std::uint64_t key) { return input.stored.contains(key); }, 0),
            encode([&](std::uint64_t key) { return passes(key) && key != input.draws[0]; }, bits)};
}

TEST(daisy_lb_defects, the_code_reads_back_and_sees_bits_that_were_not_counted) {
    for (const auto& world : {odds_world::two_classes(universe, universe / 2, 0.5, 0.5),
                              odds_world::two_classes(universe, universe / 2, 0.9, 0.1)}) {
        const coded seen = code(world);
        EXPECT_TRUE(seen.honest.read_back) << world.name();
        EXPECT_GE(seen.honest.bits_above_entropy(), 0) << world.name();
        EXPECT_LE(seen.honest.code_bits, seen.honest.granted) << world.name();
        EXPECT_TRUE(seen.lying.read_back) << "exact answers";
        EXPECT_LT(seen.lying.bits_above_entropy(), 0) << "for nothing: below the entropy";
        EXPECT_FALSE(seen.forgetful.read_back) << "a filter that denies a draw";
    }
}

TEST(daisy_lb_defects, code_words_that_are_15_percent_too_long_are_seen) {
    const coded seen = code(odds_world::two_classes(universe, universe / 2, 0.5, 0.5));
    EXPECT_LE(seen.honest.code_bits, seen.honest.granted);
    EXPECT_GT(1.15 * seen.honest.code_bits, seen.honest.granted);
}

// Where all keys are alike LB is n log(1/ε), and the words that the proof allows leave exactly that
// to the filter, but for 4 bits.
TEST(daisy_lb_defects, the_allowed_bits_are_entropy_less_the_bound) {
    const odds_world world = odds_world::two_classes(universe, universe / 2, 0.9, 0.1);
    const std::vector<odds_group> groups = world.groups();
    const daisy_plan plan = must(plan_for_groups(small_terms, groups));
    double bound = 0;
    for (std::uint64_t key = 0; key < universe; ++key) {
        const key_odds its = world.odds(key);
        const unsigned part = encoding_part(its, small_terms);
        if (part != 0) bound += its.stored * (4 - granted_bits(its, small_terms) - std::log2(its.stored));
    }
    EXPECT_NEAR(small_terms.draws * bound, plan.lower_bound_bits(), 1e-6 * plan.lower_bound_bits());
}

}  // namespace
}  // namespace genista::lab::daisy_defects_test
