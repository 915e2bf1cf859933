// Programs without a guard: they make databases, and write to guarded ones past the guard.
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/stores/scratch.hpp"

namespace genista::test {

// Opens a database with `default` alone, and makes it if there is none.
[[nodiscard]] inline std::unique_ptr<rocksdb::DB> open_plain(const std::string& path, rocksdb::Options options) {
    options.create_if_missing = true;
    rocksdb::DB* made = nullptr;
    const rocksdb::Status opened = rocksdb::DB::Open(options, path, &made);
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    return std::unique_ptr<rocksdb::DB>{made};
}
[[nodiscard]] inline std::unique_ptr<rocksdb::DB> open_plain(
    const std::string& path, std::shared_ptr<rocksdb::MergeOperator> merge_operator = nullptr) {
    rocksdb::Options options;
    options.env = unsynced_env();
    options.merge_operator = std::move(merge_operator);
    return open_plain(path, options);
}

// A program that opens a guarded database with all of its families, and these options for each.
class plain_program {
  public:
    plain_program(const std::string& path, const rocksdb::Options& options) {
        std::vector<std::string> names;
        const rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(options, path, &names);
        EXPECT_TRUE(listed.ok()) << listed.ToString();
        std::vector<rocksdb::ColumnFamilyDescriptor> families;
        for (const std::string& each : names) families.emplace_back(each, rocksdb::ColumnFamilyOptions{options});
        rocksdb::DB* made = nullptr;
        const rocksdb::Status opened = rocksdb::DB::Open(options, path, families, &handles_, &made);
        EXPECT_TRUE(opened.ok()) << opened.ToString();
        db_.reset(made);
    }
    plain_program(const plain_program&) = delete;
    plain_program& operator=(const plain_program&) = delete;
    ~plain_program() {
        if (db_ == nullptr) return;
        for (auto* each : handles_) EXPECT_TRUE(db_->DestroyColumnFamilyHandle(each).ok());
        const rocksdb::Status closed = db_->Close();
        EXPECT_TRUE(closed.ok()) << closed.ToString();
    }

    [[nodiscard]] bool is_open() const noexcept { return db_ != nullptr; }
    rocksdb::DB* operator->() { return db_.get(); }
    rocksdb::DB& operator*() { return *db_; }
    // Null if there is none of this name.
    [[nodiscard]] rocksdb::ColumnFamilyHandle* family(const std::string& name) const {
        for (auto* each : handles_) {
            if (each->GetName() == name) return each;
        }
        return nullptr;
    }

  private:
    std::vector<rocksdb::ColumnFamilyHandle*> handles_;
    std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace genista::test
