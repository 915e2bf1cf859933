// The attack in rounds and the filters that it is made for, in small. The experiment
// local-lower-bound measures the sizes.
#include "lab/adversaries/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

#include "genista/filters/bloom.hpp"
#include "lab/adversaries/adversary.hpp"
#include "lab/games/contenders.hpp"
#include "lab/games/learning_arena.hpp"
#include "lab/games/local_arena.hpp"
#include "lab/games/remembering_bloom.hpp"
#include "lab/games/remotes.hpp"
#include "lab/statistics/binomial.hpp"
#include "papers/whitelist.hpp"

namespace genista::lab::rounds_test {
namespace {

// Has a given number of false positives for a key, and records its queries.
class scripted_arena final : public arena {
  public:
    std::vector<std::uint64_t> inserted, asked;
    std::vector<bool> as_guess;
    std::uint64_t let_through_below = 0;  // keys below this
    std::uint64_t times = 0;              // each of them so often

    [[nodiscard]] std::string_view filter_name() const noexcept override { return "scripted"; }
    [[nodiscard]] double rate() const noexcept override { return 0.5; }
    [[nodiscard]] std::uint64_t bins() const noexcept override { return 0; }
    reply query(std::uint64_t key) override { return answer(key, false); }
    reply guess(std::uint64_t key) override { return answer(key, true); }
    unsigned insert(std::uint64_t key) override {
        inserted.push_back(key);
        return 0;
    }
    unsigned erase(std::uint64_t) override { return 0; }
    [[nodiscard]] bool is_member(std::uint64_t key) const override {
        return std::find(inserted.begin(), inserted.end(), key) != inserted.end();
    }
    [[nodiscard]] std::uint64_t size() const noexcept override { return inserted.size(); }
    void grow() override {}
    void save() override {}
    void restart() override {}
    [[nodiscard]] const score& counted() const noexcept override { return score_; }

