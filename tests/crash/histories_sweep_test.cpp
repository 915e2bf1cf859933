// Histories: a store is opened again and again with settings drawn at random. Between the openings
// it is killed, replaced by an older copy, given snapshots of another copy, or changed by programs
// without a guard. Every key in the store must be found through the guard, after each opening and
// before each closing.
//
// A kill is a copy of the folder in the middle of the operations, and the next opening uses the
// copy. The settings are RocksDB's (write queues, logs that are recycled, compressed or deleted,
// blobs, flushes) and the guard's (a memory limit, building behind the opening, the snapshotter's
// thread). GENISTA_HISTORIES sets how many, for both layouts together, and GENISTA_HISTORY the
// first seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "tests/crash/forks.hpp"
#include "tests/crash/harness.hpp"
#include "tests/stores/guarded_db_world.hpp"
#include "tests/stores/plain_program.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::histories_sweep_test {
namespace {

namespace fs = std::filesystem;

constexpr int lives_of_a_history = 6;

struct counts {
    std::uint64_t histories = 0, openings = 0, from_snapshot = 0, refused = 0, reindexed = 0;
    std::uint64_t operations = 0, kills = 0, put_back = 0, foreign = 0, asked = 0;
};

// What both layouts go through. One thread draws the numbers, so a seed repeats its history except
// for RocksDB's threads.
class history {
  public:
    history(std::uint64_t seed, counts& seen) : seed_{seed}, seen_{seen}, chance_{seed} {}
    history(const history&) = delete;
    history& operator=(const history&) = delete;
    virtual ~history() = default;

    void run() {
        ++seen_.histories;
        for (life_ = 0; life_ < lives_of_a_history && !testing::Test::HasFailure(); ++life_) {
            if (!open()) return;
            ++seen_.openings;
            seen_.from_snapshot += origin() == rocks::filter_origin::snapshot ? 1u : 0u;
            seen_.refused += refused();
            expect_all_found("opened");
            operate();
            expect_all_found("before it is closed");
            close();
            happen();
        }
    }

  protected:
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return chance_.below(bound); }
    [[nodiscard]] bool one_in(std::uint64_t bound) { return chance_.below(bound) == 0; }
    [[nodiscard]] std::string some_key() { return key_number(below(300)); }
    [[nodiscard]] std::pair<std::string, std::string> some_range() {
        std::string first = some_key(), last = some_key();
        if (last < first) std::swap(first, last);
        return {first, last};
    }
    [[nodiscard]] std::string database() const { return place_.path("db"); }
    [[nodiscard]] std::string table() const { return place_.path("table.sst"); }
    [[nodiscard]] std::string story(const char* when) const {
        return "history " + std::to_string(seed_) + ", life " + std::to_string(life_) + ", " + when;
    }
    void complain(const std::string& what, const char* when) { ADD_FAILURE() << story(when) << ": " << what; }
    void expect_ok(const rocksdb::Status& done, const char* doing) {
        if (!done.ok()) complain(done.ToString(), doing);
    }
    void expect_found(std::string_view key, bool is_found, const char* when) {
        ++seen_.asked;
        if (!is_found) complain(std::string{key} + " is denied", when);
    }

