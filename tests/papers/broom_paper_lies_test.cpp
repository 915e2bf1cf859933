// broom_paper checks what R answers before it uses it. Most of these tests are for former bugs;
// each begins with what went wrong.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/paper_world.hpp"
#include "tests/support/wrapped_maps.hpp"

namespace genista::broom_paper_lies_test {
namespace {

broom_paper_options options_of(double rate, std::uint64_t seed, std::uint64_t capacity = 100) {
    return {.capacity = capacity, .false_positive_rate = rate, .random = repeatable(seed)};
}
constexpr double rates[] = {0x1p-3, 0x1p-7};  // the small design, the large one

struct record {
    digest where;
    std::string key;
};
std::vector<record> all_of(const memory_map& map) {
    std::vector<record> found;
    EXPECT_TRUE(map.for_each(0, ~std::uint64_t{0}, [&](const digest& where, key_view key) {
        found.push_back({where, std::string{key.text()}});
        return true;
    }));
    return found;
}

// One flipped bit of an answer turned a resident's order record into a ghost's: the frontier passed
// the key without rehashing it, and the key became a false negative.
TEST(broom_paper_lies, a_resident_that_r_reports_as_a_ghost_is_rehashed) {
    for (const double rate : rates) {
        for (std::uint64_t which = 0; which < 4; ++which) {
            test::paper_world w{options_of(rate, 1, 40)};
            for (std::uint64_t key = 0; key < 40; ++key) ASSERT_TRUE(w.insert(key));
            w.set_faults(1e-300);
            for (std::uint64_t call = 0; call < 12; ++call) {
                ASSERT_TRUE(w.faulty_index.set_plan(
                    {.rules = {fault_rule::once(fault_kind::wrong_seed, call, fault_scope::ranges, which)}}));
                for (int i = 0; i < 20; ++i) w.adapt(*w.find_false_positive());
                w.scan();
                ASSERT_TRUE(w.wrong.empty()) << w.text() << "call " << call << ", record " << which;
            }
            w.set_faults(0);
            w.erase(1);
            w.scan();
            w.audit();
            EXPECT_TRUE(w.wrong.empty()) << w.text();
        }
    }
}

// An order record of a key that is not a resident was enough to remove the fingerprint that
// matched: that of another key, which became a false negative.
TEST(broom_paper_lies, no_key_loses_its_fingerprint_to_an_absent_key_in_the_index) {
    for (const double rate : rates) {
        test::paper_world w{options_of(rate, 2, 500), 1'000};
        std::vector<record> stray;
        for (std::uint64_t key = 0; key < 400; ++key) {  // the records of keys 0, 1, …, while they are stored
            ASSERT_TRUE(w.insert(key));
            for (const record& each : all_of(w.plain_index)) {
                if (each.where.position >> 63 == 1 && each.key == integer_key{key}.view().text()) stray.push_back(each);
            }
            w.erase(key);
        }
        ASSERT_GE(stray.size(), 400u);
        for (std::uint64_t key = 400; key < 900; ++key) ASSERT_TRUE(w.insert(key));
        std::uint64_t refused = 0;
        for (std::uint64_t key = 0; key < 400; ++key) {
            if (!w.filter.may_contain(key)) continue;
            for (const record& each : stray) {
                if (each.key == integer_key{key}.view().text()) {
                    ASSERT_TRUE(w.plain_index.put(each.where, key_view{each.key}));
                }
            }
            const auto outcome = w.filter.forget(integer_key{key}.view(), w.truth);
            refused += outcome ? 0u : 1u;
            ASSERT_TRUE(w.filter.adapt(key, w.truth)) << "new hash functions and an index without absent keys";
            w.scan();
            ASSERT_TRUE(w.wrong.empty()) << w.text();
        }
        EXPECT_GT(refused, 0u);
        w.audit();
        EXPECT_TRUE(w.wrong.empty()) << w.text();
        // Through the frontier, too.
        for (const record& each : stray) ASSERT_TRUE(w.plain_index.put(each.where, key_view{each.key}));
        for (int i = 0; i < 200; ++i) {
            ASSERT_TRUE(w.filter.adapt(*w.find_false_positive(), w.truth));
            w.scan();
            ASSERT_TRUE(w.wrong.empty()) << w.text();
        }
        w.audit();
        EXPECT_TRUE(w.wrong.empty()) << w.text();
    }
}

// The index lost an order record, so that the phase ended with one key not rehashed; from then on
// every repair ended the phase in the same way.
TEST(broom_paper_lies, an_index_that_lost_a_record_is_rebuilt) {
    for (const double rate : rates) {
        test::paper_world w{options_of(rate, 3)};
        for (std::uint64_t key = 0; key < 60; ++key) ASSERT_TRUE(w.insert(key));
        for (const record& each : all_of(w.plain_index)) {
            if (each.where.position >> 63 == 0 || each.key != integer_key{7u}.view().text()) continue;
            ASSERT_TRUE(w.plain_index.erase(each.where, key_view{each.key}));
        }
        EXPECT_FALSE(w.filter.audit(w.truth));
        for (int i = 0; i < 40; ++i) ASSERT_TRUE(w.filter.adapt(*w.find_false_positive(), w.truth));
        EXPECT_EQ(w.filter.details().rebuilds, 1u);
        w.scan();
        w.audit();
        EXPECT_TRUE(w.wrong.empty()) << w.text();
    }
}

// An index that reports "erased" and keeps its records was asked to erase them in an endless loop.
class keeping_map : public memory_map {
  public:
    result<bool> erase(const digest&, key_view) noexcept { return true; }
};
TEST(broom_paper_lies, an_index_that_erases_nothing_gives_an_error_and_no_endless_loop) {
    memory_map map;
    keeping_map index;
    with_index remote{map, index};
    for (const std::uint64_t records : {1u, 1'024u, 3'000u}) {
        for (std::uint64_t i = 0; i < records; ++i) ASSERT_TRUE(index.put(digest{i, i}, integer_key{i}.view()));
        auto filter = *broom_paper_filter::make(options_of(0x1p-4, 4));
        const auto outcome = filter.adapt(std::uint64_t{1}, remote);
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code(), error_code::corrupt);
        EXPECT_FALSE(filter.rebuild(remote));
    }
}

// A record that R named wrongly while the index was cleared stayed in the index.
TEST(broom_paper_lies, clearing_an_index_with_wrong_answers_leaves_no_record) {
    for (const fault_kind kind : {fault_kind::wrong_key, fault_kind::wrong_seed, fault_kind::duplicate}) {
        for (std::uint64_t which = 0; which < 40; which += 3) {
            test::paper_world w{options_of(0x1p-3, 5)};
            for (std::uint64_t key = 0; key < 20; ++key) ASSERT_TRUE(w.insert(key));
            for (std::uint64_t key = 0; key < 20; ++key) w.erase(key);
            ASSERT_TRUE(w.insert(21));
            w.take_out(21);  // an orphan: a rebuild does not put it back
            ASSERT_TRUE(w.faulty_index.set_plan({.rules = {fault_rule::once(kind, 0, fault_scope::ranges, which)}}));
            (void)w.filter.rebuild(w.remote);
            ASSERT_TRUE(w.filter.adapt(std::uint64_t{1}, w.remote));
            EXPECT_EQ(w.index_records(), 0u) << to_string(kind) << " " << which;
        }
    }
}

// Answers every range read with each record of the whole map: true records, outside of the range.
class boundless_map : public memory_map {
  public:
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t, std::uint64_t, Visit&& visit) {
        return memory_map::for_each(0, ~std::uint64_t{0}, visit);
    }
};

TEST(broom_paper_lies, records_from_outside_the_range_and_out_of_order_are_errors) {
    for (const double rate : rates) {
        boundless_map everything;
        memory_map map, index;
        test::disordered_map disordered_map{map}, disordered_index{index};
        with_index good{map, index};
        auto filter = *broom_paper_filter::make(options_of(rate, 6));
        for (std::uint64_t key = 0; key < 60; ++key) {
            ASSERT_TRUE(map.put(filter.hash()(key), integer_key{key}.view()));
            ASSERT_TRUE(filter.insert(key, good));
        }
        for (const record& each : all_of(index)) ASSERT_TRUE(everything.put(each.where, key_view{each.key}));
        with_index boundless{map, everything};
        with_index disordered{map, disordered_index};
        with_index no_order{disordered_map, index};
        EXPECT_FALSE(filter.rebuild(no_order));
        ASSERT_TRUE(filter.audit(good)) << "nothing has changed";
        for (std::uint64_t key = 0; key < 60; ++key) {
            const auto outcome = filter.forget(integer_key{key}.view(), boundless);
            EXPECT_TRUE(outcome && *outcome == erase_outcome::absent);
        }
        ASSERT_TRUE(map.erase(filter.hash()(std::uint64_t{3}), integer_key{3u}.view()));
        EXPECT_FALSE(filter.forget(integer_key{3u}.view(), boundless));
        for (std::uint64_t absent_key = 1'000; absent_key < 20'000; ++absent_key) {
            if (filter.may_contain(absent_key)) (void)filter.adapt(absent_key, disordered);
        }
        for (std::uint64_t key = 0; key < 60; ++key) ASSERT_TRUE(key == 3 || filter.may_contain(key)) << key;
        ASSERT_TRUE(filter.adapt(std::uint64_t{4}, good));
        const auto sound = filter.audit(good);
        EXPECT_TRUE(sound) << sound.error().message();
    }
}

// A caller's map that throws at one call.
class throwing_map {
  public:
    throwing_map(memory_map& inner, std::uint64_t& calls, std::uint64_t strikes, int what)
        : inner_{inner}, calls_{calls}, strikes_{strikes}, what_{what} {}
    result<bool> put(const digest& where, key_view key) { return strike(), inner_.put(where, key); }
    result<bool> erase(const digest& where, key_view key) { return strike(), inner_.erase(where, key); }
    result<bool> contains(const digest& where, key_view key) { return strike(), inner_.contains(where, key); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        strike();
        return inner_.for_each(first, last, visit);
    }

