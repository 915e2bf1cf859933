// A remote map that throws: in every adaptive filter, and behind a guard, it is the error of a call
// that failed (remote/remote.hpp, "Exceptions"), and no stored key is denied.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "genista/filters/adaptive_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cascade.hpp"
#include "genista/filters/cuckooing.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/guard/guarded.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/daisy_classes.hpp"
#include "tests/support/wrapped_maps.hpp"

namespace genista::test::throwing_remote_test {
namespace {

enum class thrown { runtime_error, bad_alloc, number };

// Throws in place of one call, the `calls`-th from now, and in all that follow until it is
// disarmed.
struct fuse {
    std::optional<std::uint64_t> calls{};
    thrown what = thrown::runtime_error;
    std::uint64_t blown = 0;

    void burn() {
        if (!calls) return;
        if (*calls > 0) {
            --*calls;
            return;
        }
        ++blown;
        if (what == thrown::bad_alloc) throw std::bad_alloc{};
        if (what == thrown::number) throw 7;
        throw std::runtime_error{"the line is cut"};
    }
};

class throwing_map {
  public:
    explicit throwing_map(fuse& burns) : fuse_{&burns} {}

    result<bool> put(const digest& where, key_view key) {
        fuse_->burn();
        return records_.put(where, key);
    }
    result<bool> erase(const digest& where, key_view key) {
        fuse_->burn();
        return records_.erase(where, key);
    }
    result<bool> contains(const digest& where, key_view key) {
        fuse_->burn();
        return records_.contains(where, key);
    }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        fuse_->burn();
        return records_.for_each(first, last, visit);
    }
    result<void> apply(std::span<const record_change> changes) {
        fuse_->burn();
        return records_.apply(changes);
    }
    result<void> erase_range(std::uint64_t first, std::uint64_t last) {
        fuse_->burn();
        return records_.erase_range(first, last);
    }

  private:
    fuse* fuse_;
    memory_map records_;
};

constexpr std::uint64_t stored = 400, capacity = 1'000;
constexpr std::uint64_t absent = std::uint64_t{1} << 40;

template <class Options>
Options options_of() {
    Options options;
    options.capacity = capacity;
    options.false_positive_rate = 1.0 / 64;
    options.hash = hasher{hash_key::from_seed(5)};
    options.random = repeatable(5);
    return options;
}

struct of_broom {
    using filter = broom_filter;
    fuse burns{};
    throwing_map remote{burns};
    filter f = *filter::make(options_of<broom_options>());
    result<filter> build() { return filter::build(options_of<broom_options>(), remote); }
};

struct of_daisy_broom {
    using filter = daisy_broom_filter<scripted_oracle>;
    static constexpr daisy_terms terms{capacity, 0x1p-8};
    static std::shared_ptr<const scripted_oracle> oracle() {
        return std::make_shared<scripted_oracle>(
            [](std::uint64_t key) { return odds_of_class(key % 4 == 0 ? 0 : 7, terms); }, 1);
    }
    static daisy_plan plan() { return plan_of(terms, {{0, {0.25, 0.0001}}, {7, {0.75, 0.9}}}); }
    static daisy_broom_options options() {
        daisy_broom_options options;
        options.hash = hasher{hash_key::from_seed(5)};
        options.random = repeatable(5);
        return options;
    }
    fuse burns{};
    throwing_map remote{burns};
    filter f = *filter::make(options(), plan(), oracle());
    result<filter> build() { return filter::build(options(), plan(), oracle(), remote); }
};

template <class Filter, class Options>
struct of_index {
    using filter = Filter;
    fuse burns{};
    throwing_map records{burns}, index{burns};
    with_index<throwing_map, throwing_map> remote{records, index};
    filter f = *filter::make(options_of<Options>());
    result<filter> build() { return filter::build(options_of<Options>(), remote); }
};

template <class World>
class throwing_remote : public testing::Test {
  protected:
    World world_{};

    void SetUp() override {
        World& w = world_;
        for (std::uint64_t key = 0; key < stored; ++key) {
            ASSERT_TRUE(w.remote.put(w.f.hash()(key), integer_key{key}.view()));
            const auto outcome = w.f.insert(key, w.remote);
            ASSERT_TRUE(outcome) << outcome.error().message();
        }
    }

    // Runs `work` with a fuse of 0 calls, of 1, and so on, until it burns no longer, for each kind
    // of exception. Work returns the error of what it called, if any; `stays(key)`: the key is
    // stored before, after and whatever happens.
    template <class Work, class Stays>
    void burn_all_along(const char* what, Work work, Stays stays) {
        constexpr std::uint64_t most_calls = 60;  // of a rebuild the first ones
        World& w = world_;
        bool burnt = false;
        for (const thrown kind : {thrown::runtime_error, thrown::bad_alloc, thrown::number}) {
            for (std::uint64_t calls = 0; calls < most_calls; ++calls) {
                w.burns = {.calls = calls, .what = kind};
                const std::optional<error> failed = work();
                const bool blown = w.burns.blown > 0;
                w.burns = {};
                burnt = burnt || blown;
                if (failed) {
                    EXPECT_TRUE(blown) << what << ": " << failed->message();
                    EXPECT_EQ(failed->code(), kind == thrown::bad_alloc ? error_code::out_of_memory : error_code::io)
                        << what << ", call " << calls << ": " << failed->message();
                }
                for (std::uint64_t key = 0; key < stored; ++key) {
                    if (!stays(key)) continue;
                    ASSERT_TRUE(w.f.may_contain(key)) << what << ", call " << calls << ": " << key;
                }
                if (!blown) break;
            }
        }
        EXPECT_TRUE(burnt) << what << " never called R: nothing was tested";
    }

