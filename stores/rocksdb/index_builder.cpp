// Builds the index of an existing database. See index_builder.hpp.
#include "stores/rocksdb/index_builder.hpp"

#include <rocksdb/write_batch.h>

#include <algorithm>

#include "genista/detail/base/fail_point.hpp"

namespace genista::rocks {
namespace {

constexpr std::size_t batch_bytes = std::size_t{256} << 10;

// Written without the log: the index does not count before the flush at the end.
result<std::uint64_t> fill(database& db, const hasher& hash, rocksdb::ColumnFamilyHandle& index,
                           const opening_progress& progress) {
    rocksdb::DB& base = db.base();
    std::uint64_t all = 0;
    base.GetIntProperty(rocksdb::DB::Properties::kEstimateNumKeys, &all);
    rocksdb::WriteOptions past_the_log;
    past_the_log.disableWAL = true;

    std::uint64_t keys = 0;
    rocksdb::WriteBatch batch;
    const auto write = [&]() -> rocksdb::Status {
        if (batch.Count() == 0) return {};
        rocksdb::Status done = base.Write(past_the_log, &batch);
        batch.Clear();
        fail_point("index.batch");
        if (progress) progress(opening_stage::indexing, keys, std::max(keys, all));
        return done;
    };
    const std::unique_ptr<rocksdb::Iterator> at{base.NewIterator(scan_options(scan_readahead_bytes))};
    rocksdb::Status done;
    for (at->SeekToFirst(); done.ok() && at->Valid(); at->Next()) {
        const key_view key = to_key(at->key());
        const record_key name{{hash, key}};
        done = batch.Put(&index, name.slice(), {});
        ++keys;
        if (done.ok() && batch.GetDataSize() > batch_bytes) done = write();
    }
    if (done.ok()) done = at->status();
    if (done.ok()) done = write();
    if (done.ok()) done = base.Flush({}, &index);
    if (!done.ok()) return to_error(done, "build the index");
    return keys;
}

}  // namespace

result<std::uint64_t> build_index(database& db, store_meta& meta, const rocksdb::ColumnFamilyOptions& index,
                                  const opening_progress& progress) {
    rocksdb::ColumnFamilyHandle* notes = db.family(meta_family_name);
    if (notes == nullptr) {
        const auto created = db.create_family({}, meta_family_name);
        if (!created) return created.error();
        notes = *created;
    }
    meta.state = store_state::indexing;
    ++meta.generation;
    // No earlier snapshot may be used. The generation alone does not ensure that: a copy of the
    // store may have reached the same number, and foreign writes make a life appear longer than it
    // was.
    meta.lives.clear();
    if (const auto written = write_meta(db.base(), *notes, meta); !written) return written.error();
    fail_point("index.started");
    if (rocksdb::ColumnFamilyHandle* const old = db.family(index_family_name); old != nullptr) {
        if (const auto gone = db.drop_family(old); !gone) return gone.error();
    }
    const auto records = db.create_family(index, index_family_name);
    if (!records) return records.error();
    const auto keys = fill(db, meta.hash(), **records, progress);
    if (!keys) return keys;
    fail_point("index.filled");
    meta.state = store_state::ready;
    auto mark = mark_tables(db.base());  // the index has every key of the data
    if (!mark) return mark.error();
    mark->sequence = db.base().GetLatestSequenceNumber();
    mark->entries = meta_entries;
    meta.mark = *std::move(mark);
    if (const auto written = write_meta(db.base(), *notes, meta); !written) return written.error();
    fail_point("index.ready");
    return keys;
}

}  // namespace genista::rocks
