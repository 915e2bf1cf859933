// Saving a broom filter in pieces: no operation waits for the sink, the memory needed does not grow
// with the filter, and no key is missing from the file, whatever is inserted, erased or moved by
// growth between two pieces.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "genista/filters/broom.hpp"
#include "genista/format/sink.hpp"
#include "genista/remote/memory_map.hpp"
#include "tests/support/failing_allocations.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::broom_save_pieces_test {
namespace {

// Writes to memory, and calls a function before each piece of the payload.
class calling_sink final : public sink {
  public:
    explicit calling_sink(std::function<void(std::size_t)> before) : before_{std::move(before)} {}
    result<void> write(std::span<const std::byte> bytes) override {
        before_(writes_++);
        return all_.write(bytes);
    }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return all_.bytes(); }
    [[nodiscard]] std::size_t writes() const noexcept { return writes_; }

  private:
    std::function<void(std::size_t)> before_;
    vector_sink all_;
    std::size_t writes_ = 0;
};

// A store and its filter, one operation at a time. Operations are logged, as in a store's log.
struct world {
    broom_filter filter;
    memory_map remote{};
    struct change {
        std::uint64_t key;
        bool put;
    };
    std::vector<change> log{};

    explicit world(const broom_options& options) : filter{*broom_filter::make(options)} {}

    void put(std::uint64_t key) {
        const integer_key bytes{key};
        ASSERT_TRUE(remote.put(filter.hash()(bytes.view()), bytes.view()));
        const auto in = filter.insert(key, remote);
        ASSERT_TRUE(in) << in.error().message();
        ASSERT_NE(*in, insert_outcome::full);
        log.push_back({key, true});
    }
    void erase(std::uint64_t key) {
        ASSERT_TRUE(filter.erase(key, remote));
        log.push_back({key, false});
    }
    // As after a restart: repeats the log from a point before the save.
    void repeat(broom_filter& loaded, std::size_t from) {
        for (std::size_t i = from; i < log.size(); ++i) {
            if (log[i].put) {
                const auto in = loaded.insert(log[i].key, remote);
                ASSERT_TRUE(in) << in.error().message();
            } else {
                ASSERT_TRUE(loaded.forget(log[i].key, remote));
            }
        }
    }
};

broom_options options_for(std::uint64_t capacity, double rate = 0x1p-8) {
    return {.capacity = capacity,
            .false_positive_rate = rate,
            .hash = hasher{hash_key::from_seed(capacity)},
            .key_is_new = true,
            .random = repeatable(5)};
}

