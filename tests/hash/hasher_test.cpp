// The keyed hash, and a key together with its digest.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "base/cpu.hpp"
#include "genista/hash/hashed_key.hpp"
#include "genista/hash/hasher.hpp"
#include "hash/aes_soft.hpp"
#include "hash/siphash.hpp"
#include "tests/support/every_isa.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::hasher_test {
namespace {

// ---- hasher -------------------------------------------------------------------------------------

// Digests: published AES vectors, the same digests at every instruction set, and integers that hash
// as their bytes do.

aes::block counting_block() {
    aes::block key{};
    for (std::size_t i = 0; i < 16; ++i) key[i] = static_cast<std::uint8_t>(i);
    return key;
}

TEST(aes, fips_197_appendix_c_1) {
    aes::block plain{};
    for (std::size_t i = 0; i < 16; ++i) plain[i] = static_cast<std::uint8_t>(0x11 * i);
    const aes::block cipher = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                               0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
    EXPECT_EQ(aes::encrypt(aes::expand_key(counting_block()), plain), cipher);
}

TEST(aes, fips_197_appendix_b) {
    const aes::block key = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                            0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
    const aes::block plain = {0x32, 0x43, 0xf6, 0xa8, 0x88, 0x5a, 0x30, 0x8d,
                              0x31, 0x31, 0x98, 0xa2, 0xe0, 0x37, 0x07, 0x34};
    const aes::block cipher = {0x39, 0x25, 0x84, 0x1d, 0x02, 0xdc, 0x09, 0xfb,
                               0xdc, 0x11, 0x85, 0x97, 0x19, 0x6a, 0x0b, 0x32};
    EXPECT_EQ(aes::encrypt(aes::expand_key(key), plain), cipher);
}

// The padded block of hasher.hpp, encrypted by the scalar version.
digest short_digest_by_hand(const hash_key& key, const std::string& text) {
    aes::block aes_key{};
    std::copy_n(key.bytes.begin(), 16, aes_key.begin());
    aes::block block{};
    std::memcpy(block.data(), text.data(), text.size());
    block[15] = static_cast<std::uint8_t>(text.size());
    const aes::block cipher = aes::encrypt(aes::expand_key(aes_key), block);
    digest d;
    for (std::size_t i = 0; i < 8; ++i) {
        d.position |= std::uint64_t{cipher[i]} << (8 * i);
        d.seed |= std::uint64_t{cipher[8 + i]} << (8 * i);
    }
    return d;
}

std::string some_text(std::size_t size) {
    std::string text(size, '\0');
    test::splitmix chance{size};
    for (char& c : text) c = static_cast<char>(chance());
    return text;
}

TEST(hasher, keys_up_to_15_bytes_are_one_aes_block_at_every_instruction_set) {
    const hash_key key = hash_key::from_seed(7);
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa scope{level};
        const hasher hash{key};
        for (std::size_t size = 0; size <= 15; ++size) {
            const std::string text = some_text(size);
            EXPECT_EQ(hash(key_view{text}), short_digest_by_hand(key, text)) << size << " bytes, " << to_string(level);
        }
    }
}

TEST(hasher, longer_keys_are_siphash_1_3_with_128_bits) {
    const hash_key key = hash_key::from_seed(7);
    std::uint64_t sip[2] = {0, 0};
    for (std::size_t i = 0; i < 16; ++i) sip[i / 8] |= std::uint64_t{key.bytes[16 + i]} << (8 * (i % 8));
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa scope{level};
        const hasher hash{key};
        for (std::size_t size = 16; size <= 200; ++size) {
            const std::string text = some_text(size);
            const auto wanted = siphash_128<1, 3>(sip[0], sip[1], key_view{text}.data, size);
            EXPECT_EQ(hash(key_view{text}), (digest{wanted[0], wanted[1]})) << size << " bytes, " << to_string(level);
        }
    }
}

// Golden: the digests of these keys under this key must never change. R's order on disk depends on
// them (docs/format.md).
TEST(hasher, golden_digests_never_change) {
    const hasher hash{hash_key::from_seed(42)};
    const hasher trusted{hash_key::from_seed(42), hash_kind::trusted};
    EXPECT_EQ(hash(std::uint64_t{0}), (digest{0xe3fd1f7be80a92e7u, 0x3603cde0952af569u}));
    EXPECT_EQ(hash("broom"), (digest{0xaf746cf9b8d42445u, 0x8fa390ed70f5e862u}));
    EXPECT_EQ(hash("a key of more than fifteen bytes"), (digest{0x22d58b387d336dfeu, 0xf244ac62d1c727afu}));
    EXPECT_EQ(trusted("broom"), (digest{0xa5375fbc939251edu, 0xe39d548fa7d7ef6bu}));
    EXPECT_EQ(hash.key().id(), 0x272c7e994eee4d4bu);
}

