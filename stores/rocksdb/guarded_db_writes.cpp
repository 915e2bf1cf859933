// Writes data and records of R in one batch. Keys are registered as in flight before the batch, and
// the filter is updated after it (guard/guard_core.hpp). See guarded_db.hpp.
#include <rocksdb/write_batch.h>

#include <utility>

#include "genista/detail/base/fail_point.hpp"
#include "genista/stores/rocksdb/guarded_db.hpp"
#include "stores/rocksdb/batch_plan.hpp"

namespace genista::rocks {
namespace {

constexpr std::size_t batch_overhead_bytes = 64;  // header, tags and lengths of two entries

rocksdb::Status not_ours() {
    return rocksdb::Status::NotSupported("column families of genista are not for writing");
}
rocksdb::Status no_timestamps() {
    return rocksdb::Status::NotSupported("a guarded column family has no timestamps");
}
rocksdb::Status check_log(const rocksdb::WriteOptions& options) {
    if (!options.disableWAL) return {};
    return rocksdb::Status::NotSupported("a guarded column family cannot be written with disableWAL");
}

}  // namespace

template <class Change>
rocksdb::Status guarded_db::write_one(const rocksdb::WriteOptions& options, const Slice& key, std::size_t size_bytes,
                                      bool is_put, Change&& change) {
    if (Status logged = check_log(options); !logged.ok()) return logged;
    const hashed_key hashed{core_->hash(), to_key(key)};
    const record_key name{hashed};
    rocksdb::WriteBatch both{size_bytes + key.size() + name.slice().size() + batch_overhead_bytes};
    Status done = change(both);
    if (done.ok()) {
        done = is_put ? both.Put(&records_.family(), name.slice(), {}) : both.Delete(&records_.family(), name.slice());
    }
    if (!done.ok()) return done;

    const writers_lock::shared inside{writers_};
    if (is_put) {
        rocks_guard_core::entering in{*core_, hashed};
        clock_.tick(hashed.where());
        fail_point("guard.entered");
        done = accounts_.counted(both.Count(), [&] { return db_->Write(options, &both); });
        fail_point("store.committed");
        in.on_committed(hashed);  // after an error too: the write may have been done
        fail_point("guard.inserted");
    } else {
        done = accounts_.counted(both.Count(), [&] { return db_->Write(options, &both); });
        fail_point("store.removed");
        if (done.ok()) core_->on_erased(hashed);
        fail_point("guard.forgotten");
    }
    return done;
}

rocksdb::Status guarded_db::Put(const rocksdb::WriteOptions& options, Family* family, const Slice& key,
                                const Slice& value) {
    if (is_own(family)) return not_ours();
    if (!is_guarded(family)) return pass_on(1, [&] { return db_->Put(options, family, key, value); });
    return write_one(options, key, value.size(), true,
                     [&](rocksdb::WriteBatch& batch) { return batch.Put(family, key, value); });
}

rocksdb::Status guarded_db::PutEntity(const rocksdb::WriteOptions& options, Family* family, const Slice& key,
                                      const rocksdb::WideColumns& columns) {
    if (is_own(family)) return not_ours();
    if (!is_guarded(family)) return pass_on(1, [&] { return db_->PutEntity(options, family, key, columns); });
    return write_one(options, key, 0, true,
                     [&](rocksdb::WriteBatch& batch) { return batch.PutEntity(family, key, columns); });
}

rocksdb::Status guarded_db::Merge(const rocksdb::WriteOptions& options, Family* family, const Slice& key,
                                  const Slice& value) {
    if (is_own(family)) return not_ours();
    if (!is_guarded(family)) return pass_on(1, [&] { return db_->Merge(options, family, key, value); });
    if (!has_merge_operator_) return no_merge_operator();
    return write_one(options, key, value.size(), true,
                     [&](rocksdb::WriteBatch& batch) { return batch.Merge(family, key, value); });
}

rocksdb::Status guarded_db::Delete(const rocksdb::WriteOptions& options, Family* family, const Slice& key) {
    if (is_own(family)) return not_ours();
    if (!is_guarded(family)) return pass_on(1, [&] { return db_->Delete(options, family, key); });
    return write_one(options, key, 0, false, [&](rocksdb::WriteBatch& batch) { return batch.Delete(family, key); });
}

rocksdb::Status guarded_db::SingleDelete(const rocksdb::WriteOptions& options, Family* family, const Slice& key) {
    if (is_own(family)) return not_ours();
    if (!is_guarded(family)) return pass_on(1, [&] { return db_->SingleDelete(options, family, key); });
    return write_one(options, key, 0, false,
                     [&](rocksdb::WriteBatch& batch) { return batch.SingleDelete(family, key); });
}

rocksdb::Status guarded_db::DeleteRange(const rocksdb::WriteOptions& options, Family* family, const Slice& begin,
                                        const Slice& end) {
    if (is_own(family)) return not_ours();
    if (!is_guarded(family)) return pass_on(1, [&] { return db_->DeleteRange(options, family, begin, end); });
    rocksdb::WriteBatch batch;
    if (Status added = batch.DeleteRange(family, begin, end); !added.ok()) return added;
    return Write(options, &batch);
}

rocksdb::Status guarded_db::Put(const rocksdb::WriteOptions& options, Family* family, const Slice& key,
                                const Slice& timestamp, const Slice& value) {
    if (is_own(family) || is_guarded(family)) return no_timestamps();
    return pass_on(1, [&] { return db_->Put(options, family, key, timestamp, value); });
}
rocksdb::Status guarded_db::Merge(const rocksdb::WriteOptions& options, Family* family, const Slice& key,
                                  const Slice& timestamp, const Slice& value) {
    if (is_own(family) || is_guarded(family)) return no_timestamps();
    return pass_on(1, [&] { return db_->Merge(options, family, key, timestamp, value); });
}
rocksdb::Status guarded_db::Delete(const rocksdb::WriteOptions& options, Family* family, const Slice& key,
                                   const Slice& timestamp) {
    if (is_own(family) || is_guarded(family)) return no_timestamps();
    return pass_on(1, [&] { return db_->Delete(options, family, key, timestamp); });
}
rocksdb::Status guarded_db::SingleDelete(const rocksdb::WriteOptions& options, Family* family, const Slice& key,
                                         const Slice& timestamp) {
    if (is_own(family) || is_guarded(family)) return no_timestamps();
    return pass_on(1, [&] { return db_->SingleDelete(options, family, key, timestamp); });
}
rocksdb::Status guarded_db::DeleteRange(const rocksdb::WriteOptions& options, Family* family, const Slice& begin,
                                        const Slice& end, const Slice& timestamp) {
    if (is_own(family) || is_guarded(family)) return no_timestamps();
    return pass_on(1, [&] { return db_->DeleteRange(options, family, begin, end, timestamp); });
}

rocksdb::Status guarded_db::Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch* updates) {
    if (updates == nullptr || closed_.load(std::memory_order_relaxed)) return db_->Write(options, updates);
    batch_plan plan{core_->hash(), index_id_, meta_id_, has_merge_operator_};
    if (Status read = plan.read(*updates); !read.ok()) return read;
    if (!plan.touches_guarded()) return pass_on(updates->Count(), [&] { return db_->Write(options, updates); });
    if (Status logged = check_log(options); !logged.ok()) return logged;
    if (!updates->GetWalTerminationPoint().is_cleared())
        return Status::NotSupported("a guarded column family takes no batches with a WAL termination point");
    if (!plan.has_ranges()) {
        const writers_lock::shared inside{writers_};
        return write_batch(options, *updates, plan);
    }
    if (has_row_cache_) return Status::NotSupported("DeleteRange is not compatible with row cache.");
    return write_ranges(options, *updates, plan);
}

