// Batches and ingests in flight in a guarded database: meanwhile absent keys are still answered
// from RAM.
#include <gtest/gtest.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <map>
#include <string_view>

#include "genista/detail/base/fail_point.hpp"
#include "tests/stores/guarded_db_world.hpp"

namespace genista::test::guarded_db_in_flight_test {
namespace {

constexpr std::uint64_t batch_keys = 20000;

// Queries absent keys at the named moments of a write, in the thread that writes. Of the insertions
// into the filter it takes the middle one.
struct asking {
    static inline guarded_db* db = nullptr;
    static inline std::uint64_t asked = 0, maybe = 0, denied = 0, inserted = 0;

    static void hook(const char* name) {
        const std::string_view at{name};
        if (at == "guard.key_inserted" && ++inserted != batch_keys / 2) return;
        if (at != "guard.entered" && at != "store.committed" && at != "guard.key_inserted" && at != "ingest.done")
            return;
        for (std::uint64_t i = 0; i < 50000; ++i, ++asked)
            maybe += db->may_contain("absent-" + std::to_string(asked)) ? 1u : 0u;
        if (at == "guard.entered") return;
        for (std::uint64_t i = 0; i < batch_keys; ++i) denied += db->may_contain(key_number(i)) ? 0u : 1u;
    }
    static void start(guarded_db& with) {
        db = &with;
        asked = maybe = denied = inserted = 0;
        at_fail_point = &hook;
    }
    static void stop() { at_fail_point = nullptr; }
};

guarded_db_options with_rate(double rate) {
    guarded_db_options options = test_options();
    options.filter.capacity = 2 * batch_keys;
    options.filter.false_positive_rate = rate;
    return options;
}

void expect_rate(double rate) {
    EXPECT_LE(static_cast<double>(asking::maybe), 2 * rate * static_cast<double>(asking::asked) + 4)
        << "rate " << rate << ", asked " << asking::asked;
    EXPECT_GT(asking::asked, 0u);
    EXPECT_EQ(asking::denied, 0u);
}

TEST(guarded_db_in_flight, a_batch_of_20000_keys_sends_no_absent_query_to_the_store) {
    for (const double rate : {1.0 / 256, 1.0 / 65536}) {
        const scratch here;
        const auto db = open_guarded(here.path(), with_rate(rate));
        rocksdb::WriteBatch batch;
        for (std::uint64_t i = 0; i < batch_keys; ++i) EXPECT_OK(batch.Put(key_number(i), "v"));
        asking::start(*db);
        EXPECT_OK(db->Write({}, &batch));
        asking::stop();
        expect_rate(rate);
        EXPECT_GT(db->counters().let_through_in_flight, 0u);
        expect_sound(*db);
    }
}

TEST(guarded_db_in_flight, an_ingest_of_20000_keys_sends_no_absent_query_to_the_store) {
    constexpr double rate = 1.0 / 4096;
    const scratch here;
    const auto db = open_guarded(here.path(), with_rate(rate));
    std::map<std::string, std::string> table;
    for (std::uint64_t i = 0; i < batch_keys; ++i) table[key_number(i)] = "v";
    write_table(here.path("table"), table);
    asking::start(*db);
    EXPECT_OK(db->IngestExternalFile({here.path("table")}, {}));
    asking::stop();
    expect_rate(rate);
    expect_sound(*db);
}

}  // namespace
}  // namespace genista::test::guarded_db_in_flight_test
