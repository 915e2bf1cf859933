// acf-support and acf-figures see a defect of 15 %: each planted defect changes the verdict.
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "genista/filters/cuckooing.hpp"
#include "lab/experiments/acf_figures.hpp"
#include "lab/experiments/acf_support.hpp"
#include "lab/scalar/plain_cuckooing.hpp"
#include "papers/cuckoo_family.hpp"

namespace genista::lab::acf_defects_test {
namespace {

// The cuckooing filter; a defect changes one of its calls.
class whole_filter {
  public:
    explicit whole_filter(cuckooing_filter made) : inside_{std::move(made)} {}
    [[nodiscard]] bool may_contain(std::uint64_t key) const { return inside_.may_contain(key); }
    template <class R>
    [[nodiscard]] result<adapt_outcome> adapt(std::uint64_t key, R& remote) {
        return inside_.adapt(key, remote);
    }

  protected:
    cuckooing_filter inside_;
};

template <class Defective>
struct built_as : Defective {
    using Defective::Defective;
    template <class R>
    [[nodiscard]] static result<built_as> build(const cuckoo_options& options, R& remote) {
        auto made = cuckooing_filter::build(options, remote);
        if (!made) return made.error();
        return built_as{*std::move(made)};
    }
};

// 15 of 100 repairs are not made.
class skips_repairs : public whole_filter {
  public:
    using whole_filter::whole_filter;
    template <class R>
    [[nodiscard]] result<adapt_outcome> adapt(std::uint64_t key, R& remote) {
        if (++repairs_ % 100 < 15) return adapt_outcome::unfixed;
        return whole_filter::adapt(key, remote);
    }

  private:
    std::uint64_t repairs_ = 0;
};

// 15 % more keys are false positives, until they are repaired.
class lets_more_through : public whole_filter {
  public:
    using whole_filter::whole_filter;
    [[nodiscard]] bool may_contain(std::uint64_t key) const {
        return whole_filter::may_contain(key) || (chance_of(key) < 0.15 * support_rate && repaired_.count(key) == 0);
    }
    template <class R>
    [[nodiscard]] result<adapt_outcome> adapt(std::uint64_t key, R& remote) {
        repaired_.insert(key);
        return whole_filter::adapt(key, remote);
    }

  private:
    [[nodiscard]] double chance_of(std::uint64_t key) const {
        return static_cast<double>(hash_(key).position) * 0x1p-64;
    }

