// counting_map and faulty_map around an index: batches and range erases are counted, each fault
// strikes the planned call and is reported, and a map without batches has none through them either.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "genista/remote/memory_map.hpp"
#include "remote/remote_support.hpp"
#include "support/remote/counting_map.hpp"
#include "support/remote/faulty_map.hpp"

namespace genista::test::batch_wrappers_test {
namespace {

static_assert(batched_map<counting_map<memory_map>> && batched_map<faulty_map<memory_map>>);

// A map that has no batches.
class single_map {
  public:
    result<bool> put(const digest& where, key_view key) { return inner_.put(where, key); }
    result<bool> erase(const digest& where, key_view key) { return inner_.erase(where, key); }
    result<bool> contains(const digest& where, key_view key) { return inner_.contains(where, key); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        return inner_.for_each(first, last, visit);
    }

  private:
    memory_map inner_;
};
static_assert(remote_map<counting_map<single_map>> && remote_map<faulty_map<single_map>>);
static_assert(!batched_map<counting_map<single_map>> && !batched_map<faulty_map<single_map>>);

// Writes "key 7" to the place 7, and so on.
template <batched_map R>
void fill(R& index, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t place = first; place < first + count; ++place) {
        const std::string key = "key " + std::to_string(place);
        const record_change change{digest{place, 0}, key_view{key}};
        EXPECT_TRUE(index.apply({&change, 1}));
    }
}

TEST(counting_map_batches, are_counted_with_every_change_and_every_record_visited) {
    memory_map index;
    counting_map counted{index};
    const std::vector<record_change> changes = {
        {digest{1, 0}, "a"}, {digest{2, 0}, "b"}, {digest{3, 0}, "absent", false}};
    ASSERT_TRUE(counted.apply(changes));
    EXPECT_EQ(read_range(counted, 1, 1), (std::vector<record>{{digest{1, 0}, "a"}}));
    EXPECT_TRUE(read_range(counted, 3, 3).empty());
    EXPECT_EQ(read_all(counted), read_all(index));
    EXPECT_TRUE(counted.for_each(0, 9, [](const digest&, key_view) { return false; }));
    EXPECT_TRUE(counted.erase_range(2, 5));
    EXPECT_EQ(counted.counts(), (remote_counts{.range_reads = 4,
                                               .keys_visited = 4,
                                               .key_bytes_visited = 4,
                                               .batches = 1,
                                               .records_changed = 3,
                                               .range_erases = 1}));
    EXPECT_EQ(read_all(index), (std::vector<record>{{digest{1, 0}, "a"}}));
    counted.reset();
    EXPECT_EQ(counted.counts(), remote_counts{});
}

TEST(counting_map_batches, that_fail_are_counted_among_their_kind_and_once_more) {
    memory_map index;
    fill(index, 0, 5);
    faulty_map faulty{index};
    counting_map counted{faulty};
    ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::from(fault_kind::error_before, 0, fault_scope::writes),
                                           fault_rule::from(fault_kind::error_midway, 0, fault_scope::ranges, 2)}}));
    EXPECT_FALSE(counted.apply({}));
    EXPECT_FALSE(counted.for_each(0, 9, [](const digest&, key_view) { return true; }));
    EXPECT_FALSE(counted.erase_range(0, 9));
    EXPECT_EQ(counted.counts(), (remote_counts{.range_reads = 1,
                                               .keys_visited = 2,
                                               .key_bytes_visited = 10,
                                               .batches = 1,
                                               .range_erases = 1,
                                               .failures = 3}));
}

// Ten places, 0 to 9.
class faulty_index_of_ten : public testing::Test {
  protected:
    faulty_index_of_ten() { fill(index, 0, 10); }

