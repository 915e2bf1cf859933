// Runs random operations on daisy_fingerprint_filter and a reference model: inserts of any class,
// repetitions, look-ups, batches, clears, saves and loads. The model holds every value of each
// class and computes it by its own arithmetic where it can: the filter answers maybe iff the model
// has the value.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "filters/filter_snapshots.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/hash/key.hpp"
#include "tests/support/daisy_plans.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::daisy_fingerprint_model_test {
namespace {

// Random shares: some classes have none, some nearly all.
daisy_plan any_plan(test::splitmix& chance) {
    const auto draws = static_cast<double>(1 + chance.below(3'000));
    daisy_plan plan{.terms = {draws, std::ldexp(1, -static_cast<int>(1 + chance.below(14)))}};
    double sum = 0;
    for (unsigned j = 0; j <= plan.largest_class(); ++j) {
        plan.stored_share[j] = chance.below(3) == 0 ? 0 : static_cast<double>(chance.below(1'000));
        sum += plan.stored_share[j];
    }
    if (sum == 0) plan.stored_share[0] = sum = 1;
    for (double& share : plan.stored_share) share /= sum;
    plan.asked_share[plan.largest_class()] = 1;
    return plan;
}

// A value in one table, as in the header: the home from the position, the remainder from the seed's
// first bits. The filter reports the table; where a key is in it the model computes itself.
struct value {
    std::uint64_t home, remainder;
    friend auto operator<=>(const value&, const value&) = default;
};
value value_in(const daisy_fingerprint_table& table, const digest& d) {
    const auto product = static_cast<uint128>(d.position) * (table.cells / 60);
    const auto block = static_cast<std::uint64_t>(product >> 64);
    const auto within =
        static_cast<std::uint64_t>((static_cast<uint128>(static_cast<std::uint64_t>(product)) * 60) >> 64);
    return {block * 60 + within, d.seed >> (64 - table.bits)};
}

// A growing table stores the first bits of a digest, the position's lowest bit first. Of value
// number v it stores as many as the rates 2^-j / (i (i + 1)) of the doublings need, computed here
// by adding them up.
unsigned length_of(unsigned rate_bits, std::uint64_t value) {
    std::uint64_t members = 256;  // of doubling i = 1, 2, 3 …: 256, 256, 512 …
    unsigned i = 1;
    for (std::uint64_t before = 0; value >= before + members; ++i) {
        before += members;
        members = before;
    }
    unsigned length = rate_bits;
    while (std::ldexp(static_cast<double>(members), -static_cast<int>(length)) * i * (i + 1) >
           std::ldexp(1.0, -static_cast<int>(rate_bits)))
        ++length;
    return length;
}

struct prefixes {
    std::set<std::pair<unsigned, uint128>> kept{};
    std::uint64_t values = 0;

    static uint128 first_bits(const digest& d, unsigned length) {
        const uint128 whole = static_cast<uint128>(d.seed) << 64 | d.position;
        return whole & ((static_cast<uint128>(1) << length) - 1);
    }
    [[nodiscard]] bool contains(const digest& d) const {
        for (unsigned length = 1; length < 100; ++length) {
            if (kept.contains({length, first_bits(d, length)})) return true;
        }
        return false;
    }
    void insert(const digest& d, unsigned rate_bits) {
        const unsigned length = length_of(rate_bits, values++);
        kept.insert({length, first_bits(d, length)});
    }
};

struct model {
    explicit model(const daisy_fingerprint_filter& f) : filter{f}, values(f.tables().size()) {}

    const daisy_fingerprint_filter& filter;
    std::vector<std::set<value>> values;     // by planned table
    std::map<unsigned, prefixes> growing{};  // by chain
    std::vector<std::pair<std::uint64_t, unsigned>> members{};

    [[nodiscard]] unsigned chain(unsigned its_class) const { return filter.kept_as(its_class); }
    [[nodiscard]] std::size_t planned(unsigned its_class) const {
        const auto tables = filter.tables();
        std::size_t at = 0;
        while (at < values.size() && tables[at].its_class != chain(its_class)) ++at;
        return at;
    }
    [[nodiscard]] bool contains(std::uint64_t key, unsigned its_class) const {
        if (its_class == 0) return true;
        const digest d = filter.hash()(key);
        if (const std::size_t at = planned(its_class);
            at < values.size() && values[at].contains(value_in(filter.tables()[at], d)))
            return true;
        const auto found = growing.find(chain(its_class));
        return found != growing.end() && found->second.contains(d);
    }
    void clear() {
        for (auto& each : values) each.clear();
        growing.clear();
        members.clear();
    }
    // Called after the filter's own insert. No key has to move 2,048 cells here, so a planned table
    // takes values up to its room.
    void insert(std::uint64_t key, unsigned its_class, bool was_there) {
        members.emplace_back(key, its_class);
        if (was_there) return;
        const std::size_t at = planned(its_class);
        const digest d = filter.hash()(key);
        if (at < values.size() && values[at].size() < filter.tables()[at].room) {
            values[at].insert(value_in(filter.tables()[at], d));
        } else {
            growing[chain(its_class)].insert(d, chain(its_class) + (at < values.size() ? 2 : 0));
        }
    }
};

void drive(std::uint64_t seed) {
    test::splitmix chance{seed};
    const daisy_plan plan = any_plan(chance);
    const bool unknown = chance.below(2) == 0;
    auto filter = *daisy_fingerprint_filter::make({plan, hasher{hash_key::from_seed(seed)}, unknown});
    model exact{filter};
    const unsigned classes = filter.plan().largest_class() + 3;
    std::uint64_t draws = 0;
    for (int step = 0; step < 2'500; ++step) {
        const bool again = !exact.members.empty() && chance.below(5) == 0;
        auto [key, its_class] = again ? exact.members[chance.below(exact.members.size())]
                                      : std::pair{chance.below(100'000), static_cast<unsigned>(chance.below(classes))};
        const bool expected = exact.contains(key, its_class);
        ASSERT_EQ(filter.may_contain(key, its_class), expected) << seed << ", step " << step;
        if (chance.below(1'000) == 0) {
            filter.clear();
            exact.clear();
            draws = 0;
            continue;
        }
        if (chance.below(4) == 0) continue;
        const auto outcome = filter.insert(key, its_class);
        ++draws;
        ASSERT_EQ(outcome, expected ? insert_outcome::already_present : insert_outcome::inserted)
            << seed << ", " << step;
        exact.insert(key, its_class, expected);
        if (chance.below(800) == 0) {
            auto loaded = daisy_fingerprint_filter::load(test::saved(filter));
            ASSERT_TRUE(loaded) << loaded.error().message();
            filter = *std::move(loaded);
        }
    }
    std::uint64_t reported = 0, values = 0;
    for (const std::uint64_t each : filter.drift().inserts) reported += each;
    EXPECT_EQ(reported, draws);
    for (std::size_t i = 0; i < exact.values.size(); ++i) {
        ASSERT_EQ(filter.tables()[i].values, exact.values[i].size()) << seed;
        values += exact.values[i].size();
    }
    for (const auto& [chain, kept] : exact.growing) {
        values += kept.values;
        double sum = 0;
        for (const auto& [length, bits] : kept.kept) sum += std::ldexp(1.0, -static_cast<int>(length));
        const double planned = exact.planned(chain) < exact.values.size() ? std::ldexp(1.25, -static_cast<int>(chain))
                                                                          : std::ldexp(1.0, -static_cast<int>(chain));
        ASSERT_GE(filter.let_through(chain), sum);
        ASSERT_LE(filter.let_through(chain), planned);
    }
    EXPECT_EQ(filter.stats().keys, values);
    std::vector<std::uint64_t> keys, answers;
    std::vector<std::uint8_t> of;
    for (const auto& [key, its_class] : exact.members) {
        ASSERT_TRUE(filter.may_contain(key, its_class)) << seed;
        keys.push_back(key);
        of.push_back(static_cast<std::uint8_t>(its_class));
    }
    answers.resize(words_for(keys.size()));
    filter.may_contain(std::span<const std::uint64_t>{keys}, of, answers);
    for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_TRUE(answers[i / 64] >> i % 64 & 1) << seed;
}

TEST(daisy_fingerprint_model, answers_maybe_exactly_for_its_values) {
    for (std::uint64_t seed = 0; seed < test::scaled(20u, 1'000u); ++seed) {
        drive(seed);
        if (testing::Test::HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace genista::daisy_fingerprint_model_test