// What the guard writes for itself under a writers' lock: records and notes. Not synced.
rocksdb::Status guarded_db::write_own(rocksdb::WriteBatch& batch) {
    return accounts_.counted(batch.Count(), [&] { return db_->Write({}, &batch); });
}

rocksdb::Status guarded_db::write_batch(const rocksdb::WriteOptions& options, rocksdb::WriteBatch& updates,
                                        batch_plan& plan) {
    rocksdb::WriteBatch all{updates};
    all.SetMaxBytes(0);  // the user's limit applies to the user's part only
    if (Status added = plan.append_records(all, records_.family()); !added.ok()) return added;
    plan.finish();
    return commit(options, all, plan);
}

rocksdb::Status guarded_db::commit(const rocksdb::WriteOptions& options, rocksdb::WriteBatch& all,
                                   const batch_plan& plan) {
    rocks_guard_core::entering in{*core_, in_flight_keys{plan.puts(), &batch_plan::change::where}};
    for (const batch_plan::change& each : plan.puts()) clock_.tick(each.where());
    fail_point("guard.entered");
    Status done = accounts_.counted(all.Count(), [&] { return db_->Write(options, &all); });
    fail_point("store.committed");
    for (const batch_plan::change& each : plan.puts()) {
        in.on_committed(each.key);  // after an error too: the write may have been done
        fail_point("guard.key_inserted");
    }
    if (done.ok()) {
        for (const batch_plan::change& each : plan.deletions()) core_->on_erased(each.key);
    }
    fail_point("guard.inserted");
    return done;
}

}  // namespace genista::rocks