    // The settings of a store may differ this much from one opening to the next.
    [[nodiscard]] rocksdb::Options draw_rocksdb_options() {
        rocksdb::Options options = small_rocksdb_options(nullptr);
        options.merge_operator = merging_;
        options.write_buffer_size = one_in(2) ? std::size_t{16} << 10 : std::size_t{64} << 20;
        if (one_in(4))
            options.two_write_queues = true;
        else if (one_in(4))
            options.enable_pipelined_write = true;
        if (one_in(4) && !options.enable_pipelined_write) options.atomic_flush = true;
        if (one_in(4)) options.wal_compression = rocksdb::kZSTD;
        if (one_in(4)) options.avoid_flush_during_recovery = true;
        if (one_in(4)) options.avoid_flush_during_shutdown = true;
        if (one_in(4)) {
            options.enable_blob_files = true;
            options.min_blob_size = 4;
        }
        if (one_in(5)) options.compaction_style = rocksdb::kCompactionStyleUniversal;
        if (one_in(5)) options.max_total_wal_size = std::uint64_t{32} << 10;
        if (one_in(5)) options.disable_auto_compactions = true;
        if (one_in(3)) options.track_and_verify_wals_in_manifest = true;
        constexpr rocksdb::WALRecoveryMode modes[] = {rocksdb::WALRecoveryMode::kPointInTimeRecovery,
                                                      rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords,
                                                      rocksdb::WALRecoveryMode::kAbsoluteConsistency};
        options.wal_recovery_mode = modes[below(3)];
        return options;
    }
    template <class Options>
    void draw_guard_options(Options& options) {
        options.filter.capacity = one_in(3) ? 2000 : 64;
        options.build_behind = one_in(4);
        if (one_in(5)) options.filter.memory_limit = 68'000 + below(30'000);
        options.snapshotter.every = std::chrono::milliseconds{one_in(3) ? 1 + below(20) : 0};
        options.snapshotter.watch = std::chrono::milliseconds{1 + below(5)};
        options.snapshotter.on_close = !one_in(3);
        options.guard.adapt = one_in(3) ? adapting::in_background : adapting::on_read;
    }

    // Runs the call while RocksDB's threads are paused and no file is deleted.
    template <class Call>
    void while_files_stay(const Call& call) {
        expect_ok(base().PauseBackgroundWork(), "pausing");
        expect_ok(base().DisableFileDeletions(), "keeping files");
        call();
        expect_ok(base().EnableFileDeletions(true), "letting files go");
        expect_ok(base().ContinueBackgroundWork(), "going on");
    }

    // ---- of a layout ----
    virtual bool open() = 0;
    virtual void operate_once() = 0;
    virtual void expect_all_found(const char* when) = 0;
    virtual void close() = 0;
    virtual rocksdb::DB& base() = 0;
    virtual rocks::filter_snapshotter& snapshotter() = 0;
    virtual rocks::filter_origin origin() = 0;
    virtual std::uint64_t refused() = 0;
    // Makes a few writes as a program without a guard. No other process has the database open.
    virtual void write_plainly(rocksdb::DB& plain) = 0;

    bool went_past_ = false;  // a write in this life did not go through the guard
    std::shared_ptr<rocksdb::MergeOperator> merging_ = std::make_shared<appending>();

  private:
    void operate() {
        went_past_ = false;
        is_killed_ = false;
        for (std::uint64_t left = 10 + below(120); left > 0 && !testing::Test::HasFailure(); --left) {
            ++seen_.operations;
            if (one_in(25)) kill_here();
            operate_once();
            if (is_killed_ && one_in(12)) break;
        }
        if (went_past_) (void)snapshotter().look();
    }

    // Copies what a kill at this moment would leave.
    void kill_here() {
        while_files_stay([&] {
            is_killed_ = true;
            try {
                copy_folder(database(), place_.path("killed"));
                ++seen_.kills;
            } catch (const fs::filesystem_error&) {  // the snapshotter's thread has removed a snapshot
                is_killed_ = false;
            }
        });
    }

    // Damages or changes the store between two lives.
    void happen() {
        if (one_in(3)) {
            older_.push_back(place_.path("older-" + std::to_string(life_)));
            copy_folder(database(), older_.back());
        }
        if (is_killed_) {
            if (one_in(2)) bring_snapshots(snapshots_of(database()), place_.path("killed"), mixing::instead);
            fs::remove_all(database());
            fs::rename(place_.path("killed"), database());
        }
        if (!older_.empty() && one_in(4)) put_back(older_[below(older_.size())]);
        if (one_in(3)) run_plain_program();
    }

    // Puts a folder of an earlier moment back, with or without the snapshots of now; or copies only
    // its snapshots.
    void put_back(const std::string& older) {
        ++seen_.put_back;
        if (one_in(2)) return bring_snapshots(snapshots_of(older), database(), mixing::beside);
        copy_folder(snapshots_of(database()), place_.path("snapshots"));
        copy_folder(older, database());
        if (one_in(2)) bring_snapshots(place_.path("snapshots"), database(), mixing::beside);
        fs::remove_all(place_.path("snapshots"));
    }

    void run_plain_program() {
        ++seen_.foreign;
        rocksdb::Options options = small_rocksdb_options(nullptr);
        options.merge_operator = merging_;
        options.WAL_size_limit_MB = 64 * below(2);
        options.write_buffer_size = one_in(2) ? std::size_t{64} << 10 : std::size_t{1} << 20;
        SCOPED_TRACE(story("a plain program"));
        plain_program plain{database(), options};
        if (!plain.is_open()) return;
        for (std::uint64_t left = below(4); left > 0; --left) write_plainly(*plain);
    }

    std::uint64_t seed_;
    counts& seen_;
    splitmix chance_;
    int life_ = 0;
    bool is_killed_ = false;  // a copy of this life's folder replaces the folder
    std::vector<std::string> older_;
    scratch place_;
};