  private:
    void strike() {
        if (calls_++ != strikes_) return;
        if (what_ == 0) throw std::runtime_error{"the store failed"};
        if (what_ == 1) throw std::bad_alloc{};
        throw 42;
    }
    memory_map& inner_;
    std::uint64_t& calls_;
    std::uint64_t strikes_;
    int what_;
};

TEST(broom_paper_lies, a_store_that_throws_is_a_store_that_failed) {
    std::uint64_t struck = 0;
    for (const double rate : rates) {
        for (int what = 0; what < 3; ++what) {
            for (std::uint64_t number = 0; number < 60; ++number) {
                test::paper_world w{options_of(rate, 7)};
                for (std::uint64_t key = 0; key < 30; ++key) ASSERT_TRUE(w.insert(key));
                const std::uint64_t absent_key = *w.find_false_positive();
                std::uint64_t calls = 0;
                throwing_map records{w.plain, calls, number, what}, index{w.plain_index, calls, number, what};
                with_index remote{records, index};
                std::uint64_t errors = 0;
                const auto is_bad = [&](const auto& outcome) {
                    if (outcome) return;
                    ++errors;
                    EXPECT_EQ(outcome.error().code(), what == 1 ? error_code::out_of_memory : error_code::io)
                        << outcome.error().message();
                };
                is_bad(w.filter.adapt(absent_key, remote));
                w.put(30);
                is_bad(w.filter.insert(std::uint64_t{30}, remote));
                is_bad(w.filter.rebuild(remote));
                struck += errors;
                w.take_out(30);
                ASSERT_TRUE(w.filter.forget(integer_key{30u}.view(), w.truth));
                w.scan();
                w.audit();
                ASSERT_TRUE(w.wrong.empty()) << w.text() << "call " << number;
            }
        }
    }
    EXPECT_GT(struck, 100u);
}

}  // namespace
}  // namespace genista::broom_paper_lies_test