    hasher hash_{hash_key::from_seed(99)};
    std::set<std::uint64_t> repaired_;
};

// As many filters and keys as one point of the experiment.
template <class Filter>
support_verdict verdict_at(std::uint64_t support, double bins_per_key) {
    const support_law law{.keys = 10'000, .support = support, .bins_per_key = bins_per_key, .filters = 64};
    support_seen seen;
    for (std::uint64_t i = 0; i < law.filters; ++i) {
        support_world<Filter> world{law.keys, bins_per_key, 1 + i};
        seen += world.play(law, static_cast<std::uint64_t>(6'000 / law.initial_rate()) / law.filters);
    }
    return judge_support(law, seen);
}

TEST(acf_support_defects, the_unchanged_filter_keeps_the_limits) {
    for (const std::uint64_t support : {std::uint64_t{1}, std::uint64_t{10'000}}) {
        EXPECT_TRUE(verdict_at<cuckooing_filter>(support, 1.2).kept()) << support;
        EXPECT_TRUE(verdict_at<cuckooing_filter>(support, 1).kept()) << support;
    }
}

TEST(acf_support_defects, fifteen_percent_more_mistakes_are_seen_for_any_support) {
    for (const std::uint64_t support : {std::uint64_t{1}, std::uint64_t{10'000}}) {
        EXPECT_FALSE(verdict_at<built_as<lets_more_through>>(support, 1).first_kept) << support;
        EXPECT_FALSE(verdict_at<built_as<lets_more_through>>(support, 1.2).first_kept) << support;
    }
}

TEST(acf_support_defects, fifteen_percent_of_the_repairs_in_vain_are_seen_for_any_support) {
    for (const std::uint64_t support : {std::uint64_t{1}, std::uint64_t{100}}) {
        EXPECT_FALSE(verdict_at<built_as<skips_repairs>>(support, 1.2).again_kept) << support;
        EXPECT_FALSE(verdict_at<built_as<skips_repairs>>(support, 1).again_kept) << support;
    }
}

TEST(acf_support_defects, the_control_wins_where_no_key_is_repeated_and_loses_elsewhere) {
    EXPECT_TRUE(verdict_at<cuckoo_filter>(10'000, 1.2).kept());
    EXPECT_FALSE(verdict_at<cuckoo_filter>(5'000, 1.2).again_kept);
    EXPECT_FALSE(verdict_at<cuckoo_filter>(1, 1).again_kept);
}

// ---- acf-figures -------------------------------------------------------------------------------

// 2,000 stored keys; 20,000 others, each asked for three times.
replayed ask_thrice(const auto& positive, auto&& repair) {
    replayed seen;
    for (std::uint32_t i = 0; i < 60'000; ++i) {
        const std::uint32_t key = 2'000 + i % 20'000;
        ++seen.queries;
        if (!positive(key)) continue;
        ++seen.false_positives;
        repair(key);
    }
    return seen;
}

replayed ask_scalar(double excess, std::uint64_t seed) {
    plain_cuckooing filter{{.keys = 2'000, .fingerprint_bits = 8, .excess = excess, .seed = seed}};
    return ask_thrice([&](std::uint32_t key) { return filter.may_contain(key); },
                      [&](std::uint32_t key) { filter.adapt(key); });
}

TEST(acf_figures_defects, fifteen_percent_more_mistakes_than_the_scalar_version_are_seen) {
    figure_data data;
    for (std::uint64_t trial = 0; trial < 40; ++trial) {
        data.add({"net-a", 8, scalar_name, 10}, ask_scalar(1, 3 * trial));
        data.add({"net-a", 8, "honest", 10}, ask_scalar(1, 3 * trial + 1));
        data.add({"net-a", 8, "defective", 10}, ask_scalar(1.15, 3 * trial + 2));
    }
    const auto honest = judge_by_scalar(data, "honest"), defective = judge_by_scalar(data, "defective");
    ASSERT_EQ(honest.size(), 1u);
    EXPECT_TRUE(honest.front().kept()) << honest.front().factor << " of " << honest.front().most;
    ASSERT_EQ(defective.size(), 1u);
    EXPECT_FALSE(defective.front().kept()) << defective.front().factor << " of " << defective.front().most;
    EXPECT_LT(honest.front().smallest_defect, 0.15);
    EXPECT_TRUE(judge_by_scalar(data, "nothing of that name").empty());
}

// It passed earlier: rivals have twice as many false positives.
TEST(acf_figures_defects, a_filter_1_7_times_worse_is_seen) {
    figure_data data;
    for (std::uint64_t trial = 0; trial < 10; ++trial) {
        replayed scalar, ours, rival, plain;
        scalar.queries = ours.queries = rival.queries = plain.queries = 100'000;
        scalar.false_positives = 1'000 + trial;
        ours.false_positives = 1'700 + trial;
        rival.false_positives = 2'000 + trial;
        plain.false_positives = 5'000 + trial;
        data.add({"net-a", 8, scalar_name, 1}, scalar);
        data.add({"net-a", 8, "cuckooing", 1}, ours);
        data.add({"net-a", 8, "swapping", 1}, rival);
        data.add({"net-a", 8, "cuckoo", 1}, plain);
    }
    EXPECT_TRUE(judge_figures(data, {"net-a"}).kept);
    EXPECT_FALSE(judge_by_scalar(data, "cuckooing").front().kept());
}

TEST(acf_figures_defects, synthetic_traces_are_never_judged_as_network_traces) {
    trace network, made_up, other;
    network.name = "net-real";
    network.is_network = true;
    made_up.name = "net-synthetic-packets";
    made_up.is_network = made_up.is_synthetic = true;
    other.name = "flows";
    EXPECT_EQ(traces_of_networks({&network, &made_up, &other}), std::vector<std::string>{"net-real"});
    EXPECT_EQ(traces_of_networks({&made_up, &other}), std::vector<std::string>{"flows"});
    EXPECT_TRUE(traces_of_networks({&made_up}).empty());
}

}  // namespace
}  // namespace genista::lab::acf_defects_test