class indexed_history final : public history {
  public:
    using history::history;

  private:
    bool open() override {
        guarded_db_options options;
        options.rocksdb = draw_rocksdb_options();
        options.rocksdb.manual_wal_flush = one_in(4) && !options.rocksdb.two_write_queues;
        if (one_in(5)) {
            options.wal_kept_mb = 0;
            options.rocksdb.recycle_log_file_num = 2 * below(2);
        }
        draw_guard_options(options);
        options.rebuild_index = one_in(12);
        auto opened = guarded_db::open(database(), options);
        if (!opened) {
            complain(std::string{opened.error().message()}, "opening");
            return false;
        }
        db_ = *std::move(opened);
        return true;
    }
    void close() override {
        db_->Close().PermitUncheckedError();  // an error of the last snapshot costs a scan
        db_.reset();
    }
    rocksdb::DB& base() override { return db_->base(); }
    rocks::filter_snapshotter& snapshotter() override { return db_->snapshotter(); }
    rocks::filter_origin origin() override { return db_->origin(); }
    std::uint64_t refused() override { return db_->store_figures().snapshots_refused; }

    void expect_all_found(const char* when) override {
        const std::unique_ptr<rocksdb::Iterator> at{db_->base().NewIterator({})};
        std::string value;
        for (at->SeekToFirst(); at->Valid(); at->Next())
            expect_found(at->key().ToStringView(), db_->Get({}, at->key(), &value).ok(), when);
        expect_ok(at->status(), when);
    }

    void operate_once() override {
        rocksdb::WriteOptions how;
        how.sync = one_in(10);
        switch (below(20)) {
            case 0:
                return expect_ok(db_->Merge(how, some_key(), "m"), "merging");
            case 1:
                return write_batch(how);
            case 2: {
                const auto [first, last] = some_range();
                return expect_ok(db_->DeleteRange(how, db_->DefaultColumnFamily(), first, last), "deleting a range");
            }
            case 3:
                return take_table_in(*db_);
            case 4:
                return (void)db_->snapshotter().save();
            case 5:
                return (void)db_->repair();
            case 6:
                return one_in(4) ? (void)db_->reindex() : (void)db_->look_for_foreign_writes();
            case 7:
                return expect_ok(db_->Flush({}), "flushing");
            case 8:
                return expect_ok(db_->CompactRange({}, nullptr, nullptr), "compacting");
            case 9:
                return one_in(4) ? write_past_the_guard() : ask_for_nothing();
            case 10:
                return write_with_threads();
            case 11:
            case 12:
            case 13:
                return expect_ok(db_->Delete(how, some_key()), "deleting");
            case 14:
                return ask_for_nothing();
            default:
                return expect_ok(db_->Put(how, some_key(), "value"), "putting");
        }
    }
    void ask_for_nothing() {
        std::string value;
        for (int i = 0; i < 20; ++i)
            db_->Get({}, "absent-" + std::to_string(below(5000)), &value).PermitUncheckedError();
    }
    void write_batch(const rocksdb::WriteOptions& how) {
        rocksdb::WriteBatch batch;
        for (std::uint64_t left = below(8); left > 0; --left) {
            const auto [first, last] = some_range();
            const auto dice = below(5);
            expect_ok(dice == 0   ? batch.Put(first, "batch")
                      : dice == 1 ? batch.Delete(first)
                      : dice == 2 ? batch.Merge(first, "m")
                      : dice == 3 ? batch.DeleteRange(first, last)
                                  : batch.PutLogData("note"),
                      "filling a batch");
        }
        expect_ok(db_->Write(how, &batch), "writing a batch");
    }
    // Through the guard or, if `db` is the base, past it. RocksDB may refuse, because a snapshot is
    // open or sequence numbers are not allowed.
    void take_table_in(rocksdb::DB& db) {
        std::map<std::string, std::string> entries;
        for (std::uint64_t left = 1 + below(5); left > 0; --left) entries[some_key()] = "table";
        write_table(table(), entries);
        rocksdb::IngestExternalFileOptions how;
        how.allow_global_seqno = !one_in(3);
        how.snapshot_consistency = one_in(2);
        const rocksdb::Snapshot* const then = one_in(3) ? db.GetSnapshot() : nullptr;
        db.IngestExternalFile({table()}, how).PermitUncheckedError();
        if (then != nullptr) db.ReleaseSnapshot(then);
    }
    void write_past_the_guard() {
        went_past_ = true;
        rocksdb::WriteOptions how;
        how.disableWAL = one_in(3);
        switch (below(3)) {
            case 0:
                return expect_ok(db_->base().Put(how, some_key(), "past"), "putting past the guard");
            case 1:
                return expect_ok(db_->base().Delete(how, some_key()), "deleting past the guard");
            default:
                return take_table_in(db_->base());
        }
    }
    // Each thread has its own keys, and finds what it has just put.
    void write_with_threads() {
        std::atomic<std::uint64_t> denied{0};
        const std::uint64_t seed = below(1 << 30);
        const auto write = [&](std::uint64_t who) {
            splitmix chance{seed + who};
            std::string value;
            for (int i = 0; i < 60; ++i) {
                const std::string key = "thread-" + std::to_string(who) + "-" + std::to_string(chance.below(200));
                if (chance.below(3) == 0)
                    db_->Delete({}, key).PermitUncheckedError();
                else if (db_->Put({}, key, "value").ok() && !db_->Get({}, key, &value).ok())
                    ++denied;
            }
        };
        std::thread other{write, 1};
        write(2);
        other.join();
        if (denied.load() > 0) complain("a thread's own keys are denied", "threads");
    }

