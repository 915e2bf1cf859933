// batch_plan: what a WriteBatch does to each key of the family `default`.
//
// WriteBatch::Iterate gives the operations in order. Ranges are then applied to the keys that the
// same batch put before them (range_deletes.hpp handles the keys already in the database). finish()
// reduces the plan to the final state of each key. A batch is atomic, so this is all that a filter
// needs.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "genista/hash/hashed_key.hpp"
#include "stores/rocksdb/batch_reader.hpp"

namespace genista::rocks {

// A key of `default` has family 0, whatever handle it was written with.
inline constexpr std::uint32_t guarded_family_id = 0;

// Refused before the write: RocksDB detects it with half of the batch in its memtable, and then
// takes no more writes.
[[nodiscard]] inline rocksdb::Status no_merge_operator() {
    return rocksdb::Status::NotSupported("Provide a merge_operator when opening DB");
}

class batch_plan final : public batch_reader {
  public:
    struct change {
        hashed_key key;  // its bytes are inside the batch
        bool is_put;

        [[nodiscard]] const digest& where() const noexcept { return key.where(); }
    };

    // `merges`: the guarded family has a merge operator.
    batch_plan(const hasher& hash, std::uint32_t index_id, std::uint32_t meta_id, bool merges = true) noexcept
        : hash_{hash}, index_id_{index_id}, meta_id_{meta_id}, merges_{merges} {}

    // REQUIRES: the batch outlives the plan. NotSupported: an operation that cannot be guarded.
    rocksdb::Status read(const rocksdb::WriteBatch& batch) { return batch.Iterate(this); }

    [[nodiscard]] bool touches_guarded() const noexcept { return !changes_.empty() || !ranges_.empty(); }
    [[nodiscard]] bool has_ranges() const noexcept { return !ranges_.empty(); }

    struct range {
        rocksdb::Slice begin, end;
        std::size_t after;  // the number of changes before it
    };
    [[nodiscard]] std::span<const range> ranges() const noexcept { return ranges_; }
    // A put that a later range of the batch covers becomes a deletion, and empty ranges are
    // dropped. Takes O(n log n), whatever the number of ranges. InvalidArgument: a range ends
    // before it begins. (RocksDB would detect that with half of the batch done.)
    rocksdb::Status apply_ranges(const rocksdb::Comparator& order);

    // Appends the records of R for all changes, in order.
    rocksdb::Status append_records(rocksdb::WriteBatch& to, rocksdb::ColumnFamilyHandle& index) const;

    // Keeps the last change of each key. Afterwards the plan serves the filter only: keys put and
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
    std::size_t puts_ = 0;  // of changes_, after finish()
    std::vector<range> ranges_;
};

}  // namespace genista::rocks