    std::optional<std::uint64_t> false_positive(std::uint64_t from) const {
        for (std::uint64_t key = from; key < from + 100'000; ++key) {
            if (world_.f.may_contain(key)) return key;
        }
        return std::nullopt;
    }
};

template <class T>
std::optional<error> error_of(const result<T>& outcome) {
    if (outcome) return std::nullopt;
    return outcome.error();
}

using worlds =
    testing::Types<of_broom, of_daisy_broom, of_index<cascade_filter, cascade_options>,
                   of_index<adaptive_bloom_filter, adaptive_bloom_options>, of_index<cuckooing_filter, cuckoo_options>>;
TYPED_TEST_SUITE(throwing_remote, worlds);

constexpr auto all_keys = [](std::uint64_t) { return true; };

TYPED_TEST(throwing_remote, fails_an_adapt_that_succeeds_later) {
    auto& w = this->world_;
    std::uint64_t from = absent;
    this->burn_all_along(
        "adapt",
        [&]() -> std::optional<error> {
            const auto mistake = this->false_positive(from);
            if (!mistake) return std::nullopt;
            from = *mistake + 1;
            const auto failed = error_of(w.f.adapt(*mistake, w.remote));
            if (failed) {
                w.burns = {.calls = std::nullopt, .what = w.burns.what, .blown = w.burns.blown};
                EXPECT_TRUE(w.f.adapt(*mistake, w.remote));
            }
            return failed;
        },
        all_keys);
    const auto audited = w.f.audit(w.remote);
    EXPECT_TRUE(audited) << audited.error().message();
}

TYPED_TEST(throwing_remote, fails_or_does_not_touch_an_erase) {
    auto& w = this->world_;
    if constexpr (requires { w.f.erase(std::uint64_t{1}, w.remote); }) {
        std::uint64_t next = stored / 2;
        this->burn_all_along(
            "erase", [&] { return error_of(w.f.erase(next < stored ? next++ : next, w.remote)); },
            [](std::uint64_t key) { return key < stored / 2; });
        this->burn_all_along(
            "erase of an absent key",
            [&]() -> std::optional<error> {
                const auto mistake = this->false_positive(absent);
                return mistake ? error_of(w.f.erase(*mistake, w.remote)) : std::nullopt;
            },
            [](std::uint64_t key) { return key < stored / 2; });
    }
}

TYPED_TEST(throwing_remote, never_costs_an_insert_more_than_an_error) {
    auto& w = this->world_;
    std::uint64_t next = stored;
    for (const thrown kind : {thrown::runtime_error, thrown::bad_alloc, thrown::number}) {
        for (std::uint64_t i = 0; i < 150; ++i, ++next) {
            ASSERT_TRUE(w.remote.put(w.f.hash()(next), integer_key{next}.view()));
            w.burns = {.calls = i % 3, .what = kind};
            const auto outcome = w.f.insert(next, w.remote);
            w.burns = {};
            if (outcome) continue;
            ASSERT_TRUE(w.f.insert(next, w.remote));
        }
    }
    for (std::uint64_t key = 0; key < next; ++key) ASSERT_TRUE(w.f.may_contain(key)) << key;
    const auto audited = w.f.audit(w.remote);
    EXPECT_TRUE(audited) << audited.error().message();
}

TYPED_TEST(throwing_remote, fails_a_rebuild_an_audit_and_a_build) {
    auto& w = this->world_;
    this->burn_all_along(
        "audit", [&] { return error_of(w.f.audit(w.remote)); }, all_keys);
    this->burn_all_along(
        "build", [&] { return error_of(w.build()); }, [](std::uint64_t) { return false; });
    this->burn_all_along(
        "rebuild", [&] { return error_of(w.f.rebuild(w.remote)); }, all_keys);
    const auto again = w.f.rebuild(w.remote);
    EXPECT_TRUE(again) << again.error().message();
    const auto audited = w.f.audit(w.remote);
    EXPECT_TRUE(audited) << audited.error().message();
}

// A filter that does not learn is repaired by a read of R that the guard itself makes.
template <class Filter>
void repair_behind(result<Filter> made) {
    ASSERT_TRUE(made);
    fuse burns{};
    store_over<throwing_map> store{made->hash(), burns};
    guarded<Filter, store_over<throwing_map>> guard{*std::move(made), store};
    for (std::uint64_t key = 0; key < stored; ++key) ASSERT_TRUE(guard.put(key, "value"));
    for (const thrown kind : {thrown::runtime_error, thrown::bad_alloc, thrown::number}) {
        guard.core().need_repair_everywhere();
        burns = {.calls = 2, .what = kind};
        EXPECT_FALSE(guard.repair());
        burns = {};
        EXPECT_GT(guard.core().pending_ranges(), 0u);
        EXPECT_TRUE(guard.repair());
        EXPECT_EQ(guard.core().pending_ranges(), 0u);
        for (std::uint64_t key = 0; key < stored; ++key) ASSERT_TRUE(guard.may_contain(key)) << key;
    }
}

TEST(throwing_remote_of_a_guard, fails_a_repair_of_a_filter_that_does_not_learn) {
    repair_behind(bloom_filter::make({.capacity = capacity}));
}

TEST(throwing_remote_of_a_guard, fails_a_repair_of_a_broom_filter) {
    repair_behind(broom_filter::make({.capacity = capacity}));
}

}  // namespace
}  // namespace genista::test::throwing_remote_test
