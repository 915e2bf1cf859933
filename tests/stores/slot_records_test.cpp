// Slots over RocksDB: a map of numbers to keys in a directory that begins empty. Directories with
// other content are left unchanged.
#include "stores/rocksdb/slot_records.hpp"

#include <gtest/gtest.h>
#include <rocksdb/comparator.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "genista/detail/stores/rocksdb/clustered_store.hpp"
#include "tests/stores/plain_program.hpp"
#include "tests/stores/scratch.hpp"
#include "tests/support/failing_files.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test::slot_records_test {
namespace {

using rocks::slot_records;
using rocks::slot_records_options;

constexpr std::uint64_t greatest = ~std::uint64_t{0};

using model_type = std::map<std::uint64_t, std::string>;

slot_records_options test_options(rocksdb::Env* env = unsynced_env()) {
    slot_records_options options;
    options.rocksdb.env = env;
    return options;
}

std::unique_ptr<slot_records> open_slots(const std::string& path, slot_records_options options = test_options()) {
    auto opened = slot_records::open(path, std::move(options));
    EXPECT_TRUE(opened) << opened.error().message();
    return opened ? *std::move(opened) : nullptr;
}

std::string message_of(const std::string& path, slot_records_options options = test_options()) {
    const auto opened = slot_records::open(path, std::move(options));
    return opened ? "opened" : std::string{opened.error().message()};
}

model_type all_of(slot_records& slots, std::uint64_t first = 0, std::uint64_t last = greatest) {
    model_type seen;
    std::optional<std::uint64_t> before;
    const auto read = slots.for_each_slot(first, last, [&](std::uint64_t slot, key_view key) {
        EXPECT_TRUE(!before || *before < slot);
        before = slot;
        seen.emplace(slot, key.text());
        return true;
    });
    EXPECT_TRUE(read) << read.error().message();
    return seen;
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

// Few slots, with both ends and neighbours that differ in high bytes only.
std::uint64_t few(splitmix& chance) {
    static constexpr std::uint64_t slots[] = {
        0, 1, 255, 256, 257, std::uint64_t{1} << 40, (std::uint64_t{1} << 40) + 1, greatest - 1, greatest};
    return slots[chance.below(std::size(slots))];
}

TEST(slot_records, agree_with_a_map_under_random_operations) {
    const scratch here;
    const auto slots = open_slots(here.path());
    model_type model;
    splitmix chance{5};
    for (int step = 0; step < 3000; ++step) {
        const std::uint64_t what = chance.below(16);
        if (what == 0) {
            const std::uint64_t a = few(chance), b = few(chance);
            ASSERT_TRUE(slots->clear_slots(a, b));
            std::erase_if(model, [&](const auto& each) { return a <= each.first && each.first <= b; });
        } else if (what == 1) {
            ASSERT_TRUE(slots->flush());
        } else {
            std::vector<std::pair<std::uint64_t, std::optional<std::string>>> wanted(chance.below(4));
            std::vector<slot_change> changes;
            for (auto& [slot, key] : wanted) {
                slot = few(chance);
                if (chance.below(3) != 0) key = std::string(chance.below(4), static_cast<char>(chance.below(2) * 255));
                changes.push_back({slot, key ? std::optional<key_view>{*key} : std::nullopt});
                model.erase(slot);
                if (key) model[slot] = *key;
            }
            ASSERT_TRUE(slots->write_slots(changes));
        }
        const std::uint64_t asked = few(chance), a = few(chance), b = few(chance);
        std::optional<std::string> shown;
        const auto found = slots->read_slot(asked, [&](key_view key) { shown = std::string{key.text()}; });
        ASSERT_TRUE(found);
        ASSERT_EQ(*found, model.contains(asked));
        ASSERT_EQ(shown, *found ? std::optional{model[asked]} : std::nullopt);
        model_type expected;
        for (const auto& each : model) {
            if (a <= each.first && each.first <= b) expected.insert(each);
        }
        ASSERT_EQ(all_of(*slots, a, b), expected);
    }
}

TEST(slot_records, a_visit_ends_where_the_visitor_says) {
    const scratch here;
    const auto slots = open_slots(here.path());
    const slot_change changes[] = {{1, key_view{"a"}}, {2, key_view{"b"}}, {3, key_view{"c"}}};
    ASSERT_TRUE(slots->write_slots(changes));
    int seen = 0;
    ASSERT_TRUE(slots->for_each_slot(0, greatest, [&](std::uint64_t, key_view) { return ++seen < 2; }));
    EXPECT_EQ(seen, 2);
}

TEST(slot_records, a_record_that_is_no_slot_is_damage) {
    const scratch here;
    const auto slots = open_slots(here.path());
    ASSERT_TRUE(slots->db().Put({}, "short", "ada").ok());
    EXPECT_EQ(slots->for_each_slot(0, greatest, [](std::uint64_t, key_view) { return true; }).error().code(),
              error_code::corrupt);
}

TEST(slot_records, begin_empty_whatever_an_earlier_process_left) {
    const scratch here;
    const slot_change changes[] = {{7, key_view{"ada"}}};
    for (const bool flushed : {false, true, false}) {
        const auto slots = open_slots(here.path());
        EXPECT_TRUE(all_of(*slots).empty());
        ASSERT_TRUE(slots->write_slots(changes));
        EXPECT_EQ(all_of(*slots).size(), 1u);
        if (flushed) {
            ASSERT_TRUE(slots->flush());
        }
    }
    std::filesystem::create_directory(here.path("empty"));
    EXPECT_NE(open_slots(here.path("empty")), nullptr);
    // Cut short after the marker was written, or in the middle of the deletion.
    std::filesystem::remove(here.path() + "/CURRENT");
    EXPECT_NE(open_slots(here.path()), nullptr);
}

TEST(slot_records, cannot_be_opened_twice_at_once) {
    const scratch here;
    const auto slots = open_slots(here.path());
    const slot_change changes[] = {{7, key_view{"ada"}}};
    ASSERT_TRUE(slots->write_slots(changes));
    EXPECT_NE(message_of(here.path()).find(here.path()), std::string::npos) << message_of(here.path());
    EXPECT_EQ(all_of(*slots), (model_type{{7, "ada"}}));
    ASSERT_TRUE(slots->flush());
    EXPECT_EQ(all_of(*slots), (model_type{{7, "ada"}}));
}

TEST(slot_records, a_path_with_other_content_is_refused_by_name_and_left_unchanged) {
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
    EXPECT_EQ(message_of(file), file + " is a file, not the directory of a filter's slots");
    EXPECT_EQ(std::filesystem::file_size(file), 4u);
    const auto again = rocks::clustered_store::open(store);
    ASSERT_TRUE(again);
    std::string value;
    EXPECT_TRUE(*(*again)->read((*again)->hash()("ada"), "ada", value));
}

// DestroyDB deletes in every folder that its options name.
TEST(slot_records, options_of_another_database_do_not_lead_to_its_files) {
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
    for (int life = 0; life < 2; ++life) EXPECT_NE(open_slots(here.path(), {.rocksdb = options}), nullptr);
    std::string value;
    const auto other = open_other();
    EXPECT_TRUE(other->Get({}, "flushed", &value).ok());
    EXPECT_TRUE(other->Get({}, "logged", &value).ok());
}

TEST(slot_records, settings_that_would_disorder_or_drop_slots_are_refused) {
    const scratch here;
    slot_records_options options = test_options();
    options.rocksdb.comparator = rocksdb::ReverseBytewiseComparator();
    EXPECT_NE(message_of(here.path(), options).find("bytewise"), std::string::npos);
    options = test_options();
    options.rocksdb.compaction_style = rocksdb::kCompactionStyleFIFO;
    EXPECT_NE(message_of(here.path(), options).find("FIFO"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(here.path()));
}

// Each call that reaches the disk fails once, in turn: opening works, or fails with a reason. It
// never leaves a state in which the next opening fails.
TEST(slot_records, an_opening_that_fails_anywhere_can_be_repeated) {
    const scratch here;
    std::uint64_t failures = 0;
    for (std::uint64_t call = 0; call < 200; ++call) {
        { ASSERT_NE(open_slots(here.path()), nullptr) << call; }
        io_fate fate;
        failing_env env{fate, std::make_shared<unsynced_files>()};
        fate.fail_once(call);
        {
            const auto opened = slot_records::open(here.path(), test_options(&env));
            failures += opened ? 0u : 1u;
            EXPECT_TRUE(!opened || all_of(**opened).empty());
        }
        if (fate.calls() <= call) break;
    }
    EXPECT_GT(failures, 5u);
    EXPECT_NE(open_slots(here.path()), nullptr);
}

}  // namespace
}  // namespace genista::test::slot_records_test
