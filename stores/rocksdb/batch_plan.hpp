// batch_plan: what a WriteBatch does to the keys of the family `default`, in its order, and with
// what result for each key.
//
// Reading a batch (WriteBatch::Iterate) gives the operations; ranges are then applied to the keys
// put before them in the batch (those of the database are guarded_db's: range_deletes.hpp); and
// finish() says for each key how it ends, which is all that a filter needs to know of an atomic
// batch.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "genista/hash/hasher.hpp"
#include "stores/rocksdb/batch_reader.hpp"

namespace genista::rocks {

// A key of `default` belongs to family 0, whatever handle was used.
inline constexpr std::uint32_t guarded_family_id = 0;

// RocksDB would notice when half of a batch is in its memtable, and take no more writes.
[[nodiscard]] inline rocksdb::Status no_merge_operator() {
    return rocksdb::Status::NotSupported("Provide a merge_operator when opening DB");
}

class batch_plan final : public batch_reader {
  public:
    struct change {
        rocksdb::Slice key;  // inside the batch
        digest where;
        bool is_put;
    };

    // `merges`: the guarded family has a merge operator.
    batch_plan(const hasher& hash, std::uint32_t index_id, std::uint32_t meta_id, bool merges = true) noexcept
        : hash_{hash}, index_id_{index_id}, meta_id_{meta_id}, merges_{merges} {}

    // The batch must outlive the plan. NotSupported: something that cannot be guarded.
    rocksdb::Status read(const rocksdb::WriteBatch& batch) { return batch.Iterate(this); }

    [[nodiscard]] bool touches_guarded() const noexcept { return !changes_.empty() || !ranges_.empty(); }
    [[nodiscard]] bool has_ranges() const noexcept { return !ranges_.empty(); }

    struct range {
        rocksdb::Slice begin, end;
        std::size_t after;  // that many changes come before it
    };
    [[nodiscard]] std::span<const range> ranges() const noexcept { return ranges_; }
    // Puts that a later range of the batch meets become deletions; empty ranges go. In O(n log n),
    // whatever the number of ranges. InvalidArgument: a range that ends before it begins (RocksDB
    // notices when half of the batch is done).
    rocksdb::Status apply_ranges(const rocksdb::Comparator& order);

    // The records of R for all changes, in order, behind what is there.
    rocksdb::Status append_records(rocksdb::WriteBatch& to, rocksdb::ColumnFamilyHandle& index) const;

    // Keeps the last change of each key. Afterwards the plan is for the filter only: keys put and
    // keys deleted, each sorted by digest.
    void finish();
    [[nodiscard]] std::span<const change> puts() const noexcept { return {changes_.data(), puts_}; }
    [[nodiscard]] std::span<const change> deletions() const noexcept {
        return std::span<const change>{changes_}.subspan(puts_);
    }

  private:
    rocksdb::Status on_change(std::uint32_t family, const rocksdb::Slice& key, bool is_put) override;
    rocksdb::Status on_merge(std::uint32_t family, const rocksdb::Slice& key) override;
    rocksdb::Status on_blob(std::uint32_t family, const rocksdb::Slice& key) override;
    rocksdb::Status on_range(std::uint32_t family, const rocksdb::Slice& begin, const rocksdb::Slice& end) override;
    rocksdb::Status on_transaction() override;
    rocksdb::Status check(std::uint32_t family) const;

    const hasher& hash_;
    std::uint32_t index_id_, meta_id_;
    bool merges_;
    std::vector<change> changes_;
    std::size_t puts_ = 0;  // of changes_, once finished
    std::vector<range> ranges_;
};

}  // namespace genista::rocks
