// A filter of the cuckoo family checks what R answers before it uses it: a record in the wrong
// place is an error and never evicts another key. Records that change while R is read, or that an
// earlier failure left in doubt, are not errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filters/cuckoo_family_filters.hpp"
#include "tests/support/cuckoo_world.hpp"
#include "tests/support/wrapped_maps.hpp"

namespace genista::cuckoo_family_lies_test {
namespace {

template <class F>
class cuckoo_family_lies : public testing::Test {};
TYPED_TEST_SUITE(cuckoo_family_lies, test::cuckoo_family, test::cuckoo_names);

template <class F>
cuckoo_options tight(std::uint64_t seed) {
    return test::cuckoo_made(test::cuckoo_forms<F>().back(), 70, 16, seed);
}

enum class lie_of_place : unsigned char { another_key, no_key, another_key_too, another_seed };

// One slot has another key, none, or two, permanently: an operation that reads it returns an error,
// and a change of hash functions reads all slots.
template <class World>
void tell(World& w, std::uint64_t place, lie_of_place lie) {
    std::string key;
    ASSERT_TRUE(w.plain_index.for_each(place, place, [&](const digest&, key_view held) {
        key = held.text();
        return true;
    }));
    if (lie != lie_of_place::another_key_too) w.replace(place, std::nullopt);
    if (lie == lie_of_place::another_seed) {
        ASSERT_TRUE(*w.plain_index.put(digest{place, 1}, key));
    }
    if (lie == lie_of_place::another_key || lie == lie_of_place::another_key_too) {
        ASSERT_TRUE(*w.plain_index.put(digest{place, 0}, "another program's"));
    }
}

TYPED_TEST(cuckoo_family_lies, new_hash_functions_are_not_made_from_records_that_do_not_fit) {
    const auto rehashing = test::find_rehashing_insert<TypeParam>(tight<TypeParam>);
    ASSERT_TRUE(rehashing.has_value());
    for (const lie_of_place lie :
         {lie_of_place::another_key, lie_of_place::no_key, lie_of_place::another_key_too, lie_of_place::another_seed}) {
        for (std::uint64_t which = 0; which < rehashing->key; ++which) {
            test::cuckoo_world<TypeParam> w{tight<TypeParam>(rehashing->seed)};
            for (std::uint64_t key = 0; key < rehashing->key; ++key) ASSERT_TRUE(w.insert(key));
            ASSERT_EQ(w.filter.rehashes(), 0u);
            tell(w, w.places().at(which), lie);
            const auto sound = w.filter.audit(w.truth);
            ASSERT_FALSE(sound);
            EXPECT_EQ(sound.error().code(), error_code::corrupt);
            const auto before = w.contents();
            w.put(rehashing->key);
            const auto outcome = w.filter.insert(rehashing->key, w.truth);
            ASSERT_FALSE(outcome) << "a wrong record was accepted";
            EXPECT_EQ(outcome.error().code(), error_code::corrupt);
            EXPECT_EQ(w.contents(), before);
            w.scan();
            ASSERT_TRUE(w.wrong.empty()) << w.text();
        }
    }
}

// Answers a range read with the true records, changed by a function of the test.
class altered_map {
  public:
    struct record {
        digest place;
        std::string key;
    };
    explicit altered_map(memory_map& wrapped) noexcept : inner_{wrapped} {}

    result<bool> put(const digest& where, key_view key) { return inner_.put(where, key); }
    result<bool> erase(const digest& where, key_view key) { return inner_.erase(where, key); }
    result<bool> contains(const digest& where, key_view key) { return inner_.contains(where, key); }
    result<void> apply(std::span<const record_change> changes) { return inner_.apply(changes); }
    result<void> erase_range(std::uint64_t first, std::uint64_t last) { return inner_.erase_range(first, last); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        std::vector<record> records;
        const auto read = inner_.for_each(first, last, [&](const digest& place, key_view key) {
            records.push_back({place, std::string{key.text()}});
            return true;
        });
        if (alter) alter(records);
        for (const record& each : records) {
            if (!visit(each.place, key_view{each.key})) break;
        }
        return read;
    }

