// Writers that are always faster: during each read of R the bin that was read changes. Every
// operation then gives up after a bounded number of reads, denies no stored key, and succeeds when
// the writers come to rest. Former bug: growth and rebuilding read R without end, under a lock that
// other calls wait for.
#include "filters/broom/attempts.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <utility>

#include "filters/broom/core.hpp"
#include "genista/detail/filters/broom/range_source.hpp"

namespace genista::broom::broom_attempts_test {
namespace {

// A filter and its R. While `overtaken`, each read of R ends with what a writer would do in the bin
// that was read: it raises the version.
class world final : public range_source {
  public:
    explicit world(bool grows)
        : made_{*core::make({.grows = grows, .random = repeatable(3)}, hash, shape::for_rate(0x1p-8), 8)},
          filter{*made_} {}
    ~world() = default;

    result<void> read(position_range range, population& into) override {
        ++reads;
        for (auto at = stored.lower_bound(digest{range.first, 0}); at != stored.end() && at->position <= range.last;
             ++at)
            into.members.push_back(*at);
        into.holds_key = stored.contains(key_);
        if (overtaken) {
            table::lock held{filter.bins(), filter.bins().bin_of(digest{range.first, 0})};
            held.touch();
        }
        return {};
    }
    result<bool> erase() override { return stored.erase(key_) != 0; }

    [[nodiscard]] digest at(std::uint64_t key) const { return hash(key); }
    // The key of the operation that follows.
    digest choose(std::uint64_t key) { return key_ = at(key); }
    result<insert_outcome> insert(std::uint64_t key) {
        stored.insert(choose(key));
        reads = 0;
        return filter.insert(key_, *this);
    }
    void fill(std::uint64_t keys) {
        for (std::uint64_t key = 0; key < keys; ++key) ASSERT_TRUE(insert(key)) << key;
    }
    void expect_sound(const char* when) {
        for (const digest& each : stored) EXPECT_TRUE(filter.contains(each)) << when;
        EXPECT_EQ(filter.state().load()->writer_counters->back_off.load(), 0u) << when;
        const bool before = std::exchange(overtaken, false);
        const auto audited = filter.audit(*this);
        EXPECT_TRUE(audited) << when << ": " << audited.error().message();
        overtaken = before;
    }

    hasher hash{hash_key::from_seed(21)};
    std::set<digest> stored;
    bool overtaken = false;
    int reads = 0;

  private:
    std::unique_ptr<core> made_;
    digest key_{};

  public:
    core& filter;
};

template <class Result>
void expect_given_up(const Result& outcome, const char* what) {
    ASSERT_FALSE(outcome) << what;
    EXPECT_EQ(outcome.error().code(), error_code::timeout) << what << ": " << outcome.error().message();
}

TEST(broom_attempts, a_growth_gives_up_and_is_continued) {
    world w{false};
    w.fill(200);
    w.overtaken = true;
    w.reads = 0;
    expect_given_up(w.filter.grow(w), "a growth");
    EXPECT_EQ(w.reads, 1 + most_attempts) << "one read says how much to grow";
    EXPECT_TRUE(w.filter.is_growing());
    w.expect_sound("after a growth that gave up");
    w.overtaken = false;
    ASSERT_TRUE(w.filter.grow(w));
    EXPECT_FALSE(w.filter.is_growing());
    w.expect_sound("after the growth");
}

TEST(broom_attempts, an_insert_that_helps_to_grow_succeeds_without_the_growth) {
    world w{true};
    std::uint64_t key = 0;
    for (; !w.filter.is_growing(); ++key) ASSERT_TRUE(w.insert(key));
    const double done = w.filter.details().growth_done;
    ASSERT_LT(done, 1);
    w.overtaken = true;
    for (int i = 0; i < 3; ++i, ++key) {
        const auto outcome = w.insert(key);
        ASSERT_TRUE(outcome) << outcome.error().message();
        EXPECT_EQ(*outcome, insert_outcome::inserted);
        EXPECT_EQ(w.reads, most_attempts_in_passing);
        EXPECT_EQ(w.filter.details().growth_done, done);
        w.expect_sound("beside a growth that does not get on");
    }
    w.overtaken = false;
    for (; w.filter.is_growing(); ++key) ASSERT_TRUE(w.insert(key));
    w.expect_sound("after the growth");
}

TEST(broom_attempts, a_rebuild_gives_up_and_can_be_repeated) {
    world w{false};
    w.fill(200);
    w.overtaken = true;
    for (const unsigned threads : {1u, 2u}) {
        w.reads = 0;
        expect_given_up(w.filter.rebuild(w, threads), "a rebuild");
        EXPECT_EQ(w.reads, most_attempts);
        w.expect_sound("after a rebuild that gave up");
    }
    w.overtaken = false;
    ASSERT_TRUE(w.filter.rebuild(w));
    w.expect_sound("after the rebuild");
}

TEST(broom_attempts, operations_on_one_key_give_up) {
    world w{false};
    w.fill(250);
    w.overtaken = true;
    expect_given_up(w.insert(7), "an insert of a stored key");
    EXPECT_EQ(w.reads, most_attempts);
    w.expect_sound("after an insert");

    w.reads = 0;
    expect_given_up(w.filter.rebuild_range({w.at(7).position, w.at(7).position}, w), "a rebuild of one bin");
    EXPECT_EQ(w.reads, most_attempts);
    w.expect_sound("after a rebuild of one bin");

    std::uint64_t absent = 1'000'000;
    while (!w.filter.contains(w.at(absent))) ++absent;
    w.reads = 0;
    expect_given_up(w.filter.adapt(w.choose(absent), w), "an adapt");
    EXPECT_EQ(w.reads, most_attempts);
    EXPECT_TRUE(w.filter.contains(w.at(absent)));
    w.expect_sound("after an adapt");

    w.reads = 0;
    expect_given_up(w.filter.erase(w.choose(9), w), "an erase");
    EXPECT_EQ(w.reads, most_attempts);
    EXPECT_FALSE(w.stored.contains(w.at(9))) << "R lost the key first";
    EXPECT_TRUE(w.filter.contains(w.at(9))) << "and the filter has changed nothing";

    w.overtaken = false;
    const auto forgotten = w.filter.forget(w.choose(9), w);
    ASSERT_TRUE(forgotten);
    EXPECT_EQ(*forgotten, erase_outcome::erased);
    const auto adapted = w.filter.adapt(w.choose(absent), w);
    ASSERT_TRUE(adapted);
    EXPECT_FALSE(w.filter.contains(w.at(absent)));
    w.expect_sound("at the end");
}

// An absent key that needs R because its bin is full: the filter has not taken it in.
TEST(broom_attempts, an_insert_that_gave_up_has_not_stored_the_key) {
    world w{false};
    std::uint64_t key = 0;
    for (;; ++key) {
        const auto outcome = w.insert(key);
        ASSERT_TRUE(outcome);
        if (*outcome == insert_outcome::full) break;
    }
    w.stored.erase(w.at(key));
    const std::uint64_t keys = w.filter.keys();
    w.overtaken = true;
    expect_given_up(w.insert(key), "an insert into a full bin");
    EXPECT_EQ(w.reads, most_attempts);
    EXPECT_EQ(w.filter.keys(), keys);
    w.stored.erase(w.at(key));
    w.expect_sound("after an insert that gave up");
}

}  // namespace
}  // namespace genista::broom::broom_attempts_test