    void follow(fault_kind kind, fault_scope scope, std::uint64_t call = 0, std::uint64_t which = 0) {
        ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::once(kind, call, scope, which)}}));
    }
    std::vector<record> now() { return read_all(index); }
    std::vector<record> at(std::uint64_t place) { return read_range(index, place, place); }
    struct visit_outcome {
        result<void> done;
        std::vector<record> seen;
    };
    visit_outcome visit(std::uint64_t first = 0, std::uint64_t last = last_position) {
        std::vector<record> seen;
        auto done = faulty.for_each(first, last, [&](const digest& where, key_view key) {
            seen.push_back({where, std::string{key.text()}});
            return true;
        });
        return {done, seen};
    }

    memory_map index;
    faulty_map<memory_map> faulty{index};
};

TEST_F(faulty_index_of_ten, passes_every_call_through_until_it_has_a_plan) {
    EXPECT_EQ(read_all(faulty), now());
    EXPECT_EQ(visit(3, 3).seen, at(3));
    EXPECT_TRUE(faulty.erase_range(0, 4));
    EXPECT_EQ(now().size(), 5u);
    fill(faulty, 0, 1);
    EXPECT_EQ(now().size(), 6u);
    EXPECT_EQ(faulty.counts().injected(), 0u);
    EXPECT_EQ(faulty.counts().calls, 4u);
}

TEST_F(faulty_index_of_ten, fails_only_the_call_of_that_number_and_scope) {
    follow(fault_kind::error_before, fault_scope::ranges, 2);
    for (std::uint64_t call = 0; call < 5; ++call) {
        EXPECT_TRUE(faulty.apply({}));
        const auto [done, seen] = visit(1, 1);
        EXPECT_EQ(done.has_value(), call != 2);
        EXPECT_EQ(seen.empty(), call == 2) << "before: nothing was asked";
    }
    EXPECT_EQ(faulty.counts().injected(fault_kind::error_before), 1u);
}

TEST_F(faulty_index_of_ten, batches_fail_before_or_after_they_are_done) {
    const std::vector<record_change> change = {{digest{3, 0}, "key 3", false}, {digest{3, 0}, "another"}};
    const std::vector<record> before = at(3), after = {{digest{3, 0}, "another"}};
    follow(fault_kind::error_before, fault_scope::writes);
    EXPECT_FALSE(faulty.apply(change));
    EXPECT_EQ(at(3), before);
    follow(fault_kind::error_midway, fault_scope::writes);
    EXPECT_TRUE(faulty.apply({})) << "a batch has no middle";
    follow(fault_kind::error_after, fault_scope::writes);
    EXPECT_FALSE(faulty.apply(change));
    EXPECT_EQ(at(3), after);
    follow(fault_kind::throws, fault_scope::writes);
    const record_change gone{digest{3, 0}, "another", false};
    EXPECT_THROW((void)faulty.apply({&gone, 1}), std::runtime_error);
    EXPECT_TRUE(at(3).empty());
    EXPECT_EQ(faulty.counts().injected(), 1u);
}

TEST_F(faulty_index_of_ten, range_erases_fail_before_after_and_half_way) {
    follow(fault_kind::error_before, fault_scope::writes);
    EXPECT_FALSE(faulty.erase_range(0, 9));
    EXPECT_EQ(now().size(), 10u);
    follow(fault_kind::error_midway, fault_scope::writes);
    EXPECT_FALSE(faulty.erase_range(0, 9));
    EXPECT_EQ(now().size(), 5u);
    follow(fault_kind::error_after, fault_scope::writes);
    EXPECT_FALSE(faulty.erase_range(0, 9));
    EXPECT_TRUE(now().empty());
}