    std::function<void(std::vector<record>&)> alter;

  private:
    memory_map& inner_;
};

TYPED_TEST(cuckoo_family_lies, slots_outside_the_range_out_of_order_or_repeated_are_an_error) {
    test::cuckoo_world<TypeParam> w{tight<TypeParam>(1)};
    for (std::uint64_t key = 0; key < 60; ++key) ASSERT_TRUE(w.insert(key));
    altered_map index{w.plain_index};
    with_index remote{w.plain, index};
    ASSERT_TRUE(w.filter.audit(remote));
    using records = std::vector<altered_map::record>;
    const std::function<void(records&)> lies[] = {
        [](records& all) {
            all.push_back({digest{all.back().place.position + (std::uint64_t{1} << 39), 0}, all.back().key});
        },
        [](records& all) {
            all.push_back({digest{~std::uint64_t{0}, 0}, all.back().key});
        },
        [](records& all) {
            all.insert(all.begin(), {digest{0, 0}, all.back().key});
        },
        [](records& all) { all.push_back(all.back()); },
        [](records& all) { std::swap(all[3], all[4]); },
        [](records& all) { std::swap(all[3].key, all[4].key); },
        [](records& all) { all[3].place.seed = 1; },
        [](records& all) {
            all.insert(all.begin() + 4, {all[3].place, all[3].key + '+'});
        }};
    for (const auto& lie : lies) {
        index.alter = lie;
        const auto sound = w.filter.audit(remote);
        ASSERT_FALSE(sound);
        EXPECT_EQ(sound.error().code(), error_code::corrupt) << sound.error().message();
    }
}

// Every look at one slot, too.
TYPED_TEST(cuckoo_family_lies, a_slot_with_two_keys_or_another_seed_is_an_error_and_no_key_is_lost) {
    test::cuckoo_world<TypeParam> w{tight<TypeParam>(1)};
    for (std::uint64_t key = 0; key < 60; ++key) ASSERT_TRUE(w.insert(key));
    altered_map index{w.plain_index};
    with_index remote{w.plain, index};
    using records = std::vector<altered_map::record>;
    const std::function<void(records&)> lies[] = {[](records& all) {
                                                      all.push_back({all.front().place, all.front().key + '+'});
                                                  },
                                                  [](records& all) { all.push_back(all.front()); },
                                                  [](records& all) { all.front().place.seed = 1; },
                                                  [](records& all) { ++all.front().place.position; },
                                                  [](records& all) { --all.front().place.position; },
                                                  [](records& all) { all.clear(); }};
    const auto before = w.contents();
    for (const auto& lie : lies) {
        index.alter = [&](records& all) {
            if (!all.empty()) lie(all);
        };
        const auto outcome = w.filter.insert(std::uint64_t{5}, remote);
        ASSERT_FALSE(outcome) << "a wrong record was accepted";
        EXPECT_EQ(outcome.error().code(), error_code::corrupt) << outcome.error().message();
        EXPECT_EQ(w.contents(), before);
    }
    EXPECT_EQ(*w.filter.insert(std::uint64_t{5}, w.truth), insert_outcome::already_present);
    w.scan();
    w.audit();
    EXPECT_TRUE(w.wrong.empty()) << w.text();
}

// Answers every range read with each record of the whole map: true records, outside of the range.
class boundless_map : public memory_map {
  public:
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t, std::uint64_t, Visit&& visit) {
        return memory_map::for_each(0, ~std::uint64_t{0}, visit);
    }
};

TYPED_TEST(cuckoo_family_lies, a_rebuild_refuses_records_repeated_outside_the_range_or_out_of_order) {
    constexpr std::uint64_t keys = 3'000;  // read in several parts
    cuckoo_options options = test::cuckoo_made(test::cuckoo_forms<TypeParam>().back(), keys, 12);
    boundless_map boundless;
    memory_map plain;
    test::disordered_map disordered{plain};
    faulty_map faulty{plain};
    for (std::uint64_t key = 0; key < keys; ++key) {
        ASSERT_TRUE(plain.put((*options.hash)(key), integer_key{key}.view()));
        ASSERT_TRUE(boundless.put((*options.hash)(key), integer_key{key}.view()));
    }
    memory_map index;
    with_index good{plain, index};
    auto filter = TypeParam::build(options, good);
    ASSERT_TRUE(filter);
    const auto refuses = [&](auto& map) {
        with_index remote{map, index};
        const auto laid = filter->rebuild(remote);
        return !laid && laid.error().code() == error_code::corrupt;
    };
    EXPECT_TRUE(refuses(boundless));
    EXPECT_TRUE(refuses(disordered));
    for (const fault_kind kind :
         {fault_kind::duplicate, fault_kind::wrong_key, fault_kind::wrong_seed, fault_kind::out_of_range}) {
        for (std::uint64_t call = 0; call < 8; ++call) {  // in every part of both reads
            ASSERT_TRUE(faulty.set_plan({.rules = {fault_rule::once(kind, call, fault_scope::ranges, 7)}}));
            EXPECT_TRUE(refuses(faulty)) << to_string(kind) << " in range " << call;
        }
    }
    EXPECT_TRUE(filter->audit(good)) << "nothing has changed";
    EXPECT_TRUE(filter->rebuild(good));
    EXPECT_TRUE(filter->audit(good));
}

// Between the two reads of a rebuild one stored key is erased and another is inserted.
class changing_map : public memory_map {
  public:
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        if (++reads == 2) change();
        return memory_map::for_each(first, last, visit);
    }
    int reads = 0;
    std::function<void()> change;
};

