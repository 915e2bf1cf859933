// SIGKILL at every named point and at any moment, over both layouts, life after life in the same
// folder. The next process finds every acknowledged write, and no key of the store is denied
// (docs/crash-tests.md). In the mix: writes past the guard, a thread that repairs beside the
// writers, and forks of history: a copy of the store is used apart, and parts of it come back.
//
// The claim is "never": the test counts kills, not rates. GENISTA_KILLS sets how many, in all
// chains together.
#include <gmock/gmock.h>
#include <rocksdb/db.h>

#include <algorithm>
#include <filesystem>

#include "genista/detail/stores/rocksdb/meta.hpp"
#include "tests/crash/either_store.hpp"
#include "tests/crash/forks.hpp"
#include "tests/crash/harness.hpp"
#include "tests/stores/plain_program.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::kill_sweep_test {
namespace {

using std::chrono::microseconds;

struct chain {
    const char* name;
    bool indexed;
    unsigned threads;
    std::uint64_t seed;
    bool foreign = false;  // some writes go past the guard, and some lives open at once and build behind
    bool mixed = false;    // some lives have a thread that repairs, and between some there is a fork
};

constexpr chain chains[] = {{"clustered_one_thread", false, 1, 11},
                            {"clustered_three_threads", false, 3, 12, false, true},
                            {"indexed_one_thread", true, 1, 13},
                            {"indexed_three_threads", true, 3, 14, false, true},
                            {"indexed_foreign", true, 3, 15, true, true}};

class kill_sweep : public testing::TestWithParam<chain> {
  protected:
    // Arguments of a life with every setting drawn at random.
    std::vector<std::string> any_life() {
        const auto number = [](std::uint64_t n) { return std::to_string(n); };
        const std::uint64_t foreign = GetParam().foreign ? chance_.below(4) : 0;
        const std::uint64_t background = chance_.below(2);
        // The audit needs an exact index. A record without a key is removed by the first query, but
        // only if that query may wait for it and the index is whole.
        const bool audits = !GetParam().foreign || (foreign != 3 && background == 0);
        return {"indexed=" + number(GetParam().indexed ? 1 : 0),
                "foreign=" + number(foreign > 0 ? 1 : 0),
                "audits=" + number(audits ? 1 : 0),
                "build_behind=" + number(foreign == 3 ? 1 : 0),
                "repairs=" + number(GetParam().mixed && chance_.below(3) == 0 ? 1 : 0),
                "threads=" + number(GetParam().threads),
                "seed=" + number(chance_() >> 16),
                "snapshotter_ms=" + number(1 + chance_.below(6)),
                "sync=" + number(chance_.below(8) == 0 ? 1 : 0),
                "wal_kept_mb=" + number(chance_.below(4) == 0 ? 1 : 16),
                "background=" + number(background)};
    }

    end_of_life die_at(std::size_t point) {
        const std::string name{fail_point_names[point]};
        auto life = any_life();
        const bool in_the_snapshotter = name.starts_with("snapshotter.");
        // Beside foreign writes few snapshots are taken. Ingests and range deletes are a small
        // share of all operations.
        const std::uint64_t in_snapshotter = GetParam().foreign ? 2 : 6;
        const bool is_rare = name.starts_with("ingest.") || name.starts_with("range.");
        const std::uint64_t passes = in_the_snapshotter ? in_snapshotter : is_rare ? 4 : 400;
        std::uint64_t pass = 1 + chance_.below(passes);
        if (name.starts_with("index.")) {
            life.emplace_back("rebuild_index=1");
            pass = 1;
        }
        if (in_the_snapshotter && chance_.below(4) == 0) {  // the snapshot of a clean close
            life.emplace_back("snapshotter_ms=0");
            life.emplace_back("operations=100");
            pass = 1;
        } else {
            life.emplace_back("operations=" + std::to_string(in_the_snapshotter ? 5'000 : 100'000));
        }
        // Beside foreign writes there is seldom a moment for a snapshot.
        if (in_the_snapshotter && GetParam().foreign && chance_.below(4) > 0) life.emplace_back("foreign=0");
        life.push_back("point=" + name);
        life.push_back("pass=" + std::to_string(pass));
        return harness_.live(life);
    }
    end_of_life die_anywhere() {
        auto life = any_life();
        life.emplace_back("operations=1000000000");
        if (GetParam().indexed && chance_.below(6) == 0) life.emplace_back("rebuild_index=1");
        return harness_.live(life, microseconds{chance_.below(longest_life_us)});
    }
    end_of_life live_to_the_end(std::uint64_t operations, bool closes) {
        auto life = any_life();
        life.push_back("operations=" + std::to_string(operations));
        life.push_back(closes ? "closes=1" : "closes=0");
        return harness_.live(life);
    }