TEST(broom_save_pieces, no_operation_waits_for_the_sink) {
    constexpr std::uint64_t keys = 150'000;
    world w{options_for(keys)};
    for (std::uint64_t key = 0; key < keys; ++key) w.put(key);

    std::mutex mutex;
    std::condition_variable changed;
    bool in_sink = false;
    bool worked = false;
    bool gave_up = false;
    calling_sink out{[&](std::size_t write) {
        if (write != 3) return;  // header, parameters, padding, and then the first piece
        std::unique_lock held{mutex};
        in_sink = true;
        changed.notify_all();
        // With a time limit, so that a save that holds a lock fails this test instead of hanging
        // it.
        gave_up = !changed.wait_for(held, std::chrono::seconds{60}, [&] { return worked; });
    }};
    result<void> saved;
    std::thread saver{[&] { saved = w.filter.save(out); }};
    {
        std::unique_lock held{mutex};
        changed.wait(held, [&] { return in_sink; });
    }
    // Operations in all ranges, those already saved and the others; queries, counts, and a whole
    // growth.
    for (std::uint64_t key = keys; key < keys + 5'000; ++key) w.put(key);
    for (std::uint64_t key = 0; key < 1'000; ++key) w.erase(3 * key);
    EXPECT_EQ(w.filter.stats().keys, keys + 4'000);
    EXPECT_TRUE(w.filter.grow(w.remote));
    EXPECT_GT(w.filter.details().growths, 0u);
    {
        const std::lock_guard held{mutex};
        worked = true;
    }
    changed.notify_all();
    saver.join();
    EXPECT_FALSE(gave_up) << "an operation waited for the sink";
    ASSERT_TRUE(saved) << saved.error().message();
    EXPECT_GT(out.writes(), 6u) << "the file must have several pieces, or nothing was tested";
    auto loaded = broom_filter::load(out.bytes());
    ASSERT_TRUE(loaded) << loaded.error().message();
    w.repeat(*loaded, keys);
    const auto sound = loaded->audit(w.remote);
    EXPECT_TRUE(sound) << sound.error().message();
}

TEST(broom_save_pieces, memory_does_not_grow_with_the_filter) {
    if (test::thread_sanitized) GTEST_SKIP() << "one thread: the other presets run it";
    class null_sink final : public sink {
      public:
        result<void> write(std::span<const std::byte> bytes) override {
            written += bytes.size();
            return {};
        }
        std::uint64_t written = 0;
    };
    std::uint64_t asked_before = 0;
    for (const std::uint64_t keys : {std::uint64_t{100'000}, std::uint64_t{400'000}}) {
        std::vector<std::uint64_t> all(keys);
        for (std::uint64_t i = 0; i < keys; ++i) all[i] = i;
        const auto filter = broom_filter::build(options_for(keys, 0x1p-12), std::span<const std::uint64_t>{all});
        ASSERT_TRUE(filter);
        null_sink out;
        const std::uint64_t before = test::this_thread_allocations.bytes_asked;
        ASSERT_TRUE(filter->save(out));
        const std::uint64_t asked = test::this_thread_allocations.bytes_asked - before;
        EXPECT_GT(out.written, 2 * keys);
        EXPECT_LT(asked, 128u << 10) << "room for a piece, the largest cluster, and the table of salts";
        if (asked_before != 0) {
            EXPECT_EQ(asked, asked_before);
        }
        asked_before = asked;
    }
}

// Operations between any two pieces, in the thread that saves: they would deadlock on any lock held
// by the save.
struct between_pieces {
    const char* name;
    std::uint64_t capacity;
    std::uint64_t keys_before;  // more than the capacity: during a growth, or after it
    std::uint64_t keys_a_piece;
    bool grow_at_once = false;  // a whole growth before the third piece
};

class broom_save_between : public testing::TestWithParam<between_pieces> {};

TEST_P(broom_save_between, no_key_is_missing) {
    if (test::thread_sanitized) GTEST_SKIP() << "one thread: the other presets run it";
    const between_pieces how = GetParam();
    for (const double rate : {0x1p-8, 0x1p-12}) {
        world w{options_for(how.capacity, rate)};
        for (std::uint64_t key = 0; key < how.keys_before; ++key) w.put(key);
        const std::size_t mark = w.log.size();
        test::splitmix chance{how.keys_before};
        std::uint64_t next = how.keys_before;
        calling_sink out{[&](std::size_t write) {
            for (std::uint64_t i = 0; i < how.keys_a_piece; ++i) {
                w.put(next++);
                if (i % 8 == 0) w.erase(chance.below(next));
                if (i % 4 == 0) {
                    ASSERT_TRUE(w.filter.adapt((std::uint64_t{1} << 40) + chance(), w.remote));
                }
            }
            if (how.grow_at_once && write == 5) {
                ASSERT_TRUE(w.filter.grow(w.remote));
            }
        }};
        const auto saved = w.filter.save(out, {.sequence = mark});
        ASSERT_TRUE(saved) << saved.error().message();
        auto loaded = broom_filter::load(out.bytes());
        ASSERT_TRUE(loaded) << loaded.error().message();
        // Before the log is repeated: all keys that were never touched must be there.
        std::vector<bool> touched(next);
        for (std::size_t i = mark; i < w.log.size(); ++i) touched[w.log[i].key] = true;
        for (std::uint64_t key = 0; key < how.keys_before; ++key) {
            ASSERT_TRUE(touched[key] || loaded->may_contain(key)) << key;
        }
        w.repeat(*loaded, mark);
        const auto sound = loaded->audit(w.remote);
        EXPECT_TRUE(sound) << sound.error().message();
        // The loaded filter keeps working: it finishes a growth that was running during the save.
        ASSERT_TRUE(loaded->grow(w.remote));
        EXPECT_TRUE(loaded->audit(w.remote));
        const auto living = w.filter.audit(w.remote);
        EXPECT_TRUE(living) << living.error().message();
    }
}

INSTANTIATE_TEST_SUITE_P(broom_save_pieces, broom_save_between,
                         testing::Values(between_pieces{"at_rest", 100'000, 90'000, 0},
                                         between_pieces{"with_room_for_all", 100'000, 90'000, 500},
                                         between_pieces{"as_growth_begins", 100'000, 102'000, 2'000},
                                         between_pieces{"with_the_sweep_behind_the_save", 100'000, 106'000, 200},
                                         between_pieces{"as_the_sweep_meets_the_save", 50'000, 55'000, 1'000},
                                         between_pieces{"with_growth_from_end_to_end", 100'000, 103'000, 0, true}),
                         [](const auto& each) { return std::string{each.param.name}; });

// After two growths between two pieces the bins that the save still needs no longer exist: the save
// fails.
TEST(broom_save_pieces, a_save_during_which_the_filter_grows_twice_fails) {
    if (test::thread_sanitized) GTEST_SKIP() << "one thread: the other presets run it";
    world w{options_for(150'000)};
    for (std::uint64_t key = 0; key < 150'000; ++key) w.put(key);
    calling_sink out{[&](std::size_t write) {
        if (write != 4) return;
        ASSERT_TRUE(w.filter.grow(w.remote));
        ASSERT_TRUE(w.filter.grow(w.remote));
    }};
    const auto saved = w.filter.save(out);
    ASSERT_FALSE(saved);
    EXPECT_NE(saved.error().message().find("grew twice"), std::string_view::npos) << saved.error().message();
    EXPECT_FALSE(broom_filter::load(out.bytes()));
    vector_sink again;
    ASSERT_TRUE(w.filter.save(again));
    const auto loaded = broom_filter::load(again.bytes());
    ASSERT_TRUE(loaded) << loaded.error().message();
    EXPECT_TRUE(loaded->audit(w.remote));
}

// The bin with the last positions is saved first, with a code for its salt that no other bin has.
// Then this bin is renewed, and another bin so often that every free code would get a new number:
// the file would then contain the wrong salt for the saved bin.
TEST(broom_save_pieces, codes_of_salts_mean_the_same_until_the_end_of_a_save) {
    if (test::thread_sanitized) GTEST_SKIP() << "one thread: the other presets run it";
    broom_options options = options_for(100'000);
    options.history = broom_history::renew;  // every erase renews its bin
    world w{options};
    for (std::uint64_t key = 0; key < 80'000; ++key) w.put(key);
    const auto key_at = [&](bool last, std::uint64_t from) {
        while (true) {
            const std::uint64_t position = w.filter.hash()(integer_key{++from}.view()).position;
            if ((last ? ~position : position) < ~std::uint64_t{0} / 5'000) return from;
        }
    };
    const std::uint64_t high = key_at(true, 1'000'000);
    const std::uint64_t low = key_at(false, 1'000'000);
    const auto renew = [&](std::uint64_t key) {
        w.put(key);
        w.erase(key);
    };
    for (int i = 0; i < 300; ++i) renew(low);  // all codes have had a number
    for (int i = 0; i < 3; ++i) renew(high);
    const std::size_t mark = w.log.size();
    calling_sink out{[&](std::size_t write) {
        if (write != 5) return;
        renew(high);
        for (int i = 0; i < 600; ++i) renew(low);
    }};
    ASSERT_TRUE(w.filter.save(out));
    auto loaded = broom_filter::load(out.bytes());
    ASSERT_TRUE(loaded) << loaded.error().message();
    for (std::uint64_t key = 0; key < 80'000; ++key) ASSERT_TRUE(loaded->may_contain(key)) << key;
    w.repeat(*loaded, mark);
    EXPECT_TRUE(loaded->audit(w.remote));
}

// Writers never stop, except for a moment after each save, in which the saved file is loaded and
// the log repeated.
TEST(broom_save_pieces, saves_beside_writers_lose_nothing) {
    constexpr unsigned writers = 2;
    const auto steps = test::effort(30'000, 4'000, 300'000);
    auto filter = *broom_filter::make(options_for(60'000));
    memory_map remote;
    std::mutex store;         // gives the store's commits an order
    std::shared_mutex quiet;  // shared by writers; exclusive for a check
    struct change {
        std::uint64_t key;
        bool put;
    };
    std::vector<change> log;  // guarded by `store`
    std::atomic<unsigned> at_work{writers};
    std::atomic<std::uint64_t> failures{0};
    const auto write = [&](unsigned who) {
        test::splitmix chance{who + 1};
        for (std::uint64_t step = 0; step < steps; ++step) {
            const std::shared_lock inside{quiet};
            const std::uint64_t key = writers * chance.below(4 * steps) + who;
            const integer_key bytes{key};
            const bool put = chance.below(4) != 0;
            {
                const std::lock_guard held{store};
                const auto done = put ? remote.put(filter.hash()(bytes.view()), bytes.view())
                                      : remote.erase(filter.hash()(bytes.view()), bytes.view());
                if (!done) ++failures;
                log.push_back({key, put});
            }
            if (put) {
                const auto in = filter.insert(key, remote);
                if (!in || *in == insert_outcome::full) ++failures;
            } else if (!filter.forget(key, remote)) {
                ++failures;
            }
        }
        --at_work;
    };
    std::vector<std::thread> threads;
    for (unsigned who = 0; who < writers; ++who) threads.emplace_back(write, who);
    std::uint64_t saves = 0;
    for (bool last = false; !last; ++saves) {
        last = at_work.load() == 0;
        std::size_t mark = 0;
        {
            const std::unique_lock nobody_writes{quiet};
            mark = log.size();
        }
        calling_sink out{[](std::size_t) { std::this_thread::yield(); }};
        const auto saved = filter.save(out);
        EXPECT_TRUE(saved || saved.error().message().find("grew twice") != std::string_view::npos)
            << saved.error().message();
        if (!saved) continue;
        const std::unique_lock nobody_writes{quiet};
        auto loaded = broom_filter::load(out.bytes());
        ASSERT_TRUE(loaded) << loaded.error().message();
        for (std::size_t i = mark; i < log.size(); ++i) {
            if (log[i].put) {
                EXPECT_TRUE(loaded->insert(log[i].key, remote));
            } else {
                EXPECT_TRUE(loaded->forget(log[i].key, remote));
            }
        }
        std::uint64_t denied = 0;
        (void)remote.for_each(0, ~std::uint64_t{0}, [&](const digest& d, key_view) {
            denied += loaded->may_contain(d) ? 0u : 1u;
            return true;
        });
        EXPECT_EQ(denied, 0u);
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(failures.load(), 0u);
    EXPECT_GT(saves, 1u);
    const auto sound = filter.audit(remote);
    EXPECT_TRUE(sound) << sound.error().message();
}

}  // namespace
}  // namespace genista::broom_save_pieces_test
