// A key and its digest stay together: who can make a hashed_key, and what it says.
#include "genista/hash/hashed_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

namespace genista::test::hashed_key_test {
namespace {

// Only hashing makes one, and nothing takes it for a key that is still to be hashed.
static_assert(!std::is_default_constructible_v<hashed_key>);
static_assert(!std::is_constructible_v<hashed_key, digest, key_view>);
static_assert(!std::is_constructible_v<hashed_key, key_view>);
static_assert(!std::is_constructible_v<hashed_key, hasher, char> && !std::is_constructible_v<hashed_key, hasher, int>);
static_assert(std::is_constructible_v<hashed_key, hasher, const integer_key&>);
static_assert(!std::is_constructible_v<hashed_key, hasher, integer_key>, "the bytes of the integer would be gone");
static_assert(!std::is_constructible_v<hashed_key, hasher, std::uint64_t>, "so would those of a temporary");
static_assert(!std::is_convertible_v<hashed_key, key_view> && !std::is_convertible_v<hashed_key, digest>);
static_assert(std::is_trivially_copyable_v<hashed_key>);

TEST(hashed_key, has_the_digest_of_its_bytes) {
    const hasher hash{hash_key::from_seed(1)};
    const std::string text(60, 'x');
    const hashed_key key{hash, text};
    EXPECT_EQ(key.where(), hash(text));
    EXPECT_EQ(key.text(), text);
    EXPECT_EQ(static_cast<const void*>(key.view().data), text.data()) << "borrowed, not copied";
    const integer_key seven{7u};
    const hashed_key number{hash, seven};
    EXPECT_EQ(number.where(), hash(7u));
    EXPECT_EQ(number.where(), hash(seven.view()));
    EXPECT_EQ(number.text(), seven.view().text());
}

TEST(hashed_key, tells_the_hash_that_made_it_from_others) {
    const hasher hash{hash_key::from_seed(1)}, same{hash_key::from_seed(1)}, other{hash_key::from_seed(2)};
    const hashed_key key{hash, "ada"};
    EXPECT_TRUE(key.is_of(hash) && key.is_of(same));
    EXPECT_FALSE(key.is_of(other));
    EXPECT_FALSE(key.is_of(hasher(hash_key::from_seed(1), hash_kind::trusted)));
    std::string bytes = "ada";
    const hashed_key borrowed{hash, bytes};
    bytes = "bob";
    EXPECT_FALSE(borrowed.is_of(hash)) << "the bytes have changed behind its back";
}

TEST(hashed_key, gives_the_digest_of_another_key_and_its_own_again) {
    const hasher hash{hash_key::from_seed(1)};
    const hashed_key key{hash, "ada"};
    EXPECT_EQ(key.digest_of(hash, std::string{"ada"}), key.where());
    EXPECT_EQ(key.digest_of(hash, "bob"), hash("bob"));
    EXPECT_EQ(key.digest_of(hash, "ad"), hash("ad"));
}

TEST(hashed_key, is_kept_with_its_bytes_in_the_order_of_R) {
    const hasher hash{hash_key::from_seed(1)};
    std::vector<kept_key> kept;
    for (int i = 0; i < 100; ++i)
        kept.emplace_back(hashed_key{hash, "a key of more than fifteen bytes " + std::to_string(i)});
    std::ranges::sort(kept);  // moves them
    for (std::size_t i = 0; i < kept.size(); ++i) {
        EXPECT_TRUE(kept[i].key().is_of(hash));
        EXPECT_EQ(kept[i].key().text(), kept[i].bytes());
        EXPECT_LE(kept[i - (i > 0)].where(), kept[i].where());
    }
    const hasher one_for_all = hasher::custom([](const void*, key_view) noexcept { return digest{1, 2}; }, nullptr);
    EXPECT_LT(kept_key(hashed_key{one_for_all, "ada"}), kept_key(hashed_key{one_for_all, "bob"}));
    EXPECT_EQ(kept_key(hashed_key{hash, "ada"}), kept_key(hashed_key{hash, "ada"}));
}

}  // namespace
}  // namespace genista::test::hashed_key_test