    // A copy of the store is used apart until it has taken a snapshot, and later parts of the two
    // are mixed. Before that, the one that continues runs one more life: then it has probably
    // passed the sequence numbers that the other's snapshots show.
    end_of_life fork_or_mix() {
        auto life = any_life();
        if (!harness_.is_forked()) {
            harness_.fork();
            life.insert(life.end(), {"operations=5000", "point=snapshotter.pruned",
                                     "pass=" + std::to_string(1 + chance_.below(3)), "foreign=0"});
            return harness_.live_apart(life);
        }
        life.insert(life.end(),
                    {"operations=5000", "point=guard.inserted", "pass=" + std::to_string(300 + chance_.below(600))});
        const mixing how = chance_.below(3) == 0 ? mixing::beside : mixing::instead;
        const bool goes_over = chance_.below(2) == 0;
        const end_of_life end = goes_over ? harness_.live_apart(life) : harness_.live(life);
        if (end == end_of_life::complained) return end;
        if (goes_over)
            harness_.go_over(how);
        else
            harness_.bring_back_snapshots(how);
        return end;
    }

    static constexpr std::uint64_t longest_life_us = 150'000;
    splitmix chance_{GetParam().seed};
    kill_harness harness_;
};

// Makes a database without a guard. The first lives index it, and are killed while they do.
void make_plain_database(kill_harness& harness) {
    const auto db = open_plain(harness.folder() + "/db", small_rocksdb_options(nullptr));
    ASSERT_NE(db, nullptr);
    for (std::uint32_t key = 0; key < ledger::keys; key += 2) {
        const std::uint32_t version = harness.book().new_version();
        ASSERT_TRUE(db->Put({}, ledger::name_of(key), ledger::value_of(version)).ok());
        harness.book().begin(key, version);
        harness.book().acknowledge(key);
    }
}

TEST_P(kill_sweep, nothing_acknowledged_is_lost_and_nothing_stored_is_denied) {
    const std::uint64_t wanted = amount("GENISTA_KILLS", 200, 5'000) / std::size(chains) + 1;
    const std::size_t points = GetParam().indexed ? fail_point_names.size() : points_of_the_clustered_layout;
    std::vector<std::uint64_t> killed_at(points, 0);
    if (GetParam().indexed) make_plain_database(harness_);
    std::size_t next = points_of_the_clustered_layout % points;  // index.started first, if there is one
    while (harness_.kills() < wanted || std::ranges::count(killed_at, 0u) > 0) {
        end_of_life end;
        const auto dice = harness_.kills() < wanted ? chance_.below(10) : 0;
        if (GetParam().mixed && harness_.kills() >= 4 && harness_.kills() < wanted && chance_.below(4) == 0) {
            end = fork_or_mix();
        } else if (dice < 5 || harness_.kills() < 4) {
            std::size_t point = next++ % points;
            while (harness_.kills() >= wanted && killed_at[point] > 0)
                point = next++ % points;  // points that were never reached
            end = die_at(point);
            killed_at[point] += end == end_of_life::killed ? 1 : 0;
        } else if (dice < 9) {
            end = die_anywhere();
        } else {
            end = live_to_the_end(chance_.below(300), chance_.below(2) == 0);
        }
        ASSERT_NE(end, end_of_life::complained) << harness_.story();
        ASSERT_LT(harness_.lives(), 20 + 4 * std::max<std::uint64_t>(wanted, 2 * points)) << "too few lives are killed";
    }
    ASSERT_EQ(live_to_the_end(10, true), end_of_life::lived) << harness_.story();
    ASSERT_EQ(live_to_the_end(0, true), end_of_life::lived) << harness_.story();

    ledger& book = harness_.book();
    for (std::size_t i = 0; i < points; ++i) EXPECT_GT(killed_at[i], 0u) << fail_point_names[i];
    EXPECT_GT(book->from_snapshot.load(), 0u);
    EXPECT_GT(book->rebuilt.load(), 0u);
    std::printf(
        "%s: %llu kills in %llu lives, %u checked (%u from a snapshot, %u rebuilt, %u re-indexed), %u versions "
        "written, %llu forks, %u tasks beside\n",
        GetParam().name, static_cast<unsigned long long>(harness_.kills()),
        static_cast<unsigned long long>(harness_.lives()), book->checked.load(), book->from_snapshot.load(),
        book->rebuilt.load(), book->foreign.load(), book->next_version.load(),
        static_cast<unsigned long long>(harness_.forks()), book->tasks.load());
    EXPECT_EQ(harness_.forks() > 0, GetParam().mixed);
    EXPECT_EQ(book->tasks.load() > 0, GetParam().mixed);
    EXPECT_GE(book->foreign.load(), GetParam().foreign ? 1u : 0u);
}

INSTANTIATE_TEST_SUITE_P(of, kill_sweep, testing::ValuesIn(chains),
                         [](const auto& each) { return std::string{each.param.name}; });

// The control: an erase that updates the filter before the store. After a snapshot in between and a
// kill, the key is in the store and denied. The harness must detect it.
class kill_control : public testing::TestWithParam<bool> {};

TEST_P(kill_control, erasing_from_the_filter_before_the_store_loses_keys) {
    kill_harness harness;
    const std::string layout = GetParam() ? "indexed=1" : "indexed=0";
    ASSERT_EQ(harness.live({layout, "operations=2000"}), end_of_life::lived) << harness.story();
    ASSERT_EQ(harness.live({layout, "operations=2000", "seed=2", "filter_first=1"}), end_of_life::killed);
    ASSERT_EQ(harness.live({layout, "operations=0"}), end_of_life::complained);
    EXPECT_THAT(harness.story(), testing::HasSubstr("a false negative"));
}

void put(kill_harness& harness, either_store& store, std::uint32_t key) {
    const std::uint32_t version = harness.book().new_version();
    harness.book().begin(key, version);
    ASSERT_TRUE(store.put(ledger::name_of(key), ledger::value_of(version)));
    harness.book().acknowledge(key);
}

// The identity that a snapshot of this store would have. In the clustered layout it is one that the
// store has recorded.
rocks::store_id identity_of(either_store& store) {
    const rocks::snapshotter_place place = store.place();
    return place.identity_now(place.recorded && !place.recorded->empty() ? place.recorded->back().id : 0);
}

// The control of forks: a snapshot of the copy claims a life of the store, and keys are denied.
// With its own life it is refused.
TEST_P(kill_control, keys_of_a_fork_are_denied_if_its_lives_are_not_distinguished) {
    const rocks::layout arrangement = GetParam() ? rocks::layout::indexed : rocks::layout::clustered;
    const std::string layout = GetParam() ? "indexed=1" : "indexed=0";
    const store_settings settings{.arrangement = arrangement, .snapshot_on_close = false};
    for (const bool distinguished : {true, false}) {
        kill_harness harness;
        ASSERT_EQ(harness.live({layout, "operations=300"}), end_of_life::lived) << harness.story();
        harness.fork();
        rocks::store_id of_the_store{};
        {
            const auto store = either_store::open(harness.folder() + "/db", settings);
            ASSERT_TRUE(store) << store.error().message();
            of_the_store = identity_of(**store);
            for (std::uint32_t key = 0; key < ledger::keys; key += 10) put(harness, **store, key);
            // Past the sequence numbers of the copy: later writes are repeated from the log.
            for (int i = 0; i < 600; ++i) put(harness, **store, 0);
        }
        std::filesystem::remove_all(snapshots_of(harness.folder() + "/db"));
        {
            const auto copy = either_store::open(harness.apart() + "/db", settings);
            ASSERT_TRUE(copy) << copy.error().message();
            for (int i = 0; i < 400; ++i) ASSERT_TRUE((*copy)->put(ledger::name_of(0), "apart"));
            const auto saved =
                save_as(**copy, distinguished ? identity_of(**copy) : of_the_store, harness.folder() + "/db");
            ASSERT_TRUE(saved) << saved.error().message();
        }
        const end_of_life end = harness.live({layout, "operations=0"});
        EXPECT_EQ(end, distinguished ? end_of_life::lived : end_of_life::complained) << harness.story();
        if (!distinguished) {
            EXPECT_THAT(harness.story(), testing::HasSubstr("a false negative"));
        }
    }
}

// A program without a guard puts keys into a guarded database. If `covers`, it also writes the mark
// that a guard without accounts would write, which says that no write bypassed the guard.
void put_as_another_program(kill_harness& harness, bool covers) {
    plain_program db{harness.folder() + "/db", small_rocksdb_options(nullptr)};
    ASSERT_TRUE(db.is_open());
    rocksdb::ColumnFamilyHandle* const notes = db.family(rocks::meta_family_name);
    ASSERT_NE(notes, nullptr);
    for (std::uint32_t key = 0; key < ledger::keys; ++key) {
        if (harness.book().of(key).acknowledged.load() != ledger::absent) continue;
        const std::uint32_t version = harness.book().new_version();
        harness.book().begin(key, version);
        ASSERT_TRUE(db->Put({}, ledger::name_of(key), ledger::value_of(version)).ok());
        harness.book().acknowledge(key);
    }
    if (covers) {
        auto mark = rocks::mark_tables(*db);
        ASSERT_TRUE(mark) << mark.error().message();
        mark->sequence = db->GetLatestSequenceNumber();
        mark->entries = 1;
        ASSERT_TRUE(rocks::write_mark_entry(*db, *notes, *mark, true).ok());
    }
}

// The control of foreign writers.
TEST(foreign_control, writes_past_the_guard_that_a_mark_covers_are_denied) {
    for (const bool covers : {false, true}) {
        kill_harness harness;
        ASSERT_EQ(harness.live({"indexed=1", "operations=500"}), end_of_life::lived) << harness.story();
        put_as_another_program(harness, covers);
        if (HasFatalFailure()) return;
        const end_of_life end = harness.live({"indexed=1", "operations=0"});
        EXPECT_EQ(end, covers ? end_of_life::complained : end_of_life::lived) << harness.story();
        if (covers) {
            EXPECT_THAT(harness.story(), testing::HasSubstr("a false negative"));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(of, kill_control, testing::Bool(),
                         [](const auto& each) { return std::string{each.param ? "indexed" : "clustered"}; });

}  // namespace
}  // namespace genista::test::kill_sweep_test
