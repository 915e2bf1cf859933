// Which of the concepts of filters/filter.hpp each public filter models, and which it does not. The
// compiler is the test.
#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <string_view>

#include "genista/detail/filters/asked_with_key.hpp"
#include "genista/genista.hpp"
#include "genista/oracles/exact_oracle.hpp"
#include "genista/remote/indexed.hpp"

namespace genista::concepts_test {
namespace {

using indexed = with_index<memory_map, memory_map>;

// Of the surface that all of them have, whatever a key of theirs is.
template <class F>
concept counted = requires(const F& f) {
    { F::name } -> std::convertible_to<std::string_view>;
    { f.size() }
    noexcept->std::same_as<std::uint64_t>;
    { f.empty() }
    noexcept->std::same_as<bool>;
    { f.stats() }
    noexcept->std::same_as<filter_stats>;
}
&&std::movable<F> && !std::copyable<F>;

// Take keys by themselves.
template <class F>
constexpr bool is_local = counted<F>&& local_filter<F>&& clearable_filter<F>;
static_assert(is_local<bloom_filter> && is_local<blocked_bloom_filter> && is_local<cleary_filter> &&
              is_local<cuckoo_partial_filter> && is_local<optimal_filter> && is_local<spectral_filter>);
static_assert(sized_filter<bloom_filter> && sized_filter<blocked_bloom_filter> && sized_filter<cleary_filter> &&
              sized_filter<cuckoo_partial_filter>);
static_assert(mergeable_filter<bloom_filter> && mergeable_filter<blocked_bloom_filter>);
static_assert(!mergeable_filter<cleary_filter> && !mergeable_filter<cuckoo_partial_filter> &&
              !mergeable_filter<optimal_filter> && !mergeable_filter<spectral_filter>);
static_assert(locally_erasable_filter<cuckoo_partial_filter> && locally_erasable_filter<optimal_filter> &&
              locally_erasable_filter<spectral_filter>);
static_assert(!locally_erasable_filter<bloom_filter> && !locally_erasable_filter<blocked_bloom_filter> &&
              !locally_erasable_filter<cleary_filter>);

// Built once.
static_assert(counted<bloomier_filter> && membership_filter<bloomier_filter> && !local_filter<bloomier_filter> &&
              !clearable_filter<bloomier_filter>);

// Learn, and answer for the keys of R: emptied with R, by rebuild().
template <class F, class R>
constexpr bool is_adaptive =
    counted<F>&& membership_filter<F>&& adaptive_filter<F, R> && !local_filter<F> && !clearable_filter<F>;
static_assert(is_adaptive<broom_filter, memory_map> && is_adaptive<cascade_filter, indexed> &&
              is_adaptive<cuckooing_filter, indexed>);
static_assert(sized_filter<broom_filter> && sized_filter<cuckooing_filter>);
static_assert(counted<adaptive_bloom_filter> && membership_filter<adaptive_bloom_filter> &&
                  !clearable_filter<adaptive_bloom_filter> && !adaptive_filter<adaptive_bloom_filter, indexed>,
              "it has no erase");
using daisy_broom = daisy_broom_filter<exact_oracle>;
static_assert(counted<daisy_broom> && learning_with_key<daisy_broom, memory_map> && asked_with_key<daisy_broom> &&
                  !clearable_filter<daisy_broom> && !membership_filter<daisy_broom>,
              "a digest tells no class");

// Take the class of a key, or an oracle that knows it.
template <class F>
constexpr bool is_daisy = counted<F>&& class_filter<F>&& counted<with_oracle<F, exact_oracle>>&&
    clearable_filter<with_oracle<F, exact_oracle>>&& counted<sampled_filter<F, exact_oracle>>&&
        clearable_filter<sampled_filter<F, exact_oracle>>&& asked_with_key<with_oracle<F, exact_oracle>>&&
            asked_with_key<sampled_filter<F, exact_oracle>>;
static_assert(is_daisy<daisy_bloom_filter> && is_daisy<daisy_fingerprint_filter>);

// No filters of keys: one denies some on purpose, two are exact sets of numbers.
static_assert(counted<lossy_filter> && clearable_filter<lossy_filter> && !membership_filter<lossy_filter>);
static_assert(counted<succinct_set> && clearable_filter<succinct_set> && !membership_filter<succinct_set>);
static_assert(counted<succinct_multiset> && clearable_filter<succinct_multiset> &&
              !membership_filter<succinct_multiset>);

TEST(concepts, of_every_public_filter_are_checked_by_the_compiler) {
    SUCCEED();
}

}  // namespace
}  // namespace genista::concepts_test
