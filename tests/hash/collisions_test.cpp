// Keys that were constructed to collide do not collide under the keyed hash. A filter with
// MurmurHash64A accepts them all.
//
// The effect of the corpora on each hash (`trusted` is XXH3-128 with a random seed):
//
//     hash              2^10 keys against Murmur      256 pairs against XXH3
//     murmur (control)  all collide under every seed  -
//     trusted           none                          128 bits collide under 54 % of the seeds
//     keyed             none                          none
//
// Hence `trusted` is for keys that no adversary chooses, as its name says.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "genista/filters/bloom.hpp"
#include "genista/hash/hasher.hpp"
#include "tests/support/collision_corpora.hpp"
#include "tests/support/splitmix.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace genista::test::collisions_test {
namespace {

constexpr std::size_t murmur_pairs = 10, xxh3_pairs = 256;

std::vector<std::string> all_keys() {
    auto keys = murmur64a_colliding_keys(murmur_pairs);
    for (auto& pair : xxh3_colliding_pairs(xxh3_pairs)) {
        keys.push_back(std::move(pair.first));
        keys.push_back(std::move(pair.second));
    }
    return keys;
}

// How many keys share a word of the digest with another one.
struct repeated_words {
    std::size_t positions, seeds;
};
repeated_words repeats(const hasher& hash, const std::vector<std::string>& keys) {
    std::vector<std::uint64_t> positions, seeds;
    for (const auto& key : keys) {
        const digest d = hash(key_view{key});
        positions.push_back(d.position);
        seeds.push_back(d.seed);
    }
    const auto count = [](std::vector<std::uint64_t>& words) {
        std::sort(words.begin(), words.end());
        return static_cast<std::size_t>(words.end() - std::unique(words.begin(), words.end()));
    };
    return {count(positions), count(seeds)};
}

TEST(collisions, corpora_hold_different_keys) {
    const auto keys = all_keys();
    EXPECT_EQ(keys.size(), (std::size_t{1} << murmur_pairs) + 2 * xxh3_pairs);
    EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
}

TEST(collisions, the_control_is_murmur_hash_64a) {
    EXPECT_EQ(murmur64a(key_view{}, 0), 0u);
#if defined(__GLIBCXX__) && defined(__x86_64__)
    // The standard library of g++ hashes strings with this function and this seed.
    splitmix random{4};
    for (std::size_t size = 0; size < 200; ++size) {
        std::string text(size, '\0');
        for (char& c : text) c = static_cast<char>(random());
        EXPECT_EQ(murmur64a(text, 0xc70f6907), std::hash<std::string>{}(text)) << "size " << size;
    }
#endif
    for (const std::uint64_t v : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, murmur_factor})
        EXPECT_EQ(murmur_block(murmur_block_inverse(v)), v);
}

TEST(collisions, murmur_keys_collide_under_every_seed) {
    const auto keys = murmur64a_colliding_keys(murmur_pairs);
    splitmix random{2};
    for (int round = 0; round < 300; ++round) {
        const std::uint64_t seed = round == 0 ? 0 : random();
        const hasher hash = murmur_hasher(seed);
        const auto [positions, seeds] = repeats(hash, keys);
        ASSERT_EQ(positions, keys.size() - 1) << "seed " << seed;
        ASSERT_EQ(seeds, keys.size() - 1) << "seed " << seed;
    }
}

TEST(collisions, xxh3_pairs_collide_as_often_as_predicted_in_64_and_in_128_bits) {
    const auto best = xxh3_colliding_pairs(1).front();
    EXPECT_NEAR(1 / best.probability, 64.46, 0.01);
    constexpr int seeds = 100'000;
    int short_hits = 0, long_hits = 0;
    splitmix random{3};
    for (int round = 0; round < seeds; ++round) {
        const std::uint64_t seed = random();
        const auto short_hash = [&](const std::string& key) {
            return XXH3_64bits_withSeed(key.data(), key.size(), seed);
        };
        const auto long_hash = [&](const std::string& key) {
            return XXH3_128bits_withSeed(key.data(), key.size(), seed);
        };
        short_hits += short_hash(best.first) == short_hash(best.second) ? 1 : 0;
        long_hits += XXH128_isEqual(long_hash(best.first), long_hash(best.second));
    }
    EXPECT_EQ(short_hits, long_hits);
    EXPECT_NEAR(short_hits, seeds * best.probability, 6 * 39);  // six standard deviations; 1e-14 if they were random
}

TEST(collisions, keyed_digests_never_collide_on_any_corpus_in_either_word) {
    const auto keys = all_keys();
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const auto [positions, seeds] = repeats(hasher{hash_key::from_seed(seed)}, keys);
        // 1,536 keys, 64 bits: a random function would have a collision once in 2.6e10 such tests.
        ASSERT_EQ(positions, 0u) << "key of seed " << seed;
        ASSERT_EQ(seeds, 0u) << "key of seed " << seed;
    }
}

TEST(collisions, trusted_digests_collide_on_the_xxh3_pairs_under_half_of_all_keys) {
    const auto pairs = xxh3_colliding_pairs(xxh3_pairs);
    double promised = 0;
    for (const auto& pair : pairs) promised += pair.probability;  // no seed makes two of these pairs collide
    EXPECT_NEAR(promised, 0.541, 0.001);
    constexpr int keys = 1'000;
    int fallen = 0;
    for (std::uint64_t seed = 0; seed < keys; ++seed) {
        const hasher hash{hash_key::from_seed(seed), hash_kind::trusted};
        fallen += std::any_of(pairs.begin(), pairs.end(), [&](const colliding_pair& pair) {
            return hash(key_view{pair.first}) == hash(key_view{pair.second});
        });
    }
    EXPECT_NEAR(fallen, keys * promised, 6 * 16);  // measured, documented above; keyed has none at all
}

TEST(collisions, trusted_digests_do_not_collide_on_the_murmur_keys) {
    const auto keys = murmur64a_colliding_keys(murmur_pairs);
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto [positions, seeds] = repeats(hasher{hash_key::from_seed(seed), hash_kind::trusted}, keys);
        ASSERT_EQ(positions + seeds, 0u);
    }
}

// ---- the effect on a filter ----

// How many of the other keys a Bloom filter accepts after the first one was inserted.
std::size_t false_positives(const hasher& hash, const std::vector<std::string>& keys) {
    auto filter = bloom_filter::make({.capacity = 1'000, .false_positive_rate = 1.0 / 256, .hash = hash});
    EXPECT_TRUE(filter);
    EXPECT_EQ(filter->insert(key_view{keys.front()}), insert_outcome::inserted);
    EXPECT_TRUE(filter->may_contain(key_view{keys.front()}));
    return static_cast<std::size_t>(std::count_if(
        keys.begin() + 1, keys.end(), [&](const std::string& key) { return filter->may_contain(key_view{key}); }));
}

TEST(collisions, one_key_makes_a_filter_with_murmur_accept_the_whole_corpus) {
    const auto keys = murmur64a_colliding_keys(murmur_pairs);
    splitmix random{6};
    for (int round = 0; round < 20; ++round) {
        const std::uint64_t seed = random();
        EXPECT_EQ(false_positives(murmur_hasher(seed), keys), keys.size() - 1);
    }
}

TEST(collisions, one_key_makes_a_keyed_filter_accept_nothing_else_of_the_corpus) {
    const auto keys = murmur64a_colliding_keys(murmur_pairs);
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        EXPECT_EQ(false_positives(hasher{hash_key::from_seed(seed)}, keys), 0u);
}

}  // namespace
}  // namespace genista::test::collisions_test
