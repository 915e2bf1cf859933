// The index over RocksDB: records with batches in a directory that begins empty. Directories with
// other content are left unchanged.
#include "stores/rocksdb/index_records.hpp"

#include <gtest/gtest.h>
#include <rocksdb/comparator.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "genista/detail/stores/rocksdb/clustered_store.hpp"
#include "tests/remote/remote_support.hpp"
#include "tests/stores/plain_program.hpp"
#include "tests/stores/scratch.hpp"
#include "tests/support/failing_files.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::index_records_test {
namespace {

using rocks::index_records;
using rocks::index_records_options;

constexpr std::uint64_t greatest = ~std::uint64_t{0};

index_records_options test_options(rocksdb::Env* env = unsynced_env()) {
    index_records_options options;
    options.rocksdb.env = env;
    return options;
}

std::unique_ptr<index_records> open_index(const std::string& path, index_records_options options = test_options()) {
    auto opened = index_records::open(path, std::move(options));
    EXPECT_TRUE(opened) << opened.error().message();
    return opened ? *std::move(opened) : nullptr;
}

std::string message_of(const std::string& path, index_records_options options = test_options()) {
    const auto opened = index_records::open(path, std::move(options));
    return opened ? "opened" : std::string{opened.error().message()};
}

// The contents of a directory, by name, without RocksDB's lock and info log.
std::map<std::string, std::string> files_in(const std::string& path) {
    std::map<std::string, std::string> found;
    for (const auto& each : std::filesystem::directory_iterator{path}) {
        const std::string name = each.path().filename().string();
        if (name == "LOCK" || name.starts_with("LOG") || !each.is_regular_file()) continue;
        std::ifstream in{each.path(), std::ios::binary};
        found[name] = std::string{std::istreambuf_iterator<char>{in}, {}};
    }
    return found;
}

// Few positions, with both ends and neighbours that differ in high bytes only.
std::uint64_t few(splitmix& chance) {
    static constexpr std::uint64_t positions[] = {
        0, 1, 255, 256, 257, std::uint64_t{1} << 40, (std::uint64_t{1} << 40) + 1, greatest - 1, greatest};
    return positions[chance.below(std::size(positions))];
}

// With seeds at both ends, and keys of up to three bytes that sort first and last.
record any_record(splitmix& chance) {
    const digest where{few(chance), chance.below(2) == 0 ? 0 : greatest};
    return {where, std::string(chance.below(4), static_cast<char>(chance.below(2) * 255))};
}

TEST(index_records, agree_with_a_set_under_random_operations) {
    const scratch here;
    const auto index = open_index(here.path());
    model exact;
    splitmix chance{5};
    for (int step = 0; step < 3000; ++step) {
        const std::uint64_t what = chance.below(16);
        if (what == 0) {
            const std::uint64_t a = few(chance), b = few(chance);
            ASSERT_TRUE(index->erase_range(a, b));
            std::erase_if(exact,
                          [&](const record& each) { return a <= each.where.position && each.where.position <= b; });
        } else if (what == 1) {
            ASSERT_TRUE(index->flush());
        } else if (what < 4) {
            const record named = any_record(chance);
            if (what == 2) {
                ASSERT_EQ(*index->put(named.where, named.key), exact.insert(named).second);
            } else {
                ASSERT_EQ(*index->erase(named.where, named.key), exact.erase(named) == 1);
            }
        } else {
            std::vector<record> named;
            std::vector<bool> present;
            for (std::uint64_t count = chance.below(4); count > 0; --count) {
                named.push_back(any_record(chance));
                present.push_back(chance.below(3) != 0);
                if (present.back())
                    exact.insert(named.back());
                else
                    exact.erase(named.back());
            }
            std::vector<record_change> changes;
            for (std::size_t i = 0; i < named.size(); ++i)
                changes.push_back({named[i].where, key_view{named[i].key}, present[i]});
            ASSERT_TRUE(index->apply(changes));
        }
        const record asked = any_record(chance);
        ASSERT_EQ(*index->contains(asked.where, asked.key), exact.contains(asked));
        const std::uint64_t a = few(chance), b = few(chance);
        ASSERT_EQ(read_range(*index, a, b), range_of(exact, a, b, exact.size()));
    }
}

TEST(index_records, a_visit_ends_where_the_visitor_says) {
    const scratch here;
    const auto index = open_index(here.path());
    const record_change changes[] = {{digest{1, 0}, "a"}, {digest{2, 0}, "b"}, {digest{3, 0}, "c"}};
    ASSERT_TRUE(index->apply(changes));
    int seen = 0;
    ASSERT_TRUE(index->for_each(0, greatest, [&](const digest&, key_view) { return ++seen < 2; }));
    EXPECT_EQ(seen, 2);
}

TEST(index_records, a_record_without_a_place_is_damage) {
    const scratch here;
    const auto index = open_index(here.path());
    ASSERT_TRUE(index->db().Put({}, "short", "").ok());
    EXPECT_EQ(index->for_each(0, greatest, [](const digest&, key_view) { return true; }).error().code(),
              error_code::corrupt);
}

TEST(index_records, begin_empty_whatever_an_earlier_process_left) {
    const scratch here;
    const record_change changes[] = {{digest{7, 0}, "ada"}};
    for (const bool flushed : {false, true, false}) {
        const auto index = open_index(here.path());
        EXPECT_TRUE(read_all(*index).empty());
        ASSERT_TRUE(index->apply(changes));
        EXPECT_EQ(read_all(*index).size(), 1u);
        if (flushed) {
            ASSERT_TRUE(index->flush());
        }
    }
    std::filesystem::create_directory(here.path("empty"));
    EXPECT_NE(open_index(here.path("empty")), nullptr);
    // Cut short after the marker was written, or in the middle of the deletion.
    std::filesystem::remove(here.path() + "/CURRENT");
    EXPECT_NE(open_index(here.path()), nullptr);
}

TEST(index_records, cannot_be_opened_twice_at_once) {
    const scratch here;
    const auto index = open_index(here.path());
    const record_change changes[] = {{digest{7, 0}, "ada"}};
    ASSERT_TRUE(index->apply(changes));
    EXPECT_NE(message_of(here.path()).find(here.path()), std::string::npos) << message_of(here.path());
    EXPECT_EQ(read_all(*index), (std::vector<record>{{digest{7, 0}, "ada"}}));
    ASSERT_TRUE(index->flush());
    EXPECT_EQ(read_all(*index), (std::vector<record>{{digest{7, 0}, "ada"}}));
}

TEST(index_records, a_path_with_other_content_is_refused_by_name_and_left_unchanged) {
    const scratch here;
    const std::string file = here.path("file"), folder = here.path("folder"), plain = here.path("plain"),
                      store = here.path("store");
    std::ofstream{file} << "text";
    std::filesystem::create_directory(folder);
    std::ofstream{folder + "/letter.txt"} << "text";
    {
        const auto db = open_plain(plain);
        ASSERT_NE(db, nullptr);
        ASSERT_TRUE(db->Put({}, "ada", "1815").ok());
        const auto ours = rocks::clustered_store::open(store);
        ASSERT_TRUE(ours);
        ASSERT_TRUE((*ours)->write((*ours)->hash()("ada"), "ada", "1815"));
    }
    for (const std::string& path : {folder, plain, store}) {
        const auto before = files_in(path);
        const std::string message = message_of(path);
        EXPECT_NE(message.find(path), std::string::npos) << message;
        EXPECT_NE(message.find("left as it is"), std::string::npos) << message;
        EXPECT_EQ(files_in(path), before) << path;
    }
    EXPECT_EQ(message_of(file), file + " is a file, not the directory of a filter's index");
    EXPECT_EQ(std::filesystem::file_size(file), 4u);
    const auto again = rocks::clustered_store::open(store);
    ASSERT_TRUE(again);
    std::string value;
    EXPECT_TRUE(*(*again)->read((*again)->hash()("ada"), "ada", value));
}

// DestroyDB deletes in every folder that its options name.
TEST(index_records, options_of_another_database_do_not_lead_to_its_files) {
    const scratch here;
    rocksdb::Options options;
    options.create_if_missing = true;
    options.wal_dir = here.path("logs");
    options.db_paths = {{here.path("tables"), std::uint64_t{1} << 30}};
    const auto open_other = [&] {
        rocksdb::DB* made = nullptr;
        EXPECT_TRUE(rocksdb::DB::Open(options, here.path("other"), &made).ok());
        return std::unique_ptr<rocksdb::DB>{made};
    };
    {
        const auto other = open_other();
        ASSERT_TRUE(other->Put({}, "flushed", "v").ok());
        ASSERT_TRUE(other->Flush({}).ok());
        ASSERT_TRUE(other->Put({}, "logged", "v").ok());
    }
    for (int life = 0; life < 2; ++life) EXPECT_NE(open_index(here.path(), {.rocksdb = options}), nullptr);
    std::string value;
    const auto other = open_other();
    EXPECT_TRUE(other->Get({}, "flushed", &value).ok());
    EXPECT_TRUE(other->Get({}, "logged", &value).ok());
}

TEST(index_records, settings_that_would_disorder_or_drop_records_are_refused) {
    const scratch here;
    index_records_options options = test_options();
    options.rocksdb.comparator = rocksdb::ReverseBytewiseComparator();
    EXPECT_NE(message_of(here.path(), options).find("bytewise"), std::string::npos);
    options = test_options();
    options.rocksdb.compaction_style = rocksdb::kCompactionStyleFIFO;
    EXPECT_NE(message_of(here.path(), options).find("FIFO"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(here.path()));
}

// Each call that reaches the disk fails once, in turn: opening works, or fails with a reason. It
// never leaves a state in which the next opening fails.
TEST(index_records, an_opening_that_fails_anywhere_can_be_repeated) {
    const scratch here;
    std::uint64_t failures = 0;
    for (std::uint64_t call = 0; call < 200; ++call) {
        { ASSERT_NE(open_index(here.path()), nullptr) << call; }
        io_fate fate;
        failing_env env{fate, std::make_shared<unsynced_files>()};
        fate.fail_once(call);
        {
            const auto opened = index_records::open(here.path(), test_options(&env));
            failures += opened ? 0u : 1u;
            EXPECT_TRUE(!opened || read_all(**opened).empty());
        }
        if (fate.calls() <= call) break;
    }
    EXPECT_GT(failures, 5u);
    EXPECT_NE(open_index(here.path()), nullptr);
}

}  // namespace
}  // namespace genista::test::index_records_test
