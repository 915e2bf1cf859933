// The costliest single write of the broom filter: the judgement sees a hidden step that grows with
// n, and the memory of side blocks, which once had such a step, has none.
#include "lab/experiments/broom_costliest.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "filters/broom/memory.hpp"

namespace genista::lab::broom_costliest_test {
namespace {

using broom::side_memory;

side_memory::handle take(side_memory& memory, std::uint64_t granules) {
    bool refused = false;
    return memory.take(granules, broom::budget_class::extensions, refused);
}

// Every other block of three granules is free, and one of four is wanted. Instructions, without the
// cost of new memory.
std::uint64_t cost_of_a_larger_block(std::uint64_t blocks) {
    side_memory memory;
    EXPECT_TRUE(memory.reserve(8 * blocks + 8));
    std::vector<side_memory::handle> taken;
    for (std::uint64_t i = 0; i < blocks; ++i) taken.push_back(take(memory, 3));
    for (std::uint64_t i = 0; i < blocks; i += 2) memory.give_back(taken[i], 3);
    instruction_counter counter;
    return counter.of([&] { EXPECT_NE(take(memory, 4), 0u); });
}

// Earlier, free blocks were joined now and then, all of them at once, within the write that needed
// one: 385,000 instructions at 10^6 keys.
TEST(broom_side_memory, a_block_costs_the_same_however_many_are_free) {
    if (!instruction_counter::available()) GTEST_SKIP() << "no single steps here";
    const std::uint64_t few = cost_of_a_larger_block(100), many = cost_of_a_larger_block(2'000);
    EXPECT_LE(many, 2 * few) << few << " with 50 free blocks, 1,000 in the other";
}

// Against a map of the owners: blocks never overlap, and freed memory is used again, in blocks of
// any size.
TEST(broom_side_memory, blocks_do_not_overlap_and_neighbours_are_joined) {
    for (const unsigned seed : {1u, 2u, 3u}) {
        std::mt19937 chance{seed};
        side_memory memory;
        constexpr std::uint64_t ground = 60'000;
        ASSERT_TRUE(memory.reserve(ground));
        struct block {
            side_memory::handle at;
            std::uint64_t granules, mark;
        };
        std::vector<block> in_use;
        std::vector<char> owned(ground, 0);
        std::uint64_t next_mark = 1;
        const auto give_back = [&](std::size_t i) {
            for (std::uint64_t g = 0; g < in_use[i].granules; ++g) {
                ASSERT_EQ(broom::load_word(memory.words(in_use[i].at) + g), in_use[i].mark + g) << "written by another";
                owned[in_use[i].at + g] = 0;
            }
            memory.give_back(in_use[i].at, in_use[i].granules);
            in_use[i] = in_use.back();
            in_use.pop_back();
        };
        for (int step = 0; step < 30'000; ++step) {
            if (in_use.size() > 200 || (!in_use.empty() && chance() % 2 == 0)) {
                give_back(chance() % in_use.size());
                continue;
            }
            const std::uint64_t granules =
                chance() % 50 == 0 ? 1 + chance() % side_memory::most_granules : 1 + chance() % 40;
            const side_memory::handle at = take(memory, granules);
            ASSERT_NE(at, 0u) << "no memory left after " << step;
            for (std::uint64_t g = 0; g < granules; ++g) {
                ASSERT_EQ(owned[at + g], 0) << "taken twice";
                owned[at + g] = 1;
                broom::store_word(memory.words(at) + g, next_mark + g);
            }
            in_use.push_back({at, granules, next_mark});
            next_mark += 10'000;
        }
        while (!in_use.empty()) give_back(in_use.size() - 1);
        // All is free and joined: the largest blocks fit into the used memory, side by side.
        const std::uint64_t before = memory.allocated_bytes();
        for (std::uint64_t i = 0; i + 1 < (before - before / 60) / 8 / side_memory::most_granules; ++i)
            ASSERT_NE(take(memory, side_memory::most_granules), 0u);
        EXPECT_EQ(memory.allocated_bytes(), before);
    }
}

costly_writes all_of(double cost) {
    return {{cost, cost}, {cost, cost}, {cost, cost}};
}

TEST(broom_costliest, a_write_that_grows_by_more_than_half_is_seen_and_so_is_one_of_ten_renewals) {
    EXPECT_TRUE(judge_costliest({all_of(50'000), all_of(55'000), all_of(60'000)}, {all_of(90'000)}, 25'000).kept);
    EXPECT_FALSE(judge_costliest({all_of(50'000), all_of(60'000), all_of(76'000)}, {}, 25'000).kept);
    EXPECT_FALSE(judge_costliest({all_of(50'000)}, {all_of(251'000)}, 25'000).kept);
    EXPECT_FALSE(judge_costliest({}, {}, 25'000).kept) << "nothing was measured";
}

// The costliest writes are found among all: a step over all keys that is hidden in one insert of
// 600.
TEST(broom_costliest, a_hidden_step_is_found) {
    costly_stream stream{.keys = 5'000, .rounds = 600};
    stream.hidden = [](std::uint64_t round, std::uint64_t keys) {
        if (round != 150) return;
        volatile std::uint64_t sum = 0;
        for (std::uint64_t key = 0; key < 100 * keys; ++key) sum = sum + key;
    };
    const costly_rounds chosen = choose_costliest(stream);
    EXPECT_EQ(chosen[costliest::insert].front(), 150u);
}

}  // namespace
}  // namespace genista::lab::broom_costliest_test
