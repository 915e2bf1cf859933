// What every filter of the cuckoo family must do, whatever its rule: typed over all of them. How
// each of them adapts is in cuckoo_family_rules_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "filters/cuckoo_family_filters.hpp"
#include "genista/format/sink.hpp"
#include "support/remote/counting_map.hpp"
#include "tests/support/cuckoo_world.hpp"
#include "tests/support/every_isa.hpp"

namespace genista::cuckoo_family_test {
namespace {

using both_halves = with_index<memory_map, memory_map>;

template <class F>
class cuckoo_family : public testing::Test {
    static_assert(membership_filter<F> && sized_filter<F> && adaptive_filter<F, both_halves>);
    static_assert(!local_filter<F> && !adaptive_filter<F, memory_map>, "it needs an index");
    static_assert(savable_filter<F> == std::is_same_v<F, cuckooing_filter>, "the others are in papers/");
};
TYPED_TEST_SUITE(cuckoo_family, test::cuckoo_family, test::cuckoo_names);

template <class F>
cuckoo_options small(std::uint64_t capacity = 100, unsigned fingerprint_bits = 12) {
    return test::cuckoo_made(test::cuckoo_forms<F>().back(), capacity, fingerprint_bits);
}

TYPED_TEST(cuckoo_family, an_empty_filter_contains_nothing_and_agrees_with_an_empty_store) {
    test::cuckoo_world<TypeParam> w{small<TypeParam>()};
    for (std::uint64_t key = 0; key < 10'000; ++key) ASSERT_FALSE(w.filter.may_contain(key));
    w.adapt(7);
    w.erase(7);
    w.forget(7);
    w.scan();
    w.audit();
    EXPECT_TRUE(w.wrong.empty()) << w.text();
}

TYPED_TEST(cuckoo_family, keys_can_have_any_length) {
    test::cuckoo_world<TypeParam> w{small<TypeParam>()};
    std::vector<std::string> keys = {""};
    for (std::size_t length = 1; length < 40; ++length) keys.emplace_back(length, '\0');
    keys.emplace_back(100'000, 'x');
    for (const std::string& key : keys) {
        ASSERT_TRUE(*w.plain.put(w.filter.hash()(key), key));
        ASSERT_EQ(*w.filter.insert(key, w.truth), insert_outcome::inserted) << key.size();
        ASSERT_EQ(*w.filter.insert(key, w.truth), insert_outcome::already_present) << key.size();
    }
    for (const std::string& key : keys) EXPECT_TRUE(w.filter.may_contain(key)) << key.size();
    w.audit();
    ASSERT_TRUE(w.filter.rebuild(w.truth));
    for (const std::string& key : keys) EXPECT_EQ(*w.filter.erase(key, w.truth), erase_outcome::erased) << key.size();
    EXPECT_EQ(w.filter.stats().keys, 0u);
    w.audit();
    EXPECT_TRUE(w.wrong.empty()) << w.text();
}

TYPED_TEST(cuckoo_family, texts_integers_and_digests_of_one_key_are_one_key) {
    test::cuckoo_world<TypeParam> w{small<TypeParam>()};
    ASSERT_TRUE(w.insert(7));
    const std::string_view seven{"\x07\0\0\0\0\0\0\0", 8};
    EXPECT_TRUE(w.filter.may_contain(seven));
    EXPECT_TRUE(w.filter.may_contain(w.filter.hash()(seven)));
    EXPECT_EQ(*w.filter.insert(seven, w.truth), insert_outcome::already_present);
    EXPECT_EQ(*w.filter.adapt(seven, w.truth), adapt_outcome::true_positive);
    EXPECT_EQ(*w.filter.erase(seven, w.truth), erase_outcome::erased);
    EXPECT_FALSE(w.filter.may_contain(std::uint64_t{7}));
}

TYPED_TEST(cuckoo_family, batches_equal_single_queries_in_every_instruction_set_and_shape) {
    for (const test::cuckoo_form& form : test::cuckoo_forms<TypeParam>()) {
        for (const unsigned bits : {2u, 7u, 13u, 32u}) {
            std::vector<std::uint64_t> expected;
            for (const isa level : test::usable_isas()) {
                const test::scoped_isa scope{level};
                test::cuckoo_world<TypeParam> w{test::cuckoo_made(form, 200, bits)};
                for (std::uint64_t key = 0; key < 200; ++key) ASSERT_TRUE(w.insert(key));
                for (std::uint64_t absent_key = 1'000; absent_key < 1'050; ++absent_key) w.adapt(absent_key);
                std::vector<std::uint64_t> keys;
                std::vector<key_view> views;
                std::vector<digest> digests;
                for (std::uint64_t i = 0; i < 300; ++i) keys.push_back(i * 3);
                for (const std::uint64_t& key : keys) {
                    views.emplace_back(reinterpret_cast<const std::byte*>(&key), sizeof key);
                    digests.push_back(w.filter.hash()(key));
                }
                std::vector<std::uint64_t> integers(words_for(keys.size()) + 1, 0xdead), texts = integers,
                                                                                         ready = integers;
                w.filter.may_contain(std::span<const std::uint64_t>{keys}, integers);
                w.filter.may_contain(std::span<const key_view>{views}, texts);
                w.filter.may_contain(std::span<const digest>{digests}, ready);
                EXPECT_EQ(integers, texts);
                EXPECT_EQ(integers, ready);
                EXPECT_EQ(integers.back(), 0xdeadu);
                for (std::size_t i = 0; i < keys.size(); ++i) {
                    ASSERT_EQ((integers[i / 64] >> (i % 64) & 1) != 0, w.filter.may_contain(keys[i])) << i;
                }
                if (expected.empty()) expected = integers;
                EXPECT_EQ(integers, expected) << to_string(level);
            }
        }
    }
}

TYPED_TEST(cuckoo_family, options_outside_their_range_are_refused_by_name_value_and_range) {
    struct bad {
        cuckoo_options options;
        const char* value;
        const char* allowed;
    };
    const auto with = [](auto change) {
        cuckoo_options options;
        options.capacity = 100;
        change(options);
        return options;
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const bool swaps = TypeParam::name == swapping_filter::name;
    const std::vector<bad> all = {
        {with([](auto& o) { o.tables = 0; }), "tables 0 ", "from 2 to 8"},
        {with([](auto& o) { o.tables = 1; }), "tables 1 ", "from 2 to 8"},
        {with([](auto& o) { o.tables = 9; }), "tables 9 ", "from 2 to 8"},
        {with([](auto& o) { o.bin_slots = 0; }), "bin_slots 0 ", swaps ? "from 2 to 8" : "from 1 to 8"},
        {with([](auto& o) { o.bin_slots = 9; }), "bin_slots 9 ", swaps ? "from 2 to 8" : "from 1 to 8"},
        {with([](auto& o) { o.fingerprint_bits = 0; }), "fingerprint_bits 0 ", "from 2 to 32"},
        {with([](auto& o) { o.fingerprint_bits = 1; }), "fingerprint_bits 1 ", "from 2 to 32"},
        {with([](auto& o) { o.fingerprint_bits = 33; }), "fingerprint_bits 33 ", "from 2 to 32"},
        {with([](auto& o) { o.load = 0.99; }), "load 0.99 ", "from 0.01 to 0.9"},
        {with([](auto& o) { o.load = 0; }), "load 0 ", "from 0.01 to 0.9"},
        {with([](auto& o) { o.load = -1; }), "load -1 ", "from 0.01 to 0.9"},
        {with([&](auto& o) { o.load = nan; }), "load nan ", "from 0.01 to 0.9"},
        {with([](auto& o) { o.capacity = 0; }), "capacity 0 ", "1"},
        {with([](auto& o) { o.capacity = max_capacity + 1; }), "capacity 1099511627777 ", "1099511627776"},
        {with([](auto& o) { o.false_positive_rate = 0; }), "rate 0 ", "0.5"},
        {with([](auto& o) { o.false_positive_rate = 0.6; }), "rate 0.6 ", "0.5"},
        {with([&](auto& o) { o.false_positive_rate = nan; }), "nan", "0.5"},
        {with([](auto& o) { o.false_positive_rate = 1e-300; }), "1e-300", "the smallest"},
        {with([](auto& o) { o.capacity = max_capacity; }), "1099511627776 keys", "2^40 slots"}};
    for (const bad& wrong : all) {
        const auto filter = TypeParam::make(wrong.options);
        ASSERT_FALSE(filter.has_value()) << wrong.value;
        const std::string_view said = filter.error().message();
        EXPECT_EQ(filter.error().code(), error_code::invalid_argument);
        EXPECT_NE(said.find(TypeParam::name), std::string_view::npos) << said;
        EXPECT_NE(said.find(wrong.value), std::string_view::npos) << said;
        EXPECT_NE(said.find(wrong.allowed), std::string_view::npos) << said;
    }
    cuckoo_options classic = with([](auto& o) { o.tables = 2, o.bin_slots = 1, o.load = 0.51; });
    const auto filter = TypeParam::make(classic);
    ASSERT_FALSE(filter.has_value());
    const std::string_view said = filter.error().message();
    EXPECT_NE(said.find(swaps ? "bin_slots 1 is outside the range from 2 to 8"
                              : "load 0.51 cannot be met by 2 tables with 1 slots a bin; from 0.01 to 0.5 can"),
              std::string_view::npos)
        << said;
    classic.load = 0.5;
    EXPECT_EQ(TypeParam::make(classic).has_value(), !swaps);
}

TYPED_TEST(cuckoo_family, every_shape_at_its_limits_takes_all_its_keys) {
    for (unsigned tables = 2; tables <= 8; ++tables) {
        for (unsigned bin_slots = TypeParam::name == swapping_filter::name ? 2 : 1; bin_slots <= 8; ++bin_slots) {
            // The message for an impossible load names the largest possible one.
            cuckoo_options options = test::cuckoo_made({tables, bin_slots, 1.0}, 300, 32);
            const auto refused = TypeParam::make(options);
            ASSERT_FALSE(refused);
            const std::string said{refused.error().message()};
            const std::size_t at = said.rfind(" to ");
            ASSERT_NE(at, std::string::npos) << said;
            options.load = std::stod(said.substr(at + 4));
            test::cuckoo_world<TypeParam> w{options};
            for (std::uint64_t key = 0; key < 300; ++key) ASSERT_TRUE(w.insert(key)) << tables << ' ' << bin_slots;
            w.scan();
            w.audit();
            ASSERT_TRUE(w.wrong.empty()) << w.text() << tables << ' ' << bin_slots;
        }
    }
}

TYPED_TEST(cuckoo_family, sizing_helpers_are_inverses) {
    for (const double rate : {0.5, 0.2, 0.03, 0.01, 1.0 / 256, 0.002, 1.0 / 4096, 1.3e-4, 1e-8}) {
        for (const std::uint64_t capacity :
             {1ull, 10ull, 63ull, 64ull, 999ull, 12'345ull, 1'000'000ull, 1'000'000'007ull}) {
            const auto bits = TypeParam::bits_for(capacity, rate);
            ASSERT_TRUE(bits.has_value());
            EXPECT_LE(TypeParam::fpr_for(capacity, *bits), rate) << capacity << ' ' << rate;
            const auto back = TypeParam::keys_for_bits(*bits, rate);
            ASSERT_TRUE(back.has_value());
            EXPECT_GE(*back, capacity);
            EXPECT_LE(*TypeParam::bits_for(*back, rate), *bits);
            EXPECT_GT(*TypeParam::bits_for(*back + 1, rate), *bits);
        }
    }
    EXPECT_FALSE(TypeParam::bits_for(0, 0.01).has_value());
    EXPECT_FALSE(TypeParam::bits_for(10, 0).has_value());
    EXPECT_FALSE(TypeParam::keys_for_bits(1 << 20, 0.9).has_value());
    EXPECT_FALSE(TypeParam::keys_for_bits(0, 0.01).has_value());
    EXPECT_EQ(TypeParam::fpr_for(1000, 0), 1);
}

TYPED_TEST(cuckoo_family, bits_for_is_what_make_allocates) {
    for (const double rate : {0.3, 0.01, 1.0 / 256, 1.3e-4}) {
        for (const std::uint64_t capacity : {1u, 1000u, 100'000u, 3'000'000u}) {
            const auto filter = TypeParam::make({.capacity = capacity, .false_positive_rate = rate});
            ASSERT_TRUE(filter);
            const std::uint64_t table = *TypeParam::bits_for(capacity, rate) / 8;
            EXPECT_GE(filter->stats().local_bytes, table);
            EXPECT_LE(filter->stats().local_bytes, table + 4096 + 1024)
                << "a page, and the parts that are not the table";
            EXPECT_LE(filter->rate(), rate);
        }
    }
}

TYPED_TEST(cuckoo_family, erasing_or_forgetting_an_absent_key_loses_no_key_even_if_it_collides) {
    test::cuckoo_world<TypeParam> w{small<TypeParam>(100, 5)};
    for (std::uint64_t key = 0; key < 100; ++key) ASSERT_TRUE(w.insert(key));
    const auto before = w.contents();
    for (int i = 0; i < 200; ++i) {
        const std::uint64_t absent_key = *w.find_false_positive();
        w.erase(absent_key);
        w.forget(absent_key);
    }
    EXPECT_EQ(w.contents(), before);
    w.scan();
    w.audit();
    EXPECT_TRUE(w.wrong.empty()) << w.text();
}

TYPED_TEST(cuckoo_family, forget_removes_a_key_the_store_has_erased_and_keeps_one_put_back) {
    test::cuckoo_world<TypeParam> w{small<TypeParam>()};
    ASSERT_TRUE(w.insert(1));
    ASSERT_TRUE(w.insert(2));
    const integer_key one{1u};
    EXPECT_EQ(*w.filter.forget(one.view(), w.truth), erase_outcome::absent) << "it is a stored key";
    EXPECT_TRUE(w.filter.may_contain(std::uint64_t{1}));
    w.take_out(1);
    w.put(1);
    EXPECT_EQ(*w.filter.forget(one.view(), w.truth), erase_outcome::absent) << "it was put back";
    EXPECT_TRUE(w.filter.may_contain(std::uint64_t{1}));
    w.take_out(1);
    EXPECT_EQ(*w.filter.forget(one.view(), w.truth), erase_outcome::erased);
    EXPECT_EQ(*w.filter.forget(one.view(), w.truth), erase_outcome::absent);
    EXPECT_FALSE(w.filter.may_contain(std::uint64_t{1}));
    EXPECT_TRUE(w.filter.may_contain(std::uint64_t{2}));
    EXPECT_TRUE(w.filter.audit(w.truth));
}

TYPED_TEST(cuckoo_family, an_erase_that_could_not_finish_is_finished_by_adapt) {
    for (const fault_rule& fault : {fault_rule::once(fault_kind::error_before, 0, fault_scope::ranges),
                                    fault_rule::once(fault_kind::missing, 0, fault_scope::ranges),
                                    fault_rule::once(fault_kind::wrong_key, 0, fault_scope::ranges),
                                    fault_rule::once(fault_kind::wrong_seed, 0, fault_scope::ranges),
                                    fault_rule::once(fault_kind::out_of_range, 0, fault_scope::ranges),
                                    fault_rule::once(fault_kind::duplicate, 0, fault_scope::ranges),
                                    fault_rule::once(fault_kind::error_before, 0, fault_scope::writes),
                                    fault_rule::once(fault_kind::error_after, 0, fault_scope::writes),
                                    fault_rule::once(fault_kind::throws, 0, fault_scope::writes)}) {
        test::cuckoo_world<TypeParam> w{small<TypeParam>()};
        for (std::uint64_t key = 0; key < 50; ++key) ASSERT_TRUE(w.insert(key));
        ASSERT_TRUE(w.faulty_index.set_plan({.rules = {fault}}));
        EXPECT_FALSE(w.filter.erase(std::uint64_t{5}, w.remote));
        EXPECT_FALSE(*w.plain.contains(w.filter.hash()(5u), integer_key{5u}.view())) << "R has committed";
        EXPECT_TRUE(w.filter.may_contain(std::uint64_t{5})) << "a failed call changed nothing";
        EXPECT_EQ(*w.filter.adapt(std::uint64_t{5}, w.remote), adapt_outcome::fixed);
        EXPECT_FALSE(w.filter.may_contain(std::uint64_t{5}));
        EXPECT_EQ(w.filter.stats().keys, 49u);
        EXPECT_TRUE(w.filter.audit(w.truth));
    }
}

TYPED_TEST(cuckoo_family, a_write_with_an_unknown_outcome_is_repeated_by_the_next_change) {
    for (const fault_kind fault : {fault_kind::error_before, fault_kind::error_after, fault_kind::throws}) {
        test::cuckoo_world<TypeParam> w{small<TypeParam>()};
        for (std::uint64_t key = 0; key < 20; ++key) ASSERT_TRUE(w.insert(key));
        w.put(77);
        // The insert fails, and so do the first two attempts to repeat its write, each a batch and
        // then an erase of places.
        ASSERT_TRUE(w.faulty_index.set_plan(
            {.rules = {{.kind = fault, .first_call = 0, .last_call = 4, .scope = fault_scope::writes}}}));
        EXPECT_FALSE(w.filter.insert(std::uint64_t{77}, w.remote));
        EXPECT_FALSE(w.filter.may_contain(std::uint64_t{77}));
        w.take_out(77);
        EXPECT_FALSE(w.filter.adapt(std::uint64_t{77}, w.remote)) << "the owed write comes first";
        EXPECT_FALSE(w.filter.erase(std::uint64_t{3}, w.remote)) << "and before R is asked to erase";
        EXPECT_TRUE(*w.plain.contains(w.filter.hash()(3u), integer_key{3u}.view()));
        EXPECT_EQ(*w.filter.adapt(std::uint64_t{77}, w.remote), adapt_outcome::was_negative);
        w.scan();
        w.audit();
        EXPECT_TRUE(w.wrong.empty()) << w.text();
    }
}

TYPED_TEST(cuckoo_family, a_wrong_key_in_a_slot_is_an_error_and_no_key_is_lost) {
    test::cuckoo_world<TypeParam> w{small<TypeParam>(30, 16)};
    for (std::uint64_t key = 0; key < 25; ++key) ASSERT_TRUE(w.insert(key));
    const auto before = w.contents();
    // A wrong key in each slot, permanently.
    for (const std::uint64_t place : w.places()) w.replace(place, "another program's");
    EXPECT_EQ(w.filter.audit(w.truth).error().code(), error_code::corrupt);
    std::uint64_t refused = 0;
    for (std::uint64_t key = 0; key < 30; ++key) {  // some fill the table, some need new hash functions: none is lost
        w.put(key);
        const auto outcome = w.filter.insert(key, w.truth);
        refused += outcome ? 0u : 1u;
        if (!outcome) {
            EXPECT_EQ(outcome.error().code(), error_code::corrupt) << outcome.error().message();
        }
    }
    EXPECT_GE(refused, 25u);
    for (std::uint64_t key = 0; key < 25; ++key) ASSERT_TRUE(w.filter.may_contain(key)) << "a false negative";
    ASSERT_TRUE(w.filter.rebuild(w.truth)) << "the stored keys are the truth";
    EXPECT_TRUE(w.filter.audit(w.truth));
    EXPECT_NE(w.contents(), before);
}

TEST(cuckooing, a_loaded_filter_answers_and_changes_only_after_a_rebuild) {
    test::cuckoo_world<cuckooing_filter> w{small<cuckooing_filter>()};
    for (std::uint64_t key = 0; key < 60; ++key) ASSERT_TRUE(w.insert(key));
    auto loaded = cuckooing_filter::load(w.saved());
    ASSERT_TRUE(loaded) << loaded.error().message();
    for (std::uint64_t key = 0; key < 5'000; ++key) ASSERT_EQ(loaded->may_contain(key), w.filter.may_contain(key));
    EXPECT_EQ(loaded->shape(), w.filter.shape());
    w.put(1'000);
    const auto refused = loaded->insert(std::uint64_t{1'000}, w.truth);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::mismatch);
    EXPECT_NE(refused.error().message().find("rebuild"), std::string_view::npos);
    EXPECT_EQ(loaded->erase(std::uint64_t{5}, w.truth).error().code(), error_code::mismatch);
    EXPECT_TRUE(*w.plain.contains(w.filter.hash()(5u), integer_key{5u}.view())) << "refused before R erased it";
    EXPECT_FALSE(loaded->adapt(std::uint64_t{5}, w.truth));
    EXPECT_FALSE(loaded->forget("x", w.truth));
    w.take_out(1'000);
    EXPECT_TRUE(loaded->audit(w.truth)) << "stored keys are answered maybe; the index is not compared";
    ASSERT_TRUE(loaded->rebuild(w.truth));
    w.put(1'000);
    EXPECT_EQ(*loaded->insert(std::uint64_t{1'000}, w.truth), insert_outcome::inserted);
    EXPECT_TRUE(loaded->audit(w.truth));
}

TYPED_TEST(cuckoo_family, build_takes_all_keys_of_the_store) {
    test::cuckoo_world<TypeParam> w{small<TypeParam>(2'000, 8)};
    for (std::uint64_t key = 0; key < 2'000; ++key) w.put(key);
    w.replace(12'345, "of a former filter");
    cuckoo_options options = small<TypeParam>(2'000, 8);
    const auto built = TypeParam::build(options, w.truth);
    ASSERT_TRUE(built) << built.error().message();
    EXPECT_TRUE(built->audit(w.truth));
    EXPECT_EQ(built->stats().keys, 2'000u);
    for (std::uint64_t key = 0; key < 2'000; ++key) ASSERT_TRUE(built->may_contain(key));
    options.capacity = 1'000;
    const auto too_small = TypeParam::build(options, w.truth);
    ASSERT_FALSE(too_small) << "twice as many keys as slots";
    EXPECT_NE(too_small.error().message().find("1000"), std::string_view::npos) << too_small.error().message();
}

TYPED_TEST(cuckoo_family, a_moved_filter_answers_as_before) {
    test::cuckoo_world<TypeParam> w{small<TypeParam>()};
    for (std::uint64_t key = 0; key < 50; ++key) ASSERT_TRUE(w.insert(key));
    TypeParam moved = std::move(w.filter);
    for (std::uint64_t key = 0; key < 50; ++key) EXPECT_TRUE(moved.may_contain(key));
    w.filter = std::move(moved);
    ASSERT_TRUE(w.insert(50));
    w.scan();
    w.audit();
    EXPECT_TRUE(w.wrong.empty()) << w.text();
}

TYPED_TEST(cuckoo_family, an_insert_with_room_costs_one_write_and_no_read) {
    cuckoo_options options = small<TypeParam>(1'000, 16);
    test::cuckoo_world<TypeParam> w{options};
    counting_map counted{w.plain_index};
    with_index remote{w.plain, counted};
    for (std::uint64_t key = 0; key < 100; ++key) {
        w.put(key);
        ASSERT_EQ(*w.filter.insert(key, remote), insert_outcome::inserted);
    }
    EXPECT_EQ(counted.counts().batches, 100u);
    EXPECT_EQ(counted.counts().records_changed, 100u);
    EXPECT_EQ(counted.counts().range_reads, w.filter.stats().remote_reads);
    EXPECT_LE(counted.counts().range_reads, 2u) << "a tenth full: hardly any slot is taken";
    EXPECT_EQ(counted.counts().range_erases, 1u) << "before the first change: the index of a former filter";
    EXPECT_EQ(counted.counts().puts + counted.counts().erases + counted.counts().point_reads, 0u);
}

}  // namespace
}  // namespace genista::cuckoo_family_test
