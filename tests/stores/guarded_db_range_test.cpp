// Range deletes of a guarded database: atomic for the caller, with bounded waits for other threads,
// and finished after a crash.
#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/write_batch.h>

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "genista/detail/base/fail_point.hpp"
#include "stores/rocksdb/batch_plan.hpp"
#include "stores/rocksdb/range_deletes.hpp"
#include "tests/stores/guarded_db_world.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::guarded_db_range_test {
namespace {

constexpr std::uint64_t keys = 5 * rocks::range_delete_piece + 17;

void fill(guarded_db& db, std::uint64_t count = keys) {
    for (std::uint64_t i = 0; i < count; ++i) EXPECT_OK(db.Put({}, key_number(i), "v"));
}

// Calls the test at the moments of a range delete, in the thread that deletes. A lock held at such
// a moment would be taken twice.
struct meanwhile {
    static inline std::function<void(std::string_view)> call{};
    static void hook(const char* name) {
        if (std::string_view{name}.starts_with("range.") && call) call(name);
    }
    explicit meanwhile(std::function<void(std::string_view)> what) {
        call = std::move(what);
        at_fail_point = &hook;
    }
    meanwhile(const meanwhile&) = delete;
    meanwhile& operator=(const meanwhile&) = delete;
    ~meanwhile() {
        at_fail_point = nullptr;
        call = {};
    }
};

TEST(guarded_db_range, other_threads_write_between_the_pieces_and_their_puts_stay) {
    const scratch here;
    const auto db = open_guarded(here.path());
    fill(*db);
    std::uint64_t pieces = 0;
    std::map<std::string, std::string> back;
    {
        const meanwhile other{[&](std::string_view at) {
            if (at == "range.committed") {
                const std::unique_ptr<rocksdb::Iterator> all{db->NewIterator({})};
                all->SeekToFirst();
                EXPECT_FALSE(all->Valid()) << "all at once, as RocksDB promises";
            }
            if (at != "range.piece_read" && at != "range.committed") return;
            pieces += at == "range.piece_read" ? 1u : 0u;
            // Keys of every piece: some before their records are removed, some after.
            for (std::uint64_t i = pieces; i < keys; i += 97) {
                back[key_number(i)] = std::to_string(pieces);
                EXPECT_OK(db->Put({}, key_number(i), std::to_string(pieces)));
            }
            EXPECT_OK(db->Put({}, "outside", "v"));
            EXPECT_OK(db->Delete({}, key_number(1)));
            back.erase(key_number(1));
        }};
        EXPECT_OK(db->DeleteRange({}, db->DefaultColumnFamily(), "key-", "key."));
    }
    EXPECT_GE(pieces, keys / rocks::range_delete_piece);
    std::string value;
    for (std::uint64_t i = 0; i < keys; ++i) {
        const auto got = db->Get({}, key_number(i), &value);
        const auto expected = back.find(key_number(i));
        if (expected == back.end()) {
            EXPECT_TRUE(got.IsNotFound()) << i;
        } else {
            EXPECT_TRUE(got.ok() && value == expected->second) << i;
        }
    }
    expect_sound(*db);
}

TEST(guarded_db_range, a_crash_between_two_pieces_is_finished_when_it_is_opened) {
    for (const std::string_view where : {"range.committed", "range.piece_written", "range.cleared"}) {
        const scratch here;
        {
            const auto db = open_guarded(here.path());
            fill(*db);
            EXPECT_OK(db->Put({}, "zebra", "v"));
            std::uint64_t passed = 0;
            const meanwhile crash{[&](std::string_view at) {
                if (at == where && ++passed == (where == "range.piece_written" ? 2u : 1u))
                    throw std::runtime_error{"stop"};
            }};
            EXPECT_THROW((void)db->DeleteRange({}, db->DefaultColumnFamily(), "key-", "key."), std::runtime_error);
            EXPECT_OK(db->Put({}, key_number(3), "again"));
            if (where != "range.cleared") {
                EXPECT_FALSE(db->audit()) << "records without keys, or nothing was tested";
            }
        }
        const auto db = open_guarded(here.path());
        expect_sound(*db);
        std::string value;
        EXPECT_OK(db->Get({}, key_number(3), &value));
        EXPECT_OK(db->Get({}, "zebra", &value));
        EXPECT_TRUE(db->Get({}, key_number(4), &value).IsNotFound());
        // The notes are removed too.
        std::vector<std::string> names;
        EXPECT_OK(db->Close());
        ASSERT_TRUE(rocksdb::DB::ListColumnFamilies({}, here.path(), &names).ok());
    }
}

TEST(guarded_db_range, a_batch_that_replaces_a_range_is_atomic) {
    const scratch here;
    const auto db = open_guarded(here.path());
    fill(*db);
    rocksdb::WriteBatch batch;
    EXPECT_OK(batch.Put(key_number(7), "before the range"));
    EXPECT_OK(batch.DeleteRange("key-", "key."));
    EXPECT_OK(batch.Put(key_number(8), "after the range"));
    EXPECT_OK(batch.Put("other", "v"));
    const meanwhile other{[&](std::string_view at) {
        if (at != "range.committed") return;
        std::string value;
        EXPECT_OK(db->Get({}, key_number(8), &value));
        EXPECT_TRUE(db->Get({}, key_number(7), &value).IsNotFound());
    }};
    EXPECT_OK(db->Write({}, &batch));
    std::string value;
    EXPECT_OK(db->Get({}, key_number(8), &value));
    EXPECT_EQ(value, "after the range");
    EXPECT_TRUE(db->Get({}, key_number(7), &value).IsNotFound());
    EXPECT_OK(db->Get({}, "other", &value));
    expect_sound(*db);
}

TEST(guarded_db_range, writers_and_range_deletes_of_the_same_keys_leave_data_and_index_alike) {
    const scratch here;
    const auto db = open_guarded(here.path());
    fill(*db, 1'000);
    const auto write = [&](std::uint64_t seed) {
        splitmix chance{seed};
        for (int i = 0; i < 1'500; ++i) {
            const std::string key = key_number(chance.below(1'000));
            if (chance.below(3) == 0)
                EXPECT_OK(db->Delete({}, key));
            else
                EXPECT_OK(db->Put({}, key, "v"));
        }
    };
    const auto sweep = [&](std::uint64_t seed) {
        splitmix chance{seed};
        for (int i = 0; i < 12; ++i) {
            const std::uint64_t from = chance.below(900);
            EXPECT_OK(db->DeleteRange({}, db->DefaultColumnFamily(), key_number(from), key_number(from + 300)));
        }
    };
    std::vector<std::thread> all;
    all.emplace_back(write, 1);
    all.emplace_back(write, 2);
    all.emplace_back(sweep, 3);
    all.emplace_back(sweep, 4);
    for (int i = 0; i < 3; ++i) expect_sound(*db);
    for (std::thread& each : all) each.join();
    expect_sound(*db);
    const std::unique_ptr<rocksdb::Iterator> at{db->NewIterator({})};
    for (at->SeekToFirst(); at->Valid(); at->Next()) EXPECT_TRUE(db->may_contain(at->key()));
}

// Counts comparisons of keys.
class counting_order final : public rocksdb::Comparator {
  public:
    int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
        ++compared;
        return a.compare(b);
    }
    const char* Name() const override { return "counting"; }
    void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
    void FindShortSuccessor(std::string*) const override {}
    mutable std::uint64_t compared = 0;
};

std::map<std::string, bool> ends_of(rocksdb::WriteBatch& batch, const rocksdb::Comparator& order) {
    const hasher hash{hash_key::from_seed(1)};
    rocks::batch_plan plan{hash, 100, 101};
    EXPECT_OK(plan.read(batch));
    EXPECT_OK(plan.apply_ranges(order));
    plan.finish();
    std::map<std::string, bool> ends;
    for (const auto& each : plan.puts()) ends[std::string{each.key.text()}] = true;
    for (const auto& each : plan.deletions()) ends[std::string{each.key.text()}] = false;
    return ends;
}

TEST(guarded_db_range, ranges_in_a_batch_meet_the_keys_put_before_them_and_no_others) {
    splitmix chance{11};
    for (int round = 0; round < 300; ++round) {
        rocksdb::WriteBatch batch;
        std::map<std::string, bool> model;
        for (std::uint64_t i = 0, all = chance.below(40); i < all; ++i) {
            const std::string key = key_number(chance.below(30));
            if (chance.below(3) == 0) {
                const std::string end = key_number(chance.below(40));
                if (end < key) continue;
                EXPECT_OK(batch.DeleteRange(key, end));
                for (auto& [each, put] : model) put = put && !(key <= each && each < end);
            } else {
                const bool put = chance.below(4) != 0;
                EXPECT_OK(put ? batch.Put(key, "v") : batch.Delete(key));
                model[key] = put;
            }
        }
        const counting_order order;
        EXPECT_EQ(ends_of(batch, order), model) << round;
    }
}

TEST(guarded_db_range, many_ranges_in_a_batch_do_not_cost_quadratic_time) {
    constexpr std::uint64_t many = 8'000;
    rocksdb::WriteBatch batch;
    for (std::uint64_t i = 0; i < many; ++i) {
        EXPECT_OK(batch.Put(key_number(i), "v"));
        EXPECT_OK(batch.DeleteRange(key_number(i / 2), key_number(many + i)));
    }
    const counting_order order;
    EXPECT_EQ(ends_of(batch, order).size(), many);
    EXPECT_LT(order.compared, many * 80) << "a square would be " << many * many / 2;
}

}  // namespace
}  // namespace genista::test::guarded_db_range_test
