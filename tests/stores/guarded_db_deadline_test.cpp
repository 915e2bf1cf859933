// A caller's deadline also limits the read with which the filter adapts to the caller's query.
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "genista/detail/base/fail_point.hpp"
#include "tests/stores/guarded_db_world.hpp"

namespace genista::test::guarded_db_deadline_test {
namespace {

constexpr std::uint64_t keys = 2'000;

guarded_db_options coarse() {
    guarded_db_options options = test_options();
    options.filter.false_positive_rate = 0.02;
    options.snapshotter.on_close = false;
    return options;
}

// An absent key that the filter answers with "maybe".
std::string a_mistake(const guarded_db& db) {
    for (std::uint64_t i = 0;; ++i) {
        std::string key = "absent-" + std::to_string(i);
        if (db.may_contain(key)) return key;
    }
}

std::chrono::microseconds now() {
    return std::chrono::microseconds{rocksdb::Env::Default()->NowMicros()};
}

// Between the caller's read and the filter's read: waits until the deadline has passed.
struct late {
    static inline std::chrono::microseconds until{0};
    static void hook(const char* name) {
        if (std::string_view{name} != "read.missed") return;
        while (now() <= until) std::this_thread::yield();
    }
    explicit late(std::chrono::microseconds deadline) {
        until = deadline;
        at_fail_point = &hook;
    }
    late(const late&) = delete;
    late& operator=(const late&) = delete;
    ~late() { at_fail_point = nullptr; }
};

TEST(guarded_db_deadline, a_mistake_without_time_to_adapt_is_left_for_the_next_query) {
    const scratch here;
    const auto db = open_guarded(here.path(), coarse());
    for (std::uint64_t i = 0; i < keys; ++i) EXPECT_OK(db->Put({}, key_number(i), "v"));
    const std::string key = a_mistake(*db);
    rocksdb::ReadOptions hurried;
    hurried.deadline = now() + std::chrono::milliseconds{50};
    std::string value;
    const auto before = db->counters();
    {
        const late by{hurried.deadline};
        EXPECT_TRUE(db->Get(hurried, key, &value).IsNotFound()) << "from memory: RocksDB looks at no clock";
    }
    const auto after = db->counters();
    EXPECT_EQ(after.wasted_reads, before.wasted_reads + 1);
    EXPECT_EQ(after.adapts_dropped, before.adapts_dropped + 1);
    EXPECT_EQ(after.adapts, before.adapts);
    EXPECT_TRUE(db->may_contain(key));

    hurried.deadline = now() + std::chrono::minutes{10};
    EXPECT_TRUE(db->Get(hurried, key, &value).IsNotFound());
    EXPECT_EQ(db->counters().adapts, before.adapts + 1);
    EXPECT_FALSE(db->may_contain(key));

    // Many keys at once.
    const std::string other = a_mistake(*db);
    hurried.deadline = now() + std::chrono::milliseconds{50};
    {
        const late by{hurried.deadline};
        std::vector<std::string> values;
        EXPECT_TRUE(db->MultiGet(hurried, {other}, &values)[0].IsNotFound());
    }
    EXPECT_EQ(db->counters().adapts_dropped, before.adapts_dropped + 2);
    EXPECT_TRUE(db->may_contain(other));
    expect_sound(*db);
}

// Reads of files by a caller with a time limit time out while `slow`. Other reads do not.
class slow_files final : public rocksdb::FileSystemWrapper {
  public:
    using FileSystemWrapper::FileSystemWrapper;
    const char* Name() const override { return "genista.test.slow_files"; }
    rocksdb::IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& options,
                                          std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                          rocksdb::IODebugContext* debug) override {
        rocksdb::IOStatus made = target()->NewRandomAccessFile(path, options, file, debug);
        if (made.ok()) *file = std::make_unique<slow_file>(std::move(*file), *this);
        return made;
    }
    std::atomic<bool> slow{false};
    std::atomic<std::uint64_t> timed_out{0};

  private:
    class slow_file final : public rocksdb::FSRandomAccessFileOwnerWrapper {
      public:
        slow_file(std::unique_ptr<rocksdb::FSRandomAccessFile> file, slow_files& all)
            : FSRandomAccessFileOwnerWrapper{std::move(file)}, all_{all} {}
        rocksdb::IOStatus Read(std::uint64_t offset, std::size_t size, const rocksdb::IOOptions& options,
                               rocksdb::Slice* result, char* scratch_bytes,
                               rocksdb::IODebugContext* debug) const override {
            if (all_.slow.load() && options.timeout.count() > 0) {
                ++all_.timed_out;
                return rocksdb::IOStatus::TimedOut("planned");
            }
            return target()->Read(offset, size, options, result, scratch_bytes, debug);
        }

      private:
        slow_files& all_;
    };
};

TEST(guarded_db_deadline, the_limit_for_one_read_reaches_the_reads_of_the_index) {
    const scratch here;
    const auto files = std::make_shared<slow_files>(rocksdb::FileSystem::Default());
    const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
    guarded_db_options options = coarse();
    options.rocksdb.env = env.get();
    {
        const auto db = open_guarded(here.path(), options);
        for (std::uint64_t i = 0; i < keys; ++i) EXPECT_OK(db->Put({}, key_number(i), "v"));
        EXPECT_OK(db->Flush({}));
        EXPECT_OK(db->base().Flush({}, &db->records().family()));
    }
    const auto db = open_guarded(here.path(), options);
    rocksdb::ReadOptions hurried;
    hurried.io_timeout = std::chrono::minutes{1};
    std::string value;
    // The data blocks of `default` are read and cached before the disk becomes slow, so only the
    // index is still read from the disk.
    const std::string key = a_mistake(*db);
    const auto warm = [&] {
        const std::unique_ptr<rocksdb::Iterator> all{db->NewIterator({})};
        for (all->SeekToFirst(); all->Valid(); all->Next()) continue;
    };
    warm();
    db->records().db().GetOptions(&db->records().family());
    files->slow = true;
    const auto before = db->counters();
    const rocksdb::Status got = db->Get(hurried, key, &value);
    files->slow = false;
    EXPECT_TRUE(got.IsNotFound()) << got.ToString();
    EXPECT_GT(files->timed_out.load(), 0u);
    EXPECT_EQ(db->counters().adapts_dropped, before.adapts_dropped + 1);
    EXPECT_EQ(db->counters().failed_adapts, before.failed_adapts);
    EXPECT_TRUE(db->may_contain(key));
    EXPECT_TRUE(db->Get(hurried, key, &value).IsNotFound());
    EXPECT_FALSE(db->may_contain(key));
}

}  // namespace
}  // namespace genista::test::guarded_db_deadline_test