    void write_plainly(rocksdb::DB& plain) override {
        rocksdb::WriteOptions how;
        how.disableWAL = one_in(3);
        const auto [first, last] = some_range();
        switch (below(8)) {
            case 0:
                return expect_ok(plain.Delete(how, first), "a plain delete");
            case 1:
                return expect_ok(plain.DeleteRange(how, plain.DefaultColumnFamily(), first, last), "a plain range");
            case 2:
                return take_table_in(plain);
            case 3:
                return expect_ok(plain.Flush({}), "a plain flush");
            case 4:
                return expect_ok(plain.CompactRange({}, nullptr, nullptr), "a plain compaction");
            case 5:
                return expect_ok(plain.Merge(how, first, "m"), "a plain merge");
            default:
                return expect_ok(plain.Put(how, first, "plain"), "a plain put");
        }
    }

    std::unique_ptr<guarded_db> db_;
};

class clustered_history final : public history {
  public:
    using history::history;

  private:
    [[nodiscard]] rocks::clustered_db_options draw_options() {
        rocks::clustered_db_options options;
        options.store.rocksdb = draw_rocksdb_options();
        if (one_in(5)) {
            options.store.wal_kept_mb = 0;
            options.store.rocksdb.recycle_log_file_num = 2 * below(2);
        }
        options.store.values_apart_from = one_in(3) ? 1024 * below(2) : 64;
        draw_guard_options(options);
        return options;
    }
    bool open() override {
        auto opened = rocks::clustered_db::open(database(), draw_options());
        if (!opened) {
            complain(std::string{opened.error().message()}, "opening");
            return false;
        }
        db_ = *std::move(opened);
        hash_ = db_->store().hash();
        return true;
    }
    void close() override {
        (void)db_->close();  // an error of the last snapshot costs a scan
        db_.reset();
    }
    rocksdb::DB& base() override { return db_->base(); }
    rocks::filter_snapshotter& snapshotter() override { return db_->snapshotter(); }
    rocks::filter_origin origin() override { return db_->origin(); }
    std::uint64_t refused() override { return db_->store_figures().snapshots_refused; }

    void expect_all_found(const char* when) override { expect_all_found_in(*db_, when); }
    void expect_all_found_in(rocks::clustered_db& db, const char* when) {
        const std::unique_ptr<rocksdb::Iterator> at{db.base().NewIterator({})};
        for (at->SeekToFirst(); at->Valid(); at->Next()) {
            const auto record = rocks::decode_record(at->key());
            if (!record) continue;
            const auto got = db.get(record->second);
            expect_found(record->second.text(), got && got->has_value(), when);
        }
        expect_ok(at->status(), when);
    }

