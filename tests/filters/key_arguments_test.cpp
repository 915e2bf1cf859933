// What a filter takes as a key, and what it refuses to compile (hash/key.hpp): numbers and pointers
// that would silently be another key than the one meant. tests/misuse asks the compiler itself.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "genista/filters/adaptive_bloom.hpp"
#include "genista/filters/blocked_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cascade.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/cuckooing.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/filters/lossy.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "genista/guard/guarded.hpp"
#include "genista/guard/memory_store.hpp"
#include "genista/oracles/exact_oracle.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"

namespace genista::test::key_arguments_test {
namespace {

using indexed = with_index<memory_map, memory_map>;
using guard_type = guarded<broom_filter, memory_store>;

template <class F, class Key>
concept asks = requires(const F& f, Key key) {
    f.may_contain(key);
};
template <class F, class Key>
concept inserts = requires(F& f, Key key) {
    f.insert(key);
};
template <class F, class Key>
concept erases = requires(F& f, Key key) {
    f.erase(key);
};
template <class F, class R, class Key>
concept inserts_with = requires(F& f, R& r, Key key) {
    f.insert(key, r);
};
template <class F, class R, class Key>
concept erases_with = requires(F& f, R& r, Key key) {
    f.erase(key, r);
};
template <class F, class R, class Key>
concept forgets_with = requires(F& f, R& r, Key key) {
    f.forget(key, r);
};
template <class F, class R, class Key>
concept adapts_with = requires(F& f, R& r, Key key) {
    f.adapt(key, r);
};
template <class G, class Key>
concept gets = requires(G& g, Key key) {
    g.get(key);
};
template <class G, class Key>
concept puts = requires(G& g, Key key) {
    g.put(key, "value");
};

template <class... Keys>
struct keys {};
using are_keys = keys<unsigned short, unsigned, unsigned long, unsigned long long, std::uint32_t, std::uint64_t,
                      const char*, std::string, std::string_view, key_view, integer_key, std::span<const std::byte>,
                      std::span<std::byte>, std::vector<std::byte>, std::array<std::byte, 3>>;
using are_none = keys<double, float, int, long, long long, short, char, signed char, unsigned char, wchar_t, char8_t,
                      char16_t, char32_t, bool, std::nullptr_t, std::byte, void*>;

template <class F, class... Keys>
constexpr bool takes(keys<Keys...>) {
    return ((asks<F, Keys> && inserts<F, Keys>)&&...);
}
template <class F, class... Keys>
constexpr bool takes_any(keys<Keys...>) {
    return ((asks<F, Keys> || inserts<F, Keys> || erases<F, Keys>) || ...);
}
template <class F, class R, class... Keys>
constexpr bool takes_with(keys<Keys...>) {
    return ((asks<F, Keys> && inserts_with<F, R, Keys> && adapts_with<F, R, Keys>)&&...);
}
template <class F, class R, class... Keys>
constexpr bool takes_any_with(keys<Keys...>) {
    return ((asks<F, Keys> || inserts_with<F, R, Keys> || erases_with<F, R, Keys> || forgets_with<F, R, Keys> ||
             adapts_with<F, R, Keys>) ||
            ...);
}
template <class G, class... Keys>
constexpr bool guards(keys<Keys...>) {
    return ((asks<G, Keys> && gets<G, Keys> && puts<G, Keys> && erases<G, Keys>)&&...);
}
template <class G, class... Keys>
constexpr bool guards_any(keys<Keys...>) {
    return ((asks<G, Keys> || gets<G, Keys> || puts<G, Keys> || erases<G, Keys>) || ...);
}
// A list in braces has no type that a parameter could deduce: it is asked for by itself.
template <class F>
concept takes_pairs = requires(F& f) {
    f.insert({1, 2});
}
|| requires(F& f) {
    f.may_contain({1, 2});
}
|| requires(F& f) {
    f.insert({0, 2});
}
|| requires(F& f) {
    f.may_contain({1u, 2u});
};
template <class F, class R>
concept takes_pairs_with = requires(F& f, R& r) {
    f.insert({1, 2}, r);
}
|| requires(F& f, R& r) {
    f.erase({1, 2}, r);
}
|| requires(F& f, R& r) {
    f.forget({1, 2}, r);
}
|| requires(F& f, R& r) {
    f.adapt({1, 2}, r);
}
|| requires(F& f, R& r) {
    f.adapt({0, 2}, r);
};
template <class G>
concept gets_pairs = requires(G& g) {
    g.get({1, 2});
}
|| requires(G& g) {
    g.get({0, 2});
}
|| requires(G& g) {
    g.put({1, 2}, "value");
};

template <class F>
class local_keys : public testing::Test {};
using local_filters = testing::Types<bloom_filter, blocked_bloom_filter, cleary_filter, cuckoo_partial_filter,
                                     optimal_filter, spectral_filter, lossy_filter>;
TYPED_TEST_SUITE(local_keys, local_filters);

TYPED_TEST(local_keys, are_unsigned_integers_text_and_bytes_and_nothing_else) {
    static_assert(takes<TypeParam>(are_keys{}));
    static_assert(!takes_any<TypeParam>(are_none{}));
    static_assert(!takes_pairs<TypeParam>);
    static_assert(asks<TypeParam, digest> && inserts<TypeParam, digest>);
    static_assert(!std::is_convertible_v<std::nullptr_t, key_view>);
}

template <class F, class R>
constexpr bool adaptive_takes_keys_alone() {
    return takes_with<F, R>(are_keys{}) && !takes_any_with<F, R>(are_none{}) && !takes_pairs_with<F, R>;
}
static_assert(adaptive_takes_keys_alone<broom_filter, memory_map>());
static_assert(adaptive_takes_keys_alone<daisy_broom_filter<exact_oracle>, memory_map>());
static_assert(adaptive_takes_keys_alone<cascade_filter, indexed>());
static_assert(adaptive_takes_keys_alone<adaptive_bloom_filter, indexed>());
static_assert(adaptive_takes_keys_alone<cuckooing_filter, indexed>());
static_assert(adaptive_filter<broom_filter, memory_map> && adaptive_filter<cuckooing_filter, indexed>);
static_assert(guards<guard_type>(are_keys{}) && !guards_any<guard_type>(are_none{}));
static_assert(!gets_pairs<guard_type>);

TEST(keys, of_every_width_are_the_same_key) {
    auto filter = bloom_filter::make({.capacity = 100});
    ASSERT_TRUE(filter);
    const hasher& hash = filter->hash();
    EXPECT_EQ(hash(static_cast<unsigned short>(7)), hash(std::uint64_t{7}));
    EXPECT_EQ(hash(7u), hash(7ull));
    EXPECT_EQ(hash(0u), hash(std::uint64_t{0})) << "a literal zero is a key and no null pointer";
    EXPECT_EQ(hash(0u), hash(integer_key{0u}.view()));
    EXPECT_EQ(hash(7u), hash(integer_key{7u}.view())) << "an integer is its eight bytes";
    ASSERT_EQ(filter->insert(7u), insert_outcome::inserted);
    EXPECT_TRUE(filter->may_contain(std::uint64_t{7}));
}

TEST(keys, of_signed_integers_are_their_64_bit_twos_complement) {
    EXPECT_EQ(signed_key(7).value(), 7u);
    EXPECT_EQ(signed_key(-1).value(), ~std::uint64_t{0});
    EXPECT_EQ(signed_key(static_cast<signed char>(-1)).value(), ~std::uint64_t{0});
    EXPECT_EQ(signed_key(static_cast<short>(-2)).value(), signed_key(-2ll).value());
    EXPECT_EQ(signed_key(std::numeric_limits<std::int64_t>::min()).value(), std::uint64_t{1} << 63);
}

TEST(keys, of_text_and_of_its_bytes_are_the_same_key) {
    const std::array<std::byte, 3> bytes{std::byte{'a'}, std::byte{'d'}, std::byte{'a'}};
    const hasher hash{hash_key::from_seed(1)};
    EXPECT_EQ(hash("ada"), hash(bytes));
    EXPECT_EQ(hash("ada"), hash(std::vector<std::byte>(bytes.begin(), bytes.end())));
    EXPECT_EQ(hash("ada"), hash(std::string{"ada"}));
    EXPECT_EQ(hash("ada"), hash(key_view{bytes.data(), bytes.size()}));
}

// It was read beyond its end: the key was whatever the memory behind it made of it.
TEST(keys, of_an_array_of_char_end_with_the_array) {
    const struct {
        char name[3];
        char behind[4];
    } field{{'a', 'd', 'a'}, "xyz"};
    const char padded[8] = "ada";
    const hasher hash{hash_key::from_seed(1)};
    EXPECT_EQ(key_view{field.name}.size, 3u);
    EXPECT_EQ(hash(field.name), hash("ada"));
    EXPECT_EQ(hash(padded), hash("ada"));
    EXPECT_EQ(key_view{""}.size, 0u);
}

// A literal zero is a null pointer, too, and std::string_view{0} reads it.
static_assert(!std::is_constructible_v<key_view, int> && !std::is_constructible_v<key_view, unsigned>);
static_assert(!std::is_constructible_v<key_view, std::nullptr_t>);
static_assert(std::is_constructible_v<key_view, std::string_view> && std::is_convertible_v<std::string, key_view>);

}  // namespace
}  // namespace genista::test::key_arguments_test
