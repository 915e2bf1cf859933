// Two replicas that lagged behind answered in turn for an index that was being cleared: each named
// a record that had been erased long ago. The loop gave up only when one record was named time
// after time; so the first insert into a new filter never returned.
#include <gtest/gtest.h>

#include "genista/filters/adaptive_bloom.hpp"
#include "genista/filters/cascade.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"

namespace genista::lagging_replicas_test {
namespace {

class lagging_map : public memory_map {
  public:
    explicit lagging_map(std::uint64_t replicas) noexcept : replicas_{replicas} {}
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t, Visit&& visit) {
        constexpr std::uint64_t many = 100'000;
        if (++reads == many) return error::make(error_code::timeout, "%llu reads in one call", 0ull + many);
        const std::uint64_t which = reads % replicas_;
        (void)visit(digest{first + which, which}, key_view{"erased long ago"});
        return {};
    }
    std::uint64_t reads = 0;

  private:
    std::uint64_t replicas_;
};

template <class Filter>
void insert_into_a_new_one() {
    for (const std::uint64_t replicas : {1u, 2u, 3u, 20u}) {
        auto filter = *Filter::make({.capacity = 100});
        memory_map records;
        lagging_map index{replicas};
        with_index remote{records, index};
        const auto outcome = filter.insert("ada", remote);
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code(), error_code::corrupt) << outcome.error().message();
        EXPECT_LT(index.reads, 100u) << replicas;
    }
}

TEST(lagging_replicas, end_an_insert_into_a_cascade) {
    insert_into_a_new_one<cascade_filter>();
}
TEST(lagging_replicas, end_an_insert_into_an_adaptive_bloom_filter) {
    insert_into_a_new_one<adaptive_bloom_filter>();
}

}  // namespace
}  // namespace genista::lagging_replicas_test
