// broom_paper with several threads: a key that is stored throughout a query is never answered no,
// while other threads insert, erase, forget, adapt and rehash all keys. Afterwards the filter
// agrees with R, and a copy saved during the run answers maybe for every stored key, too.
//
// A key has one owner among the writers, and a stamp that counts the owner's steps: odd from the
// moment insert returned, even from the moment before erase begins. The same odd number before and
// after a query means that the key was stored throughout.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "genista/format/sink.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "papers/broom_paper.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::broom_paper_threads_test {
namespace {

constexpr std::uint64_t writers = 2, keys_per_writer = 60;

struct shared_filter {
    memory_map map, index;
    with_index<memory_map, memory_map> remote{map, index};
    broom_paper_filter filter;
    std::array<std::atomic<std::uint64_t>, writers * keys_per_writer> stamps{};
    std::atomic<std::uint64_t> denied{0}, failed{0}, judged{0}, adapted{0}, copies{0};
    std::atomic<std::uint64_t> writing{writers};

    explicit shared_filter(const broom_paper_options& options) : filter{*broom_paper_filter::make(options)} {}

    void write(std::uint64_t number, std::uint64_t steps) {
        test::splitmix chance{number + 1};
        // Continues until the readers have judged enough queries.
        for (std::uint64_t step = 0; step < steps || (judged < 2'000 && step < 50 * steps); ++step) {
            const std::uint64_t key = chance.below(keys_per_writer) * writers + number;
            const digest where = filter.hash()(key);
            if (stamps[key].load() % 2 == 0) {
                if (!map.put(where, integer_key{key}.view())) ++failed;
                const auto outcome = filter.insert(key, remote);
                if (!outcome || *outcome == insert_outcome::full) ++failed;
                ++stamps[key];
            } else {
                ++stamps[key];
                if (step % 2 == 0) {
                    const auto outcome = filter.erase(key, remote);
                    if (!outcome || *outcome != erase_outcome::erased) ++failed;
                } else {  // absent: another thread rehashed all keys in between
                    if (!map.erase(where, integer_key{key}.view())) ++failed;
                    if (!filter.forget(integer_key{key}.view(), remote)) ++failed;
                }
            }
        }
        --writing;
    }
    void read(std::uint64_t seed) {
        test::splitmix chance{seed};
        constexpr std::size_t batch = 70;
        std::array<std::uint64_t, batch> keys{}, before{};
        std::array<std::uint64_t, words_for(batch)> answers{};
        do {
            for (std::size_t i = 0; i < batch; ++i) {
                keys[i] = chance.below(stamps.size());
                before[i] = stamps[keys[i]].load();
            }
            filter.may_contain(std::span<const std::uint64_t>{keys}, answers);
            for (std::size_t i = 0; i < batch; ++i) {
                if (before[i] % 2 == 0 || stamps[keys[i]].load() != before[i]) continue;
                ++judged;
                denied += (answers[i / 64] >> (i % 64) & 1) != 0 ? 0u : 1u;
            }
        } while (writing > 0);
    }
    void adapt() {
        for (std::uint64_t absent_key = std::uint64_t{1} << 40; writing > 0; ++absent_key) {
            if (!filter.may_contain(absent_key)) continue;
            if (!filter.adapt(absent_key, remote)) ++failed;
            ++adapted;
        }
    }
    void maintain() {
        std::vector<std::uint64_t> before(stamps.size());
        do {
            if (!filter.rebuild(remote)) ++failed;
            (void)filter.details();
            for (std::size_t key = 0; key < before.size(); ++key) before[key] = stamps[key].load();
            vector_sink out;
            if (!filter.save(out)) ++failed;
            std::vector<bool> stayed(before.size());
            for (std::size_t key = 0; key < before.size(); ++key)
                stayed[key] = before[key] % 2 == 1 && stamps[key].load() == before[key];
            const auto copy = broom_paper_filter::load(out.bytes());
            if (!copy) ++failed;
            for (std::uint64_t key = 0; copy && key < before.size(); ++key)
                denied += stayed[key] && !copy->may_contain(key) ? 1u : 0u;
            ++copies;
        } while (writing > 0);
    }
};

TEST(broom_paper_threads, no_false_negative_while_others_write) {
    for (const double rate : {0x1p-2, 0x1p-4, 0x1p-7}) {
        for (const bool maintained : {false, true}) {
            shared_filter shared{{.capacity = writers * keys_per_writer,
                                  .false_positive_rate = rate,
                                  .hash = hasher{hash_key::from_seed(3)},
                                  .repeatable = 3}};
            const auto steps = test::scaled<std::uint64_t>(400, 5'000);
            {
                std::vector<std::jthread> team;
                for (std::uint64_t i = 0; i < writers; ++i) team.emplace_back([&, i] { shared.write(i, steps); });
                team.emplace_back([&] { shared.read(5); });
                team.emplace_back([&] { shared.read(6); });
                team.emplace_back([&] { shared.adapt(); });
                if (maintained) team.emplace_back([&] { shared.maintain(); });
            }
            EXPECT_EQ(shared.denied, 0u);
            EXPECT_EQ(shared.failed, 0u);
            EXPECT_GT(shared.judged, 100u);
            std::uint64_t members = 0;
            for (std::uint64_t key = 0; key < shared.stamps.size(); ++key) {
                if (shared.stamps[key] % 2 == 0) continue;
                ++members;
                EXPECT_TRUE(shared.filter.may_contain(key)) << key;
            }
            EXPECT_EQ(shared.filter.stats().keys, members);
            const auto sound = shared.filter.audit(shared.remote);
            EXPECT_TRUE(sound) << sound.error().message();
        }
    }
}

// Building tables of some pages takes long enough for queries to run meanwhile.
TEST(broom_paper_threads, no_false_negative_while_all_keys_get_new_hash_functions) {
    constexpr std::uint64_t keys = 4'000;
    shared_filter shared{{.capacity = keys, .hash = hasher{hash_key::from_seed(5)}, .repeatable = 5}};
    for (std::uint64_t key = 0; key < keys; ++key) {
        ASSERT_TRUE(shared.map.put(shared.filter.hash()(key), integer_key{key}.view()));
    }
    ASSERT_TRUE(shared.filter.rebuild(shared.remote));
    std::atomic<bool> done{false};
    {
        std::jthread reader{[&] {
            while (!done) {
                for (std::uint64_t key = 0; key < keys; ++key)
                    shared.denied += shared.filter.may_contain(key) ? 0u : 1u;
            }
        }};
        for (int i = 0; i < test::scaled(3, 50); ++i) {
            if (!shared.filter.rebuild(shared.remote)) ++shared.failed;
            for (std::uint64_t absent_key = 0; absent_key < 20'000; ++absent_key) {
                const std::uint64_t key = (std::uint64_t{1} << 40) + absent_key;
                if (shared.filter.may_contain(key) && !shared.filter.adapt(key, shared.remote)) ++shared.failed;
            }
        }
        done = true;
    }
    EXPECT_EQ(shared.denied, 0u);
    EXPECT_EQ(shared.failed, 0u);
    EXPECT_TRUE(shared.filter.audit(shared.remote));
}

}  // namespace
}  // namespace genista::broom_paper_threads_test
