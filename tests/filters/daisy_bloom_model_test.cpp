// Runs random operations on a daisy Bloom filter and a reference model: a table of bools, probes
// found by plain arithmetic, counts in a map. After every step both agree, in every layout and
// instruction set; stored keys are kept in a list and always found.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "genista/filters/daisy_bloom.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/every_isa.hpp"
#include "tests/support/scale.hpp"

namespace genista::daisy_bloom_model_test {
namespace {

// The layouts drawn in daisy_bloom.hpp, bit by bit.
class reference_model {
  public:
    explicit reference_model(const daisy_bloom_filter& like)
        : layout_{like.layout()}, largest_{like.plan().largest_class()}, bits_(like.bits()) {}

    std::vector<std::uint64_t> places(const digest& d, unsigned its_class) const {
        const unsigned probes = std::min(its_class, largest_);
        std::vector<std::uint64_t> at;
        if (layout_ == daisy_layout::scattered) {
            for (unsigned i = 0; i < probes; ++i) {
                const std::uint64_t x = d.position + i * d.seed;
                at.push_back(scale((x ^ (x >> 32)) * 0x9e3779b97f4a7c15u, bits_.size()));
            }
            return at;
        }
        const std::uint64_t lines = bits_.size() / 512;
        const std::uint64_t line = scale(d.position, lines), fraction = d.position * lines;
        const bool octet = layout_ == daisy_layout::octet;
        const unsigned lanes = octet ? 8 : 16;
        const auto first = static_cast<unsigned>(octet ? d.seed >> 61 : fraction >> 60);
        for (unsigned i = 0; i < probes; ++i) {
            const unsigned lane = (first + i) % lanes;
            const std::uint64_t source = octet || lane < 6 ? d.seed : lane < 12 ? d.seed >> 32 : fraction >> 32;
            const std::uint64_t bit = octet ? source >> 6 * lane & 63 : source >> 5 * (lane % 6) & 31;
            at.push_back(512 * line + 512 / lanes * lane + bit);
        }
        return at;
    }
    bool insert(const digest& d, unsigned its_class) {
        bool changed = false;
        for (const std::uint64_t at : places(d, its_class)) {
            changed = changed || !bits_[at];
            bits_[at] = true;
        }
        ++draws[std::min(its_class, largest_)];
        return changed;
    }
    [[nodiscard]] bool may_contain(const digest& d, unsigned its_class) const {
        const auto at = places(d, its_class);
        return std::all_of(at.begin(), at.end(), [&](std::uint64_t place) { return bits_[place]; });
    }
    [[nodiscard]] std::uint64_t ones() const {
        return static_cast<std::uint64_t>(std::count(bits_.begin(), bits_.end(), true));
    }
    void merge(const reference_model& other) {
        for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] = bits_[i] || other.bits_[i];
        for (const auto& [its_class, count] : other.draws) draws[its_class] += count;
    }

    std::map<unsigned, std::uint64_t> draws{};

  private:
    daisy_layout layout_;
    unsigned largest_;
    std::vector<bool> bits_;
};

struct filter_and_model {
    daisy_bloom_filter filter;
    reference_model model;
    explicit filter_and_model(const daisy_bloom_options& options)
        : filter{*daisy_bloom_filter::make(options)}, model{filter} {}
};

void check_counts(const filter_and_model& both) {
    ASSERT_EQ(both.filter.bits_set(), both.model.ones());
    for (const auto& [its_class, count] : both.model.draws) ASSERT_EQ(both.filter.draws(its_class), count);
}

void run_random_operations(const daisy_bloom_options& options, test::splitmix& chance, std::uint64_t steps) {
    filter_and_model both{options};
    std::vector<std::pair<std::uint64_t, unsigned>> members;
    for (std::uint64_t step = 0; step < steps; ++step) {
        const std::uint64_t key = chance.below(400);
        const auto its_class = static_cast<unsigned>(chance.below(3) == 0 ? chance.below(80) : key % 10);
        const digest d = both.filter.hash()(key);
        switch (chance.below(8)) {
            case 0:
            case 1: {
                const bool changed = both.filter.insert(key, its_class) == insert_outcome::inserted;
                ASSERT_EQ(changed, both.model.insert(d, its_class));
                members.emplace_back(key, its_class);
                break;
            }
            case 2: {  // save and load, sometimes clear
                if (chance.below(20) == 0) {
                    both.filter.clear();
                    both.model = reference_model{both.filter};
                    members.clear();
                    check_counts(both);
                }
                vector_sink out;
                ASSERT_TRUE(both.filter.save(out));
                both.filter = *daisy_bloom_filter::load(out.bytes());
                break;
            }
            case 3: {  // merge with a small one
                if (chance.below(10) != 0) break;
                filter_and_model other{options};
                (void)other.filter.insert(key + 1000, its_class);
                (void)other.model.insert(other.filter.hash()(key + 1000), its_class);
                ASSERT_TRUE(both.filter.merge(other.filter));
                both.model.merge(other.model);
                members.emplace_back(key + 1000, its_class);
                break;
            }
            default:
                ASSERT_EQ(both.filter.may_contain(key, its_class), both.model.may_contain(d, its_class));
        }
    }
    check_counts(both);
    for (const auto& [key, its_class] : members) ASSERT_TRUE(both.filter.may_contain(key, its_class));
}

TEST(daisy_bloom_model, agrees_with_the_reference_model_in_every_layout_and_instruction_set) {
    std::set<daisy_layout> seen;
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa active{level};
        for (std::uint64_t seed = 0; seed < test::scaled<std::uint64_t>(12, 300); ++seed) {
            test::splitmix chance{seed};
            const double rate = seed % 3 == 0 ? 0x1p-7 : seed % 3 == 1 ? 0x1p-8 : 0x1p-14;
            const auto largest = static_cast<unsigned>(-std::log2(rate));
            const daisy_bloom_options options{
                .plan = test::plan_of_shares({static_cast<double>(1 + chance.below(300)), rate},
                                             {{1, 0.5, 0.2}, {largest, 0.5, 0.8}}),
                .hash = hasher{hash_key::from_seed(seed), seed % 5 == 0 ? hash_kind::trusted : hash_kind::keyed},
                .blocked = seed % 2 == 0,
            };
            seen.insert(daisy_bloom_filter::make(options)->layout());
            run_random_operations(options, chance, 400);
            if (HasFatalFailure()) FAIL() << "seed " << seed;
        }
    }
    EXPECT_EQ(seen.size(), 3u) << "a layout was never tried";
}

}  // namespace
}  // namespace genista::daisy_bloom_model_test