    void operate_once() override {
        const std::string key = some_key();
        switch (below(20)) {
            case 0:
                return (void)db_->snapshotter().save();
            case 1:
                return (void)db_->repair();
            case 2:
                return (void)db_->store().flush();
            case 3:
                return (void)db_->snapshotter().look();
            case 4:
                return write_past_the_guard(key);
            case 5:
                return read_beside();
            case 6:
            case 7:
                return ask_for_nothing();
            case 8:
            case 9:
            case 10: {
                const auto erased = db_->erase(key);
                return erased ? void() : complain(std::string{erased.error().message()}, "erasing");
            }
            default: {
                const auto put = db_->put(key, std::string(one_in(4) ? 200 : below(20), 'v'));
                return put ? void() : complain(std::string{put.error().message()}, "putting");
            }
        }
    }
    void ask_for_nothing() {
        for (int i = 0; i < 20; ++i) (void)db_->get("absent-" + std::to_string(below(5000)));
    }
    void write_past_the_guard(const std::string& key) {
        if (!one_in(5)) return;
        went_past_ = true;
        const digest where = (*hash_)(key);
        if (one_in(2))
            (void)db_->store().write(where, key, "past");
        else
            (void)db_->store().remove(where, key);
    }
    // A second handle, for reading only, finds every key that it sees.
    void read_beside() {
        if (!one_in(3)) return;
        rocks::clustered_db_options options = draw_options();
        options.store.read_only = true;
        while_files_stay([&] {
            const auto reader = rocks::clustered_db::open(database(), options);
            if (!reader) return complain(std::string{reader.error().message()}, "opening for reading");
            expect_all_found_in(**reader, "by a reader");
            (void)(*reader)->close();
        });
    }

    void write_plainly(rocksdb::DB& plain) override {
        rocksdb::WriteOptions how;
        how.disableWAL = one_in(3);
        const std::string key = some_key();
        const rocks::record_key record{(*hash_)(key), key};
        switch (below(5)) {
            case 0:
                return expect_ok(plain.Delete(how, record.slice()), "a plain delete");
            case 1:
                return expect_ok(plain.Flush({}), "a plain flush");
            case 2: {
                const rocks::record_key first{digest{chance_position(), 0}, std::string_view{}};
                const std::string last(20, '\xff');
                return expect_ok(plain.DeleteRange(how, plain.DefaultColumnFamily(), first.slice(), last),
                                 "a plain range");
            }
            default:
                return expect_ok(plain.Put(how, record.slice(), "plain"), "a plain put");
        }
    }
    [[nodiscard]] std::uint64_t chance_position() { return below(~std::uint64_t{0}); }

    std::unique_ptr<rocks::clustered_db> db_;
    std::optional<hasher> hash_{};
};

class histories : public testing::TestWithParam<rocks::layout> {};

TEST_P(histories, deny_no_key_that_the_store_holds) {
    const std::uint64_t wanted = (amount("GENISTA_HISTORIES", 6, 600) + 1) / 2;
    const std::uint64_t first = amount("GENISTA_HISTORY", 1, 1);
    counts seen;
    for (std::uint64_t seed = first; seed < first + wanted && !HasFailure(); ++seed) {
        if (GetParam() == rocks::layout::indexed)
            indexed_history{seed, seen}.run();
        else
            clustered_history{seed, seen}.run();
    }
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf(
        "%s: %llu histories, %llu openings (%llu from a snapshot, %llu snapshots refused), %llu operations, %llu "
        "kills, "
        "%llu folders or snapshots put back, %llu plain programs, %llu keys asked for\n",
        rocks::to_string(GetParam()).data(), number(seen.histories), number(seen.openings), number(seen.from_snapshot),
        number(seen.refused), number(seen.operations), number(seen.kills), number(seen.put_back), number(seen.foreign),
        number(seen.asked));
    EXPECT_GT(seen.from_snapshot, 0u);
    EXPECT_GT(seen.kills, 0u);
    EXPECT_GT(seen.foreign, 0u);
}

INSTANTIATE_TEST_SUITE_P(of, histories, testing::Values(rocks::layout::clustered, rocks::layout::indexed),
                         [](const auto& each) { return std::string{rocks::to_string(each.param)}; });

}  // namespace
}  // namespace genista::test::histories_sweep_test