TYPED_TEST(cuckoo_family_lies, a_rebuild_leaves_out_keys_erased_or_inserted_between_its_two_reads) {
    const cuckoo_options options = tight<TypeParam>(1);
    changing_map map;
    memory_map index;
    with_index remote{map, index};
    const auto where = [&](std::uint64_t key) { return (*options.hash)(key); };
    for (std::uint64_t key = 0; key < 60; ++key) ASSERT_TRUE(map.put(where(key), integer_key{key}.view()));
    map.change = [&] {
        EXPECT_TRUE(*map.erase(where(7), integer_key{7u}.view()));
        EXPECT_TRUE(*map.put(where(1'000), integer_key{1'000u}.view()));
    };
    auto filter = TypeParam::build(options, remote);
    ASSERT_TRUE(filter) << filter.error().message();
    ASSERT_EQ(map.reads, 2);
    EXPECT_EQ(filter->stats().keys, 59u);
    for (std::uint64_t key = 0; key < 60; ++key) {
        if (key != 7) {
            EXPECT_TRUE(filter->may_contain(key)) << key;
        }
    }
    EXPECT_EQ(*filter->forget(integer_key{7u}.view(), remote), erase_outcome::absent);
    EXPECT_EQ(*filter->insert(std::uint64_t{1'000}, remote), insert_outcome::inserted);
    const auto sound = filter->audit(remote);
    EXPECT_TRUE(sound) << sound.error().message();
}

TYPED_TEST(cuckoo_family_lies, a_rebuild_writes_all_slots_that_were_in_doubt) {
    for (const fault_kind fault : {fault_kind::error_before, fault_kind::error_after}) {
        test::cuckoo_world<TypeParam> w{tight<TypeParam>(1)};
        for (std::uint64_t key = 0; key < 60; ++key) ASSERT_TRUE(w.insert(key));
        ASSERT_TRUE(w.faulty_index.set_plan({.rules = {fault_rule::once(fault, 0, fault_scope::writes)}}));
        ASSERT_FALSE(w.filter.erase(std::uint64_t{5}, w.remote));
        ASSERT_TRUE(w.filter.rebuild(w.remote));
        w.put(1'000);
        ASSERT_TRUE(w.filter.insert(std::uint64_t{1'000}, w.remote));
        EXPECT_EQ(w.filter.stats().keys, 60u);
        EXPECT_EQ(w.records(), 60u) << "the former slots are not written";
        EXPECT_TRUE(w.filter.audit(w.truth));
    }
}

// An index that takes no batch with a long key in it, be it put or erased.
class short_keys_map {
  public:
    explicit short_keys_map(memory_map& wrapped) noexcept : inner_{wrapped} {}

    result<bool> put(const digest& where, key_view key) { return inner_.put(where, key); }
    result<bool> erase(const digest& where, key_view key) { return inner_.erase(where, key); }
    result<bool> contains(const digest& where, key_view key) { return inner_.contains(where, key); }
    result<void> erase_range(std::uint64_t first, std::uint64_t last) { return inner_.erase_range(first, last); }
    result<void> apply(std::span<const record_change> changes) {
        for (const record_change& each : changes) {
            if (each.key.size > 16) return error::make(error_code::invalid_argument, "the key is too long");
        }
        return inner_.apply(changes);
    }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        return inner_.for_each(first, last, std::forward<Visit>(visit));
    }

  private:
    memory_map& inner_;
};

TYPED_TEST(cuckoo_family_lies, a_key_that_the_index_refuses_holds_up_no_other) {
    memory_map records, inside;
    short_keys_map index{inside};
    with_index<memory_map, short_keys_map> remote{records, index};
    auto filter = *TypeParam::make(tight<TypeParam>(5));
    const auto insert = [&](std::uint64_t key) {
        ASSERT_TRUE(records.put(filter.hash()(key), integer_key{key}.view()));
        const auto outcome = filter.insert(key, remote);
        ASSERT_TRUE(outcome) << outcome.error().message();
    };
    for (std::uint64_t key = 0; key < 30; ++key) insert(key);
    const std::string long_key(100, 'k');
    EXPECT_FALSE(filter.insert(key_view{long_key}, remote));
    for (std::uint64_t key = 30; key < 60; ++key) insert(key);
    EXPECT_FALSE(filter.insert(key_view{long_key}, remote));
    ASSERT_TRUE(filter.erase(std::uint64_t{3}, remote));
    for (std::uint64_t key = 0; key < 60; ++key) EXPECT_TRUE(key == 3 || filter.may_contain(key)) << key;
    const auto sound = filter.audit(remote);
    EXPECT_TRUE(sound) << sound.error().message();
}

// Two keys have one digest, and the second comes into R between the two reads of a rebuild, where
// it is the first of the two.
TYPED_TEST(cuckoo_family_lies, a_key_with_the_digest_of_another_takes_no_slot_of_it) {
    const auto first_letters = [](const void*, key_view key) noexcept -> digest {
        return hasher{hash_key::from_seed(4)}(key_view{key.data, std::min<std::size_t>(key.size, 3)});
    };
    cuckoo_options options = tight<TypeParam>(6);
    options.hash = hasher::custom(first_letters, nullptr);
    memory_map records, index;
    test::scripted_map<memory_map> scripted{records};
    with_index<test::scripted_map<memory_map>, memory_map> remote{scripted, index};
    auto filter = *TypeParam::make(options);
    const auto put = [&](std::string_view key) { EXPECT_TRUE(records.put(filter.hash()(key), key_view{key})); };
    put("key~");
    scripted.after_range = [&] { put("key"); };
    EXPECT_FALSE(filter.rebuild(remote));
    ASSERT_TRUE(filter.rebuild(remote));
    EXPECT_EQ(*filter.insert("key", remote), insert_outcome::already_present);
    EXPECT_EQ(*filter.erase("key", remote), erase_outcome::erased);
    EXPECT_TRUE(filter.may_contain("key~"));
    EXPECT_TRUE(filter.audit(remote));
}

}  // namespace
}  // namespace genista::cuckoo_family_lies_test