TEST(hasher, an_integer_is_its_eight_little_endian_bytes) {
    for (const hash_kind kind : {hash_kind::keyed, hash_kind::trusted}) {
        const hasher hash{hash_key::from_seed(3), kind};
        test::splitmix chance{1};
        for (int i = 0; i < 1000; ++i) {
            const std::uint64_t value = chance();
            std::array<std::byte, 8> bytes{};
            for (std::size_t b = 0; b < 8; ++b) bytes[b] = static_cast<std::byte>(value >> (8 * b));
            EXPECT_EQ(hash(value), hash(key_view{bytes.data(), bytes.size()}));
        }
    }
}

TEST(hasher, batches_of_every_length_equal_single_calls_at_every_instruction_set) {
    test::splitmix chance{5};
    std::vector<std::uint64_t> keys(150);
    for (auto& key : keys) key = chance();
    for (const hash_kind kind : {hash_kind::keyed, hash_kind::trusted}) {
        for (const isa level : test::usable_isas()) {
            const test::scoped_isa scope{level};
            const hasher hash{hash_key::from_seed(9), kind};
            for (std::size_t count = 0; count <= keys.size(); ++count) {
                std::vector<digest> out(count);
                hash(std::span{keys}.first(count), out);
                for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], hash(keys[i])) << to_string(level) << count;
            }
        }
    }
}

TEST(hasher, many_blocks_are_encrypted_as_single_ones_at_every_instruction_set) {
    test::splitmix chance{6};
    std::vector<digest> plain(70);
    for (digest& block : plain) block = digest{chance(), chance()};
    for (const isa level : test::usable_isas()) {
        const test::scoped_isa scope{level};
        const hasher hash{hash_key::from_seed(10)};
        for (std::size_t count = 0; count <= plain.size(); ++count) {
            std::vector<digest> blocks{plain.begin(), plain.begin() + static_cast<std::ptrdiff_t>(count)};
            hash.encrypt(blocks);
            for (std::size_t i = 0; i < count; ++i)
                ASSERT_EQ(blocks[i], hash.encrypt(plain[i].position, plain[i].seed)) << to_string(level) << count;
        }
    }
}

TEST(hasher, keys_that_differ_only_in_trailing_zeros_have_different_digests) {
    const hasher hash{hash_key::from_seed(1)};
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    for (std::size_t size = 0; size <= 40; ++size) {
        const digest d = hash(key_view{std::string(size, '\0')});
        EXPECT_TRUE(seen.emplace(d.position, d.seed).second) << size;
    }
}

TEST(hasher, random_keys_differ_and_have_different_ids) {
    const auto one = hash_key::random();
    const auto two = hash_key::random();
    ASSERT_TRUE(one.has_value());
    ASSERT_TRUE(two.has_value());
    EXPECT_FALSE(*one == *two);
    EXPECT_NE(one->id(), two->id());
    EXPECT_NE(hasher{*one}("x"), hasher{*two}("x"));
}

TEST(hasher, every_byte_of_the_key_matters_to_the_id) {
    const hash_key key = hash_key::from_seed(11);
    for (std::size_t i = 0; i < key.bytes.size(); ++i) {
        hash_key other = key;
        other.bytes[i] ^= 1;
        EXPECT_NE(other.id(), key.id()) << i;
    }
}

TEST(hasher, a_custom_function_sees_the_bytes_of_integers_and_texts) {
    struct probe {
        static digest size_of(const void* context, key_view key) noexcept {
            return digest{key.size, *static_cast<const std::uint64_t*>(context)};
        }
    };
    const std::uint64_t context = 77;
    const hasher hash = hasher::custom(&probe::size_of, &context);
    EXPECT_EQ(hash.kind(), hash_kind::custom);
    EXPECT_EQ(hash(std::uint64_t{5}), (digest{8, 77}));
    EXPECT_EQ(hash("abc"), (digest{3, 77}));
}

}  // namespace
}  // namespace genista::hasher_test

namespace genista::test::hasher_test {
namespace {

// ---- hashed_key ---------------------------------------------------------------------------------

// A key and its digest stay together: who can make a hashed_key, and what it says.

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
}  // namespace genista::test::hasher_test
