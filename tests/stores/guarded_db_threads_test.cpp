// Many threads on a guarded database, with a history that can be checked: a key that was seen in
// the store or was put is found, and several keys read at once are of one moment.
#include <gtest/gtest.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "genista/detail/base/fail_point.hpp"
#include "tests/stores/guarded_db_world.hpp"
#include "tests/stores/thread_sanitizer.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::guarded_db_threads_test {
namespace {

// Runs each writer once, and repeats each reader until all writers have ended.
void run_all(const std::vector<std::function<void()>>& writers, const std::vector<std::function<void()>>& readers) {
    std::atomic<bool> done{false};
    std::vector<std::thread> writing, reading;
    for (const auto& each : readers) {
        reading.emplace_back([&] {
            while (!done.load()) each();
        });
    }
    for (const auto& each : writers) writing.emplace_back(each);
    for (std::thread& each : writing) each.join();
    done = true;
    for (std::thread& each : reading) each.join();
}

TEST(guarded_db_threads, a_key_seen_by_an_iterator_is_found) {
    const scratch here;
    const auto db = open_guarded(here.path());
    const std::uint64_t keys = scaled<std::uint64_t>(3000, 100000);
    const auto put_all = [&](std::uint64_t first) {
        for (std::uint64_t i = first; i < keys; i += 2) {
            if (i % 8 < 6) {
                EXPECT_OK(db->Put({}, key_number(i), "v"));
                continue;
            }
            rocksdb::WriteBatch batch;
            EXPECT_OK(batch.Put(key_number(i), "v"));
            EXPECT_OK(batch.Put(key_number(i + keys), "v"));
            EXPECT_OK(db->Write({}, &batch));
        }
    };
    std::atomic<std::uint64_t> denied{0}, seen{0};
    const auto look = [&] {
        const std::unique_ptr<rocksdb::Iterator> at{db->NewIterator({})};
        std::string value;
        for (at->SeekToFirst(); at->Valid(); at->Next()) {
            ++seen;
            if (!db->Get({}, at->key(), &value).ok()) ++denied;
        }
    };
    run_all({[&] { put_all(0); }, [&] { put_all(1); }}, {look});
    EXPECT_EQ(denied.load(), 0u);
    EXPECT_GT(seen.load(), 0u);
    expect_sound(*db);
}

std::string table_key(std::uint64_t number) {
    return key_number(number).replace(0, 3, "tab");
}

// Each writer owns the keys with its remainder, so their state is known. Ranges and tables have
// keys of their own.
TEST(guarded_db_threads, every_writer_finds_what_it_wrote_while_all_kinds_of_writes_go_on) {
    const scratch here;
    guarded_db_options options = test_options();
    options.guard.adapt = adapting::in_background;
    options.snapshotter.every = std::chrono::milliseconds{20};
    auto db = open_guarded(here.path(), options);
    constexpr std::uint64_t writers = 3;
    const int steps = scaled(1500, 50000);
    std::vector<std::map<std::string, std::string>> models(writers + 1);
    const auto expect = [&](const std::map<std::string, std::string>& model, const std::string& key) {
        std::string value;
        const rocksdb::Status status = db->Get({}, key, &value);
        const auto there = model.find(key);
        if (there == model.end())
            EXPECT_TRUE(status.IsNotFound()) << key << " " << status.ToString();
        else
            EXPECT_EQ(value, there->second) << key << " " << status.ToString();
    };
    const auto work = [&](std::uint64_t who) {
        splitmix chance{who};
        auto& model = models[who];
        for (int step = 0; step < steps; ++step) {
            const auto any = [&] { return key_number(chance.below(200) * writers + who); };
            const std::string key = any(), value = std::to_string(step);
            const std::uint64_t what = chance.below(10);
            if (what < 3) {
                EXPECT_OK(db->Put({}, key, value));
                model[key] = value;
            } else if (what < 5) {
                EXPECT_OK(db->Delete({}, key));
                model.erase(key);
            } else if (what < 7) {
                const std::string gone = any();
                rocksdb::WriteBatch batch;
                EXPECT_OK(batch.Put(key, value));
                EXPECT_OK(batch.Delete(gone));
                EXPECT_OK(db->Write({}, &batch));
                model[key] = value;
                model.erase(gone);
            }
            expect(model, any());
            expect(model, key);
        }
    };
    const auto ranges_and_tables = [&] {
        splitmix chance{99};
        auto& model = models[writers];
        for (int step = 0; step < steps / 50; ++step) {
            std::map<std::string, std::string> table;
            for (int i = 0; i < 20; ++i) table[table_key(chance.below(300))] = std::to_string(step);
            const std::string file = here.path("table-" + std::to_string(step));
            write_table(file, table);
            EXPECT_OK(db->IngestExternalFile({file}, {}));
            for (const auto& [key, value] : table) model[key] = value;
            for (const auto& [key, value] : table) expect(model, key);
            const std::string begin = table_key(chance.below(300)), end = begin + "~";
            EXPECT_OK(db->DeleteRange({}, db->DefaultColumnFamily(), begin, end));
            model.erase(model.lower_bound(begin), model.lower_bound(end));
            expect(model, begin);
        }
    };
    run_all({[&] { work(0); }, [&] { work(1); }, [&] { work(2); }, ranges_and_tables}, {});
    std::map<std::string, std::string> all;
    for (const auto& model : models) all.insert(model.begin(), model.end());
    db->core().drain();
    for (int life = 0; life < 2; ++life) {
        std::map<std::string, std::string> there;
        std::unique_ptr<rocksdb::Iterator> at{db->NewIterator({})};
        for (at->SeekToFirst(); at->Valid(); at->Next()) there[at->key().ToString()] = at->value().ToString();
        EXPECT_EQ(there, all);
        expect_sound(*db);
        EXPECT_EQ(db->counters().failed_reads, 0u);
        if (life == 1) break;
        at.reset();
        EXPECT_GT(db->snapshotter().snapshots(), 0u);
        EXPECT_EQ(db->snapshotter().failures(), 0u);
        db.reset();
        db = open_guarded(here.path());
    }
}

// Two threads put and delete the same few keys. The outcome is unknown, but index, data and filter
// must agree on it.
TEST(guarded_db_threads, writers_of_the_same_keys_leave_index_data_and_filter_agreeing) {
    const scratch here;
    const auto db = open_guarded(here.path());
    for (int round = 0; round < scaled(20, 1000) && !::testing::Test::HasFailure(); ++round) {
        const auto fight = [&](std::uint64_t seed) {
            splitmix chance{seed};
            for (int step = 0; step < 150; ++step) {
                const std::string key = key_number(chance.below(4)), other = key_number(chance.below(4));
                switch (chance.below(4)) {
                    case 0:
                        EXPECT_OK(db->Delete({}, key));
                        break;
                    case 1: {
                        rocksdb::WriteBatch batch;
                        EXPECT_OK(batch.Delete(key));
                        EXPECT_OK(batch.Put(other, "v"));
                        EXPECT_OK(db->Write({}, &batch));
                        break;
                    }
                    default:
                        EXPECT_OK(db->Put({}, key, "v"));
                }
            }
        };
        const auto seed = static_cast<std::uint64_t>(round) * 3;
        run_all({[&] { fight(seed); }, [&] { fight(seed + 1); }, [&] { fight(seed + 2); }}, {});
        expect_sound(*db);
    }
}

// Another write of both keys between the filter's answer and the store's: a MultiGet that relied on
// the filter would show one key without the other.
struct late_writer {
    static inline guarded_db* db = nullptr;
    static void hook(const char* name) {
        if (std::string_view{name} != "read.sieved") return;
        at_fail_point = nullptr;
        rocksdb::WriteBatch batch;
        EXPECT_OK(batch.Put("ada", "new"));
        EXPECT_OK(batch.Put("bob", "new"));
        EXPECT_OK(db->Write({}, &batch));
    }
};

TEST(guarded_db_threads, a_write_between_the_filter_and_the_store_is_seen_whole) {
    const scratch here;
    const auto db = open_guarded(here.path());
    EXPECT_OK(db->Put({}, "bob", "old"));
    ASSERT_FALSE(db->may_contain("ada"));
    late_writer::db = db.get();
    at_fail_point = &late_writer::hook;
    std::vector<std::string> values;
    const auto statuses = db->MultiGet({}, {rocksdb::Slice{"ada"}, rocksdb::Slice{"bob"}}, &values);
    at_fail_point = nullptr;
    EXPECT_EQ(values, (std::vector<std::string>{"new", "new"}));
    EXPECT_TRUE(statuses[0].ok() && statuses[1].ok());
}

// Both keys are put and deleted together: a MultiGet sees both or neither.
TEST(guarded_db_threads, keys_read_at_once_are_of_one_moment) {
    const scratch here;
    const auto db = open_guarded(here.path());
    const std::string first = key_number(1), second = key_number(2);
    const int rounds = scaled(4000, 200000);
    const auto toggle = [&] {
        for (int i = 0; i < rounds; ++i) {
            rocksdb::WriteBatch on, off;
            EXPECT_OK(on.Put(first, "v"));
            EXPECT_OK(on.Put(second, "v"));
            EXPECT_OK(db->Write({}, &on));
            EXPECT_OK(off.Delete(first));
            EXPECT_OK(off.Delete(second));
            EXPECT_OK(db->Write({}, &off));
        }
    };
    std::atomic<std::uint64_t> halves{0}, both{0}, neither{0};
    const auto look = [&] {
        std::vector<std::string> values;
        const auto statuses = db->MultiGet({}, {rocksdb::Slice{first}, rocksdb::Slice{second}}, &values);
        if (statuses[0].ok() != statuses[1].ok())
            ++halves;
        else
            ++(statuses[0].ok() ? both : neither);
    };
    run_all({toggle}, {look});
    EXPECT_EQ(halves.load(), 0u);
    EXPECT_GT(both.load(), 0u);
    EXPECT_GT(neither.load(), 0u);
    EXPECT_GT(db->counters().local_negatives, 0u);
}

}  // namespace
}  // namespace genista::test::guarded_db_threads_test
