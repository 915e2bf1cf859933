// Readers, writers and adapters on one small table, so that every bin is contended. A key that is
// stored throughout a query is answered maybe, and the law holds in every bin at the end. Made for
// ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "filters/broom/core.hpp"
#include "genista/detail/filters/broom/range_source.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::broom::broom_core_threads_test {
namespace {

struct shared_world {
    hasher hash{hash_key::from_seed(1)};
    memory_map remote;
    std::unique_ptr<core> made;
    core& filter;

    shared_world(std::uint64_t bins, double rate)
        : made{*core::make({.grows = false, .random = repeatable(1)}, hash, shape::for_rate(rate), bins)},
          filter{*made} {}

    static key_view bytes(const std::uint64_t& key) {
        return key_view{reinterpret_cast<const std::byte*>(&key), sizeof key};
    }
    remote_source<memory_map> source(const std::uint64_t& key) { return {remote, hash, hash(key), bytes(key)}; }
    bool insert(std::uint64_t key) {
        auto from = source(key);
        if (!remote.put(hash(key), bytes(key))) return false;
        const auto outcome = filter.insert(hash(key), from);
        return outcome && *outcome != insert_outcome::full;
    }
    bool erase(std::uint64_t key) {
        auto from = source(key);
        const auto outcome = filter.erase(hash(key), from);
        return outcome && *outcome == erase_outcome::erased;
    }
    bool contains(std::uint64_t key) const { return filter.contains(hash(key)); }
    bool adapt(std::uint64_t key) {
        auto from = source(key);
        return filter.adapt(hash(key), from).has_value();
    }
};

class broom_core_threads : public testing::TestWithParam<double> {};

TEST_P(broom_core_threads, no_stored_key_is_ever_answered_no) {
    constexpr std::uint64_t bins = 24;
    constexpr std::uint64_t permanent = bins * 20;
    constexpr std::uint64_t own_keys = bins * 12;  // per writer; two writers fill the lines
    shared_world w{bins, GetParam()};
    for (std::uint64_t key = 0; key < permanent; ++key) ASSERT_TRUE(w.insert(key));

    const std::uint64_t steps = test::effort(20'000, 8'000, 2'000'000);
    std::atomic<std::uint64_t> denied = 0;
    std::atomic<std::uint64_t> failed = 0;
    std::atomic<unsigned> writing = 2;
    std::vector<std::set<std::uint64_t>> members(2);
    const auto write = [&](std::uint64_t number) {
        test::splitmix chance{number};
        std::set<std::uint64_t>& mine = members[number];
        for (std::uint64_t step = 0; step < steps; ++step) {
            const std::uint64_t key = ((number + 1) << 32) + chance.below(own_keys);
            if (mine.contains(key)) {
                denied += w.contains(key) ? 0u : 1u;
                failed += w.erase(key) ? 0u : 1u;
                mine.erase(key);
            } else {
                failed += w.insert(key) ? 0u : 1u;
                denied += w.contains(key) ? 0u : 1u;
                mine.insert(key);
            }
        }
        --writing;
    };
    const auto read = [&] {
        test::splitmix chance{7};
        while (writing.load() > 0) denied += w.contains(chance.below(permanent)) ? 0u : 1u;
    };
    const auto adapt = [&] {
        test::splitmix chance{8};
        while (writing.load() > 0) {
            const std::uint64_t key = (std::uint64_t{9} << 40) + chance.below(1'000'000);
            if (w.contains(key)) failed += w.adapt(key) ? 0u : 1u;
        }
    };
    {
        std::vector<std::jthread> team;
        team.emplace_back(write, 0);
        team.emplace_back(write, 1);
        team.emplace_back(read);
        team.emplace_back(adapt);
    }
    EXPECT_EQ(denied.load(), 0u) << "false negatives";
    EXPECT_EQ(failed.load(), 0u);
    const std::uint64_t nobody = 0;
    auto from = w.source(nobody);
    const auto sound = w.filter.audit(from);
    EXPECT_TRUE(sound) << sound.error().message();
    EXPECT_EQ(w.filter.keys(), permanent + members[0].size() + members[1].size());
}

INSTANTIATE_TEST_SUITE_P(rates, broom_core_threads, testing::Values(0x1p-8, 0x1p-13));

}  // namespace
}  // namespace genista::broom::broom_core_threads_test