  private:
    reply answer(std::uint64_t key, bool guessed) {
        const auto before = static_cast<std::uint64_t>(std::count(asked.begin(), asked.end(), key));
        asked.push_back(key);
        as_guess.push_back(guessed);
        return {.maybe = key < let_through_below && before < times};
    }
    score score_;
};

TEST(rounds, asks_absent_keys_in_order_and_then_the_false_positives) {
    scripted_arena at;
    insert_uniformly(at, 200, 1);
    ASSERT_EQ(at.inserted.size(), 200u);
    EXPECT_TRUE(std::is_sorted(at.inserted.begin(), at.inserted.end()));
    EXPECT_EQ(std::set<std::uint64_t>(at.inserted.begin(), at.inserted.end()).size(), 200u);
    EXPECT_LT(at.inserted.front(), std::uint64_t{1} << 60) << "from the whole universe";
    EXPECT_GT(at.inserted.back(), std::uint64_t{15} << 60);
    at.let_through_below = std::uint64_t{1} << 62;
    at.times = 3;
    const rounds_played played = attack_in_rounds(at, {.seed = 2});
    EXPECT_EQ(played.absent_keys, 200u);
    ASSERT_EQ(played.through.size(), 4u);
    const std::uint64_t low = played.through[0];
    EXPECT_GT(low, 20u);
    EXPECT_LT(low, 90u);
    EXPECT_EQ(played.through, (std::vector<std::uint64_t>{low, low, low, 0}));
    EXPECT_TRUE(played.ended());
    EXPECT_EQ(played.repeated(), 3 * low);
    EXPECT_EQ(played.repeated_through(), 2 * low);
    ASSERT_EQ(at.asked.size(), 200 + 3 * low);
    EXPECT_TRUE(std::is_sorted(at.asked.begin(), at.asked.begin() + 200));
    for (std::uint64_t i = 0; i < at.asked.size(); ++i) {
        EXPECT_EQ(at.as_guess[i], i >= 200);
        EXPECT_FALSE(at.is_member(at.asked[i]));
        EXPECT_EQ(at.asked[i], at.asked[i >= 200 ? (i - 200) % low : i]);
    }
}

TEST(rounds, ends_when_its_queries_are_used_up) {
    scripted_arena at;
    insert_uniformly(at, 100, 1);
    at.let_through_below = ~std::uint64_t{0};
    at.times = 1000;
    const rounds_played played = attack_in_rounds(at, {.most_queries = 350, .seed = 2});
    EXPECT_EQ(played.through, (std::vector<std::uint64_t>{100, 100, 100}));
    EXPECT_FALSE(played.ended());
    EXPECT_EQ(at.asked.size(), 300u);
    EXPECT_TRUE(attack_in_rounds(at, {.most_queries = 99}).through.empty());
    EXPECT_EQ(attack_in_rounds(at, {}).through.size(), 8u);
}

TEST(rounds, bloom_filters_repeat_their_false_positives_for_ever_and_a_whitelist_does_not) {
    constexpr std::uint64_t keys = 2'000;
    local_arena<bloom_filter> bloom{{keys, 0x1p-4, hasher{hash_key::from_seed(1)}}};
    insert_uniformly(bloom, keys, 1);
    const rounds_played forever = attack_in_rounds(bloom, {.seed = 2});
    EXPECT_FALSE(forever.ended());
    EXPECT_GT(forever.through.front(), keys / 32);
    for (const std::uint64_t through : forever.through) EXPECT_EQ(through, forever.through.front());

    learning_arena<whitelist_filter, records_in_memory> list{
        whitelist_options{.capacity = keys, .false_positive_rate = 0x1p-4, .hash = hasher{hash_key::from_seed(1)}}};
    insert_uniformly(list, keys, 1);
    const rounds_played once = attack_in_rounds(list, {.seed = 2});
    ASSERT_EQ(once.through.size(), 2u);
    EXPECT_GT(once.through[0], keys / 32);
    EXPECT_EQ(once.through[1], 0u);
    EXPECT_EQ(list.filter().details().list_entries, once.through[0]);
}

// ---- the filter that remembers -----------------------------------------------------------------

remembering_options with_room(std::uint64_t keys, double bits_per_key, double share, replacement way) {
    return {.keys = keys,
            .total_bits = static_cast<std::uint64_t>(bits_per_key * static_cast<double>(keys)),
            .bloom_share = share,
            .replaces = way,
            .seed = 5};
}

TEST(remembering_bloom, stays_within_its_bits_and_never_denies_a_stored_key) {
    for (const replacement way : {replacement::oldest, replacement::any}) {
        for (const double share : {1.0, 0.8, 0.5}) {
            remembering_arena at{with_room(3'000, 8, share, way), 0.25};
            insert_uniformly(at, 3'000, 1);
            (void)attack_in_rounds(at, {.seed = 2});
            const remembering_bloom& filter = at.filter();
            EXPECT_LE(filter.bits(), 8u * 3'000 + 512) << share;
            EXPECT_EQ(filter.room() == 0, share == 1);
            EXPECT_LE(filter.remembered(), filter.room());
            EXPECT_NEAR(static_cast<double>(filter.room()), (1 - share) * 8 * 3'000 / 64, 12);
            for (std::uint64_t key = 0; key < 500; ++key) {  // inserts absent keys, remembered ones among them
                at.query(key);
                at.insert(key);
                EXPECT_TRUE(at.query(key).maybe) << key;
            }
            EXPECT_EQ(at.counted().false_negatives, 0u);
            EXPECT_EQ(at.counted().reads, 0u);
        }
    }
}

TEST(remembering_bloom, forgets_the_oldest_or_any_when_it_is_full) {
    for (const replacement way : {replacement::oldest, replacement::any}) {
        remembering_bloom filter{with_room(1'000, 4, 0.5, way)};
        for (std::uint64_t key = 0; key < 1'000; ++key) filter.insert(key);
        const std::uint64_t room = filter.room();
        ASSERT_GT(room, 10u);
        std::vector<std::uint64_t> found;
        for (std::uint64_t x = 1'000'000; found.size() < room + 5; ++x) {
            if (!filter.may_contain(x)) continue;
            filter.remember(x);
            ASSERT_FALSE(filter.may_contain(x));
            found.push_back(x);
        }
        EXPECT_EQ(filter.remembered(), room);
        std::vector<std::uint64_t> forgotten;
        std::copy_if(found.begin(), found.end(), std::back_inserter(forgotten),
                     [&](std::uint64_t x) { return filter.may_contain(x); });
        EXPECT_EQ(forgotten.size(), 5u);
        const bool are_oldest = std::equal(forgotten.begin(), forgotten.end(), found.begin());
        EXPECT_EQ(are_oldest, way == replacement::oldest);
    }
}

// With room for all mistakes it is a whitelist. With room for some the attack continues, for ever
// if the oldest are dropped.
TEST(remembering_bloom, with_room_for_all_withstands_the_rounds_and_with_less_does_not) {
    constexpr std::uint64_t keys = 4'000;
    const auto sustained = [&](double bits, double share, replacement way) {
        remembering_arena at{with_room(keys, bits, share, way), 0.25};
        insert_uniformly(at, keys, 1);
        const rounds_played played = attack_in_rounds(at, {.seed = 2});
        return static_cast<double>(played.repeated_through()) / static_cast<double>(played.repeated());
    };
    EXPECT_EQ(sustained(11, 0.75, replacement::oldest), 0);
    EXPECT_EQ(sustained(11, 0.75, replacement::any), 0);
    EXPECT_EQ(sustained(6, 0.9, replacement::oldest), 1);
    EXPECT_GT(sustained(6, 0.9, replacement::any), 0.5);
    EXPECT_EQ(sustained(11, 1, replacement::oldest), 1) << "a Bloom filter that remembers nothing";
}

// A bit a key is room for n/64 mistakes, half of the first round's at 2^-5.
TEST(contenders, that_remember_all_their_mistakes_withstand_the_rounds_and_those_with_a_small_cache_do_not) {
    for (const std::string_view name : {"whitelist", "bloom_cache"}) {
        const auto made = make_contender(name, {.keys = 3'000, .rate = 0x1p-5});
        ASSERT_NE(made, nullptr) << name;
        find_adversary("rounds")->play(*made, {.queries = 20'000, .seed = 3, .progress = [](double) {}});
        const score& seen = made->counted();
        EXPECT_EQ(seen.false_negatives, 0u);
        EXPECT_GT(seen.guesses, 0u) << name;
        EXPECT_EQ(seen.right_guesses <= most_plausible_hits(seen.guesses, 0x1p-5), name == "whitelist") << name;
    }
}

}  // namespace
}  // namespace genista::lab::rounds_test
