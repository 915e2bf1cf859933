// Shared by the tests of guarded_db: options with fixed seeds, a merge operator, tables to ingest.
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/sst_file_writer.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "genista/stores/rocksdb/guarded_db.hpp"
#include "tests/stores/scratch.hpp"

namespace genista::test {

using rocks::guarded_db;
using rocks::guarded_db_options;

// Merging appends one value to the other.
class appending final : public rocksdb::AssociativeMergeOperator {
  public:
    bool Merge(const rocksdb::Slice&, const rocksdb::Slice* old, const rocksdb::Slice& value, std::string* merged,
               rocksdb::Logger*) const override {
        *merged = (old != nullptr ? old->ToString() : std::string{}) + value.ToString();
        return true;
    }
    const char* Name() const override { return "genista.test.appending"; }
};

inline guarded_db_options test_options() {
    guarded_db_options options;
    options.rocksdb.merge_operator = std::make_shared<appending>();
    options.rocksdb.write_buffer_size = std::size_t{256} << 10;  // tables and compactions early
    options.rocksdb.env = unsynced_env();
    options.key = hash_key::from_seed(5);
    options.filter.capacity = 2000;
    options.filter.random = repeatable(9);
    options.snapshotter.every = std::chrono::milliseconds{0};
    return options;
}

// The snapshotter's thread looks at the database so often, and takes no snapshot.
inline guarded_db_options watched_options(std::chrono::milliseconds every) {
    guarded_db_options options = test_options();
    options.snapshotter.every = std::chrono::hours{1};
    options.snapshotter.watch = every;
    return options;
}

inline std::unique_ptr<guarded_db> open_guarded(const std::string& path, guarded_db_options options = test_options()) {
    auto opened = guarded_db::open(path, std::move(options));
    if (!opened) {
        ADD_FAILURE() << opened.error().message();
        return nullptr;
    }
    return *std::move(opened);
}

inline std::string key_number(std::uint64_t number) {
    std::string digits = std::to_string(number);
    return "key-" + std::string(6 - std::min<std::size_t>(6, digits.size()), '0') + digits;
}

// How many of the first `keys` keys the filter of `db`, of either layout, denies.
template <class Db>
std::uint64_t denied_of(Db& db, std::uint64_t keys) {
    std::uint64_t denied = 0;
    for (std::uint64_t i = 0; i < keys; ++i) denied += db.may_contain(key_number(i)) ? 0u : 1u;
    return denied;
}

// Writes a table to ingest.
inline void write_table(const std::string& path, const std::map<std::string, std::string>& entries) {
    rocksdb::Options options;
    options.env = unsynced_env();
    rocksdb::SstFileWriter writer{rocksdb::EnvOptions{}, options};
    ASSERT_TRUE(writer.Open(path).ok());
    for (const auto& [key, value] : entries) ASSERT_TRUE(writer.Put(key, value).ok());
    ASSERT_TRUE(writer.Finish().ok());
}

inline void expect_sound(guarded_db& db) {
    const auto audited = db.audit();
    EXPECT_TRUE(audited) << audited.error().message();
}

#define EXPECT_OK(expression)                                      \
    do {                                                           \
        const rocksdb::Status status_of_it = (expression);         \
        EXPECT_TRUE(status_of_it.ok()) << status_of_it.ToString(); \
    } while (false)

}  // namespace genista::test
