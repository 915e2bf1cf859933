// Many keys at once: batched look-ups answer as single ones do, and batched inserts give the filter
// that single ones give, in every state of the filter and on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "genista/filters/broom.hpp"
#include "genista/format/sink.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/remote/faulty_map.hpp"
#include "tests/support/broom_world.hpp"
#include "tests/support/every_isa.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::broom_batch_test {
namespace {

using integers = std::span<const std::uint64_t>;
using views = std::span<const key_view>;

// A key of some length; always the same for the same number.
std::string text_of(std::uint64_t number) {
    return std::string(number % 61, 'x') + std::to_string(number);
}

// Empty after an error.
template <class Value>
std::optional<Value> value_of(const result<Value>& outcome) {
    if (!outcome) return std::nullopt;
    return *outcome;
}

// A filter and its R. Integers below `members` and texts of such numbers are the keys that tests of
// look-ups insert.
struct stocked {
    broom_filter filter;
    memory_map remote;

    explicit stocked(const broom_options& options) : filter{*broom_filter::make(options)} {}

    void commit(key_view key) { EXPECT_TRUE(remote.put(filter.hash()(key), key)); }
    void commit(integers keys) {
        for (const std::uint64_t key : keys) commit(integer_key{key}.view());
    }
    // Inserts batch after batch, each committed first.
    template <class Remote>
    void insert_in_batches(integers keys, std::size_t size, Remote& through) {
        while (!keys.empty()) {
            const integers batch = keys.first(std::min(keys.size(), size));
            commit(batch);
            ASSERT_EQ(value_of(filter.insert(batch, through)), batch.size());
            keys = keys.subspan(batch.size());
        }
    }
    void insert(key_view key) {
        commit(key);
        const auto outcome = filter.insert(key, remote);
        EXPECT_TRUE(outcome && *outcome != insert_outcome::full);
    }
    void insert_number(std::uint64_t number) {
        if (number % 4 == 0) {
            insert(key_view{text_of(number)});
        } else {
            insert(integer_key{number}.view());
        }
    }
    void expect_sound(std::uint64_t keys) const {
        const auto sound = filter.audit(const_cast<memory_map&>(remote));
        EXPECT_TRUE(sound) << sound.error().message();
        EXPECT_EQ(filter.stats().keys, keys);
    }
    void expect_all(integers keys) const {
        std::uint64_t denied = 0;
        for (const std::uint64_t key : keys) denied += filter.may_contain(key) ? 0u : 1u;
        EXPECT_EQ(denied, 0u) << "false negatives";
    }
    [[nodiscard]] std::vector<std::byte> saved() const {
        vector_sink out;
        EXPECT_TRUE(filter.save(out));
        return {out.bytes().begin(), out.bytes().end()};
    }
};

broom_options options_for(std::uint64_t capacity, double rate, bool grows) {
    return {.capacity = capacity,
            .false_positive_rate = rate,
            .hash = hasher{hash_key::from_seed(21)},
            .grows = grows,
            .random = repeatable(4)};
}

std::vector<std::uint64_t> some_keys(std::uint64_t seed, std::size_t count) {
    test::splitmix chance{seed};
    std::vector<std::uint64_t> keys(count);
    for (std::uint64_t& key : keys) key = chance();
    return keys;
}

// ---- look-ups -----------------------------------------------------------------------------------

enum class past : unsigned char { fresh, rebuilt, grown, full_of_tombstones, old, growing };

// Tombstones and extensions in most clusters.
void fill_with_tombstones(stocked& s) {
    for (std::uint64_t number = 1; number < 8000; number += 8) ASSERT_TRUE(s.filter.erase(number, s.remote));
    for (std::uint64_t absent_key = 1u << 30, fixed = 0; fixed < 150; ++absent_key) {
        if (!s.filter.may_contain(absent_key)) continue;
        ASSERT_TRUE(s.filter.adapt(absent_key, s.remote));
        ++fixed;
    }
}

// Every erase renews its bin. Bin after bin is renewed as often as those before it and a little
// more often: more different salts than there are codes for salts.
void grow_old(stocked& s) {
    const std::uint64_t bins = s.filter.details().bins;
    std::vector<std::uint64_t> one_of(bins);  // an integer key of each bin
    for (std::uint64_t number = 1; number < 16'000; number += 4)
        one_of[scale(s.filter.hash()(number).position, bins)] = number;
    for (const std::uint64_t key : one_of) {
        for (int i = 0; i < 12; ++i) {
            ASSERT_TRUE(s.filter.erase(key, s.remote));
            s.insert_number(key);
        }
    }
}

std::unique_ptr<stocked> made_with(past what, double rate) {
    const std::uint64_t members = what == past::old ? 16'000 : 8000;
    broom_options options = options_for(what == past::grown ? 300 : members, rate, true);
    options.key_is_new = true;
    if (what == past::old) options.history = broom_history::renew;
    auto made = std::make_unique<stocked>(options);
    for (std::uint64_t number = 0; number < members; ++number) made->insert_number(number);
    if (what == past::rebuilt) {
        EXPECT_TRUE(made->filter.rebuild(made->remote));
    }
    if (what == past::grown) {
        EXPECT_TRUE(made->filter.grow(made->remote));
    }
    if (what == past::full_of_tombstones) fill_with_tombstones(*made);
    if (what == past::old) grow_old(*made);
    if (what == past::growing) {
        for (std::uint64_t number = 8000; made->filter.details().growth_done < 0.5 && number < 20'000; ++number)
            made->insert_number(number);
    }
    return made;
}

void expect_past(const broom_filter& filter, past what) {
    const broom_details seen = filter.details();
    EXPECT_EQ(seen.growths > 0, what == past::grown);
    EXPECT_EQ(seen.growth_done > 0, what == past::growing);
    if (what == past::full_of_tombstones) {
        EXPECT_GT(seen.tombstones, 100u);
        EXPECT_GT(seen.extended_slots, 50u);
    }
    if (what == past::old) {
        EXPECT_GT(seen.long_salts, 50u);
    }
    if (what != past::grown) {
        EXPECT_GT(seen.backyard_keys, 0u);
    }
}

// Stored keys and absent keys, in each of the three forms of a query.
struct questions {
    std::vector<std::uint64_t> numbers;
    std::vector<std::string> bytes;
    std::vector<key_view> keys;
    std::vector<digest> digests;

    explicit questions(const hasher& hash) {
        test::splitmix chance{17};
        for (int i = 0; i < 700; ++i) {
            numbers.push_back(chance.below(2) == 0 ? chance.below(9000) : chance());
            const integer_key integer{numbers.back()};
            bytes.emplace_back(i % 3 == 0 ? text_of(chance.below(16'000)) : integer.view().text());
        }
        for (const std::string& each : bytes) keys.emplace_back(each);
        for (const key_view each : keys) digests.push_back(hash(each));
    }
};

// Every count and several starting offsets: the bits of the keys, zeros up to the end of the last
// word, and nothing written beyond.
template <class Key>
void compare_batches(const broom_filter& filter, const std::vector<Key>& asked, const std::vector<bool>& expected) {
    constexpr std::uint64_t untouched = 0xaaaaaaaaaaaaaaaa;
    for (std::size_t count = 0; count <= 300; ++count) {
        const std::size_t from = (2 * count * count + 1) % 399;
        std::vector<std::uint64_t> answers(words_for(count) + 1, untouched);
        filter.may_contain(std::span<const Key>{asked}.subspan(from, count), answers);
        std::vector<std::uint64_t> wanted(words_for(count) + 1);
        for (std::size_t i = 0; i < count; ++i) wanted[i / 64] |= std::uint64_t{expected[from + i]} << (i % 64);
        wanted.back() = untouched;
        ASSERT_EQ(answers, wanted) << count << " keys from " << from;
    }
}

template <class Key>
std::vector<bool> one_by_one(const broom_filter& filter, const std::vector<Key>& asked) {
    std::vector<bool> answers;
    for (const Key& each : asked) answers.push_back(filter.may_contain(each));
    return answers;
}

class broom_batch : public testing::TestWithParam<std::tuple<past, unsigned>> {};

TEST_P(broom_batch, answers_as_single_look_ups_do_on_every_instruction_set) {
    const auto [what, bits] = GetParam();
    const double rate = 1.0 / static_cast<double>(1u << bits);
    std::vector<bool> first_numbers, first_keys;
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa only{level};
        const auto s = made_with(what, rate);
        expect_past(s->filter, what);
        const questions asked{s->filter.hash()};
        const auto numbers = one_by_one(s->filter, asked.numbers);
        const auto keys = one_by_one(s->filter, asked.keys);
        EXPECT_EQ(one_by_one(s->filter, asked.digests), keys);
        for (std::size_t i = 0; i < keys.size(); ++i)
            ASSERT_EQ(s->filter.trace(asked.digests[i]).maybe, keys[i]) << "the scalar version disagrees about " << i;
        compare_batches(s->filter, asked.numbers, numbers);
        compare_batches(s->filter, asked.keys, keys);
        compare_batches(s->filter, asked.digests, keys);
        if (first_keys.empty()) first_numbers = numbers, first_keys = keys;
        EXPECT_EQ(numbers, first_numbers) << "instruction sets disagree";
        EXPECT_EQ(keys, first_keys) << "instruction sets disagree";
        EXPECT_GT(std::count(keys.begin(), keys.end(), true), 100);
        EXPECT_GT(std::count(keys.begin(), keys.end(), false), 100);
    }
}

std::string name_of(const testing::TestParamInfo<std::tuple<past, unsigned>>& tried) {
    constexpr const char* pasts[] = {"fresh", "rebuilt", "grown", "full_of_tombstones", "old", "growing"};
    return std::string{pasts[static_cast<int>(std::get<0>(tried.param))]} + "_at_2_to_the_minus_" +
           std::to_string(std::get<1>(tried.param));
}

INSTANTIATE_TEST_SUITE_P(all, broom_batch,
                         testing::Combine(testing::Values(past::fresh, past::rebuilt, past::grown,
                                                          past::full_of_tombstones, past::old, past::growing),
                                          testing::Values(8u, 12u)),
                         name_of);

// ---- inserts ------------------------------------------------------------------------------------

TEST(broom_batches, batched_inserts_give_the_filter_that_single_inserts_give) {
    for (const double rate : {0x1p-8, 0x1p-12}) {
        for (const std::uint64_t capacity : {20'000u, 1000u}) {
            stocked single{options_for(capacity, rate, true)};
            stocked many{options_for(capacity, rate, true)};
            const auto keys = some_keys(1, 20'000);
            test::splitmix chance{2};
            for (std::size_t from = 0; from < keys.size();) {
                const auto batch = integers{keys}.subspan(from, std::min(keys.size() - from, chance.below(400)));
                single.commit(batch);
                many.commit(batch);
                for (const std::uint64_t key : batch) ASSERT_TRUE(single.filter.insert(key, single.remote));
                ASSERT_EQ(value_of(many.filter.insert(batch, many.remote)), batch.size());
                from += batch.size();
                ASSERT_EQ(many.filter.stats().keys, single.filter.stats().keys);
                // Both grow at the same moment.
                ASSERT_EQ(many.filter.details().bins, single.filter.details().bins);
                ASSERT_EQ(many.filter.details().growth_done, single.filter.details().growth_done);
            }
            many.expect_all(keys);
            many.expect_sound(keys.size());
            for (const std::uint64_t absent_key : some_keys(9, 50'000))
                ASSERT_EQ(many.filter.may_contain(absent_key), single.filter.may_contain(absent_key));
        }
    }
}

TEST(broom_batches, every_instruction_set_makes_the_same_filter) {
    for (const double rate : {0x1p-8, 0x1p-12}) {
        for (const bool grows : {false, true}) {
            const auto keys = some_keys(5, 6000);
            std::vector<std::byte> first;
            for (const isa level : test::usable_isas()) {
                const test::scoped_isa only{level};
                stocked s{options_for(grows ? 900 : keys.size(), rate, grows)};
                s.commit(integers{keys}.first(1000));
                for (std::size_t i = 0; i < 500; ++i) ASSERT_TRUE(s.filter.insert(keys[i], s.remote));
                for (std::size_t i = 500; i < 1000; ++i)
                    ASSERT_TRUE(s.filter.insert(integer_key{keys[i]}.view(), s.remote));
                s.insert_in_batches(integers{keys}.subspan(1000), 333, s.remote);
                s.expect_all(keys);
                s.expect_sound(keys.size());
                if (first.empty()) first = s.saved();
                EXPECT_TRUE(s.saved() == first) << "instruction sets disagree";
            }
        }
    }
}

TEST(broom_batches, a_key_given_twice_counts_once) {
    for (const double rate : {0x1p-8, 0x1p-12}) {
        for (const bool grows : {false, true}) {
            stocked s{options_for(grows ? 1200 : 3000, rate, grows)};
            const auto keys = some_keys(2, 2000);
            s.commit(keys);
            std::vector<std::uint64_t> batch;
            for (std::size_t i = 0; i < keys.size(); ++i) {
                batch.insert(batch.end(), 1 + i % 3, keys[i]);  // next to each other
                if (i % 5 == 0) batch.push_back(keys[i / 2]);   // and far apart
            }
            for (int round = 0; round < 2; ++round) {  // in the second round all of them are stored already
                const auto inserted = s.filter.insert(integers{batch}, s.remote);
                ASSERT_TRUE(inserted) << inserted.error().message();
                EXPECT_EQ(*inserted, batch.size());
                s.expect_all(keys);
                s.expect_sound(keys.size());
            }
        }
    }
}

TEST(broom_batches, keys_of_any_length_are_inserted) {
    for (const double rate : {0x1p-8, 0x1p-12}) {
        stocked s{options_for(1500, rate, true)};
        std::vector<std::string> texts;
        for (std::uint64_t i = 0; i < 3000; ++i) texts.push_back(text_of(i));
        const std::vector<key_view> keys{texts.begin(), texts.end()};
        for (const key_view key : keys) s.commit(key);
        EXPECT_EQ(value_of(s.filter.insert(views{}, s.remote)), 0u);
        ASSERT_EQ(value_of(s.filter.insert(views{keys}, s.remote)), keys.size());
        for (const key_view key : keys) ASSERT_TRUE(s.filter.may_contain(key));
        s.expect_sound(keys.size());
    }
}

TEST(broom_batches, a_filter_without_room_reports_how_many_it_took) {
    for (const double rate : {0x1p-8, 0x1p-12}) {
        stocked single{options_for(400, rate, false)};
        stocked many{options_for(400, rate, false)};
        const auto keys = some_keys(7, 2000);
        single.commit(keys);
        many.commit(keys);
        std::size_t fit = 0;
        while (fit < keys.size() && *single.filter.insert(keys[fit], single.remote) != insert_outcome::full) ++fit;
        const auto inserted = many.filter.insert(integers{keys}, many.remote);
        ASSERT_TRUE(inserted) << inserted.error().message();
        EXPECT_EQ(*inserted, fit);
        EXPECT_GT(*inserted, 300u);
        ASSERT_LT(*inserted, keys.size());
        EXPECT_EQ(value_of(many.filter.insert(integers{keys}.subspan(fit), many.remote)), 0u);
        many.expect_all(integers{keys}.first(fit));
        // The store takes back the refused keys.
        for (const std::uint64_t key : integers{keys}.subspan(fit))
            ASSERT_TRUE(many.remote.erase(many.filter.hash()(key), integer_key{key}.view()));
        many.expect_sound(many.filter.stats().keys);
        EXPECT_GE(many.filter.stats().keys, fit);
        EXPECT_EQ(many.filter.stats().keys, single.filter.stats().keys);
    }
}

TEST(broom_batches, the_filter_grows_in_the_middle_of_batches) {
    for (const double rate : {0x1p-8, 0x1p-12}) {
        for (const std::size_t size : {1u, 17u, 128u, 200u}) {
            stocked s{options_for(200, rate, true)};
            const auto keys = some_keys(8, 10'000);
            s.insert_in_batches(keys, size, s.remote);
            EXPECT_GE(s.filter.details().growths, 5u);
            s.expect_all(keys);
            s.expect_sound(keys.size());
        }
    }
}

// The store has committed all keys beforehand: from the first key on R holds far more than the
// filter.
TEST(broom_batches, one_batch_far_larger_than_the_filter_makes_it_grow) {
    for (const double rate : {0x1p-8, 0x1p-12}) {
        stocked s{options_for(100, rate, true)};
        const auto keys = some_keys(8, 20'000);
        s.commit(keys);
        const auto inserted = s.filter.insert(integers{keys}, s.remote);
        ASSERT_TRUE(inserted) << inserted.error().message();
        EXPECT_EQ(*inserted, keys.size());
        EXPECT_GE(s.filter.details().growths, 1u);
        s.expect_all(keys);
        s.expect_sound(keys.size());
    }
}

TEST(broom_batches, a_store_that_fails_loses_nothing_and_the_batch_can_be_repeated) {
    std::uint64_t struck = 0;
    for (const fault_kind kind : all_fault_kinds) {
        if (kind == fault_kind::stale) continue;  // not a valid R (remote.hpp, "Order")
        for (const double rate : {0x1p-8, 0x1p-12}) {
            if (test::sanitized && rate == 0x1p-8) continue;  // no tail, so less that could go wrong
            for (const bool grows : {false, true}) {
                stocked s{options_for(grows ? 1500 : 4000, rate, grows)};
                faulty_map<memory_map> remote{s.remote, {.sleep = [](std::chrono::nanoseconds) {}}};
                const auto keys = some_keys(4, 3000);
                const integers before = integers{keys}.first(1000);
                s.commit(before);
                ASSERT_EQ(value_of(s.filter.insert(before, remote)), before.size());
                s.commit(keys);
                // The batch holds keys that are stored already, for which R has to be read.
                const integers batch = integers{keys}.subspan(500);
                ASSERT_TRUE(remote.set_plan({.rules = {fault_rule::from(kind, 0, fault_scope::ranges, 2)}}));
                // Keys that would need a read of R become entries, or the batch ends with an error;
                // no key is lost.
                const auto during = s.filter.insert(batch, remote);
                struck += remote.counts().injected() > 0 ? 1u : 0u;
                s.expect_all(before);
                if (during) s.expect_all(batch.first(*during));
                ASSERT_TRUE(remote.set_plan({}));
                const auto repeated = s.filter.insert(batch, remote);
                ASSERT_TRUE(repeated) << repeated.error().message();
                EXPECT_EQ(*repeated, batch.size());
                s.expect_all(keys);
                s.expect_sound(keys.size());
            }
        }
    }
    EXPECT_GE(struck, test::sanitized ? 18u : 36u);
}

TEST(broom_batches, after_occasional_faults_a_repeated_batch_succeeds) {
    for (const bool grows : {false, true}) {
        stocked s{options_for(grows ? 200 : 4000, 0x1p-8, grows)};
        faulty_map<memory_map> remote{s.remote, {.sleep = [](std::chrono::nanoseconds) {}}};
        ASSERT_TRUE(remote.set_plan({.rates = {{fault_kind::error_midway, 0.1}}, .seed = 3}));
        const auto keys = some_keys(6, 3000);
        std::uint64_t errors = 0;  // none, unless a backyard is full
        for (std::size_t from = 0; from < keys.size();) {
            // Four keys that are stored already, for which R has to be read, and up to sixteen new
            // ones.
            const integers batch =
                integers{keys}
                    .subspan(from - std::min<std::size_t>(from, 4))
                    .first(std::min<std::size_t>(from, 4) + std::min<std::size_t>(keys.size() - from, 16));
            s.commit(batch);
            const auto inserted = s.filter.insert(batch, remote);
            if (!inserted) {
                ASSERT_LT(++errors, 10'000u);
                continue;
            }
            ASSERT_EQ(*inserted, batch.size());
            s.expect_all(integers{keys}.first(from));
            from += std::min<std::size_t>(keys.size() - from, 16);
        }
        EXPECT_GT(remote.counts().injected(), 10u);
        s.expect_all(keys);
        // Keys inserted twice while R could not be read have two places until their bins are
        // renewed.
        EXPECT_GE(s.filter.stats().keys, keys.size());
        ASSERT_TRUE(s.filter.rebuild(s.remote));
        s.expect_all(keys);
        s.expect_sound(keys.size());
    }
}

}  // namespace
}  // namespace genista::broom_batch_test