TEST_F(faulty_index_of_ten, falsifies_keys_and_leaves_records_out) {
    follow(fault_kind::wrong_key, fault_scope::ranges);
    EXPECT_EQ(visit(3, 3).seen, (std::vector<record>{{digest{3, 0}, "key 2"}})) << "one bit";
    EXPECT_EQ(faulty.counts().injected(), 1u);
    follow(fault_kind::wrong_key, fault_scope::ranges);
    EXPECT_TRUE(visit(10, 10).seen.empty());
    EXPECT_EQ(faulty.counts().injected(), 0u) << "there was nothing to falsify";
    follow(fault_kind::missing, fault_scope::ranges);
    EXPECT_TRUE(visit(3, 3).seen.empty());
    EXPECT_EQ(faulty.counts().injected(), 1u);

    std::vector<record> without_4 = now(), with_a_wrong_4 = now();
    without_4.erase(without_4.begin() + 4);
    with_a_wrong_4[4].key = "key 5";
    follow(fault_kind::missing, fault_scope::ranges, 0, 4);
    EXPECT_EQ(visit().seen, without_4);
    EXPECT_EQ(visit().seen, now());
    follow(fault_kind::wrong_key, fault_scope::ranges, 0, 4);
    const auto [done, seen] = visit();
    EXPECT_TRUE(done);
    EXPECT_EQ(seen, with_a_wrong_4);
    EXPECT_EQ(faulty.counts().injected(), 1u);
    EXPECT_EQ(now().size(), 10u) << "the index itself is untouched";
}

TEST_F(faulty_index_of_ten, any_call_may_throw_after_it_is_done) {
    const auto follow_next = [&] { follow(fault_kind::throws, fault_scope::every_call); };
    follow_next();
    EXPECT_THROW((void)faulty.put(digest{20, 0}, "new"), std::runtime_error);
    EXPECT_EQ(now().size(), 11u);
    follow_next();
    EXPECT_THROW((void)faulty.contains(digest{20, 0}, "new"), std::runtime_error);
    follow_next();
    EXPECT_THROW((void)faulty.erase(digest{20, 0}, "new"), std::runtime_error);
    EXPECT_EQ(now().size(), 10u);
    follow_next();
    std::uint64_t seen = 0;
    EXPECT_THROW((void)faulty.for_each(0, 9, [&](const digest&, key_view) { return ++seen > 0; }), std::runtime_error);
    EXPECT_EQ(seen, 10u);
    follow_next();
    EXPECT_THROW((void)faulty.erase_range(0, 9), std::runtime_error);
    EXPECT_TRUE(now().empty());
    EXPECT_EQ(faulty.counts().injected(fault_kind::throws), 1u);
}

TEST_F(faulty_index_of_ten, a_stale_answer_reaches_back_to_the_last_batch) {
    ASSERT_TRUE(*faulty.put(digest{20, 0}, "before"));
    fill(faulty, 30, 1);
    ASSERT_TRUE(*faulty.put(digest{40, 0}, "after"));
    ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::from(fault_kind::stale, 0)}}));
    EXPECT_EQ(visit(20, 50).seen, (std::vector<record>{{digest{20, 0}, "before"}, {digest{30, 0}, "key 30"}}));
}

TEST_F(faulty_index_of_ten, random_faults_have_their_rate_and_every_kind_and_can_be_repeated) {
    constexpr std::array kinds = {fault_kind::error_before, fault_kind::error_after, fault_kind::error_midway,
                                  fault_kind::wrong_key,    fault_kind::missing,     fault_kind::throws};
    fault_plan plan{.seed = 9, .random_record_below = 10};
    for (const fault_kind each : kinds) plan.rates.push_back({each, 0.5 / static_cast<double>(kinds.size())});
    std::vector<bool> outcomes[2];
    for (std::vector<bool>& outcome : outcomes) {
        ASSERT_TRUE(faulty.set_plan(plan));
        for (int i = 0; i < 2'000; ++i) {
            try {
                outcome.push_back(visit().done.has_value());
            } catch (const std::runtime_error&) {
                outcome.push_back(false);
            }
        }
        // Half of 2,000 calls, six kinds that all fit: 167 each; a fixed seed.
        for (const fault_kind each : kinds) {
            EXPECT_GT(faulty.counts().injected(each), 110u) << to_string(each);
            EXPECT_LT(faulty.counts().injected(each), 230u) << to_string(each);
        }
    }
    EXPECT_EQ(outcomes[0], outcomes[1]);
}

}  // namespace
}  // namespace genista::test::batch_wrappers_test
