// batch_reader: reads a WriteBatch through a few calls. RocksDB's Handler has one call for each
// kind of entry, and a call that is not overridden ends the reading with an error.
#pragma once

#include <rocksdb/write_batch.h>

#include <cstdint>

namespace genista::rocks {

class batch_reader : public rocksdb::WriteBatch::Handler {
  public:
    using Slice = rocksdb::Slice;
    using Status = rocksdb::Status;

    Status PutCF(std::uint32_t family, const Slice& key, const Slice&) final { return on_change(family, key, true); }
    Status PutEntityCF(std::uint32_t family, const Slice& key, const Slice&) final {
        return on_change(family, key, true);
    }
    Status MergeCF(std::uint32_t family, const Slice& key, const Slice&) final { return on_merge(family, key); }
    Status PutBlobIndexCF(std::uint32_t family, const Slice& key, const Slice&) final { return on_blob(family, key); }
    Status DeleteCF(std::uint32_t family, const Slice& key) final { return on_change(family, key, false); }
    Status SingleDeleteCF(std::uint32_t family, const Slice& key) final { return on_change(family, key, false); }
    Status DeleteRangeCF(std::uint32_t family, const Slice& begin, const Slice& end) final {
        return on_range(family, begin, end);
    }
    void LogData(const Slice&) final {}
    Status MarkNoop(bool) final { return {}; }
    Status MarkBeginPrepare(bool) final { return on_transaction(); }
    Status MarkEndPrepare(const Slice&) final { return on_transaction(); }
    Status MarkRollback(const Slice&) final { return on_transaction(); }
    Status MarkCommit(const Slice&) final { return on_transaction(); }
    Status MarkCommitWithTimestamp(const Slice&, const Slice&) final { return on_transaction(); }

  protected:
    // The key is present afterwards (is_put) or absent. A status that is not ok ends the reading.
    virtual Status on_change(std::uint32_t family, const Slice& key, bool is_put) = 0;
    virtual Status on_range(std::uint32_t family, const Slice& begin, const Slice& end) = 0;
    // A marker of a transaction. Only programs without a guard write them.
    virtual Status on_transaction() = 0;
    // By default a merge counts as a put.
    virtual Status on_merge(std::uint32_t family, const Slice& key) { return on_change(family, key, true); }
    virtual Status on_blob(std::uint32_t family, const Slice& key) { return on_change(family, key, true); }
};

}  // namespace genista::rocks
