// Completes an index while other threads read and write, and removes records whose keys are absent
// from the data. See guarded_db.hpp and decision 0022.
#include <rocksdb/write_batch.h>

#include <memory>

#include "genista/detail/base/fail_point.hpp"
#include "genista/stores/rocksdb/guarded_db.hpp"
#include "stores/rocksdb/index_builder.hpp"

namespace genista::rocks {
namespace {

constexpr std::size_t keys_per_piece = 256;  // writers wait for one piece at most

}  // namespace

result<void> guarded_db::repair() noexcept try {
    if (closed_.load(std::memory_order_relaxed)) return error::make(error_code::io, "the database is closed");
    return snapshotter_->repair();
} catch (const std::exception&) {
    return error::make(error_code::out_of_memory, "no memory to repair");
}

result<void> guarded_db::look_for_foreign_writes() {
    if (closed_.load(std::memory_order_relaxed)) return error::make(error_code::io, "the database is closed");
    return snapshotter_->look();
}

result<void> guarded_db::reindex() {
    if (closed_.load(std::memory_order_relaxed)) return error::make(error_code::io, "the database is closed");
    core_->need_repair_everywhere(false);
    return repair();
}

// Writes the records of up to keys_per_piece keys from `from` on. False: there are no more. No
// other thread writes meanwhile, so a key that is read here still exists when its record is
// written.
result<bool> guarded_db::index_piece(std::string& from, std::uint64_t& done) {
    rocksdb::WriteBatch records;
    rocksdb::Status added;
    const writers_lock::exclusive alone{writers_};
    const std::unique_ptr<rocksdb::Iterator> at{db_->NewIterator(scan_options())};
    if (from.empty())
        at->SeekToFirst();
    else
        at->Seek(from);
    for (; added.ok() && at->Valid() && records.Count() < keys_per_piece; at->Next()) {
        const key_view key = to_key(at->key());
        const record_key name{{core_->hash(), key}};
        added = records.Put(&records_.family(), name.slice(), {});
    }
    if (!at->status().ok()) return to_error(at->status(), "read the keys of the database");
    if (!added.ok()) return to_error(added, "complete the index");
    const bool more = at->Valid();
    if (more) from = at->key().ToString();
    if (records.Count() == 0) return more;
    const auto written = accounts_.counted(records.Count(), [&] { return db_->Write({}, &records); });
    if (!written.ok()) return to_error(written, "complete the index");
    done += records.Count();
    return more;
}

result<void> guarded_db::make_whole(const std::atomic<bool>& stop) {
    const std::lock_guard one_at_a_time{reindexing_};
    if (!core_->remote_lacks_keys()) return {};
    std::uint64_t lacks = 0;
    {
        // The state on disk first: if the process dies now, the next opening builds the index
        // again.
        const writers_lock::exclusive alone{writers_};
        (void)accounts_.reconcile();  // the scan below meets what was foreign until here
        lacks = core_->remote_lacks();
        if (meta_.state != store_state::indexing) {
            meta_.state = store_state::indexing;
            if (const auto written = next_generation(); !written) return written;
        }
    }
    fail_point("index.started");
    std::uint64_t all = 0, done = 0;
    (void)db_->GetIntProperty(rocksdb::DB::Properties::kEstimateNumKeys, &all);
    std::string from;
    for (bool more = true; more;) {
        if (stop.load(std::memory_order_relaxed))
            return error::make(error_code::timeout, "the index was not completed: the database is being closed");
        const auto piece = index_piece(from, done);
        if (!piece) return piece.error();
        more = *piece;
        fail_point("index.batch");
        if (progress_) progress_(opening_stage::indexing, done, std::max(done, all));
    }
    fail_point("index.filled");
    const writers_lock::exclusive alone{writers_};
    // A foreign write beside the scan may be of a key that the scan has passed: the scan starts
    // over. The accounts report a foreign write once, perhaps to another thread (a look, a
    // snapshot, an ingest), which has then informed the guard. The write for which reindex() was
    // called may be one of these.
    if (!reconcile_accounts() || core_->remote_lacks() != lacks) {
        return error::make(error_code::mismatch,
                           "writes went past the guard, or reindex() was called, while the index was completed");
    }
    if (const auto noted = accounts_.note_tables(); !noted) return noted;
    meta_.state = store_state::ready;
    if (const auto written = next_generation(); !written) {
        meta_.state = store_state::indexing;
        return written;
    }
    snapshotter_->set_generation(meta_.generation);
    if (!core_->remote_is_whole(lacks))
        return error::make(error_code::mismatch, "reindex() was called while the index was completed");
    if (reconcile_accounts()) (void)accounts_.note();
    fail_point("index.ready");
    return {};
}

bool guarded_db::reconcile_accounts() {
    if (accounts_.reconcile()) return true;
    core_->on_foreign_writes("every key is answered \"maybe\" until the index is completed");
    core_->need_repair_everywhere(false);
    return false;
}

// An orphan is a record of the index whose key `default` does not have, because it was deleted past
// the guard. No other thread writes meanwhile, so the record does not belong to a put in flight.
// The check of the log accepts this deletion, because the key is absent.
void guarded_db::remove_orphan(const hashed_key& key) {
    std::string value;
    const auto is_orphan = [&] {
        if (!db_->Get({}, DefaultColumnFamily(), to_slice(key.view()), &value).IsNotFound()) return false;
        const auto held = records_.contains(key.where(), key.view());
        return held && *held;
    };
    if (!is_orphan()) return;  // a put or a deletion beside the query: writers need not stop
    const record_key name{key};
    const writers_lock::exclusive alone{writers_};
    if (!is_orphan()) return;
    const auto gone = accounts_.counted(1, [&] { return db_->Delete({}, &records_.family(), name.slice()); });
    if (!gone.ok()) return;
    if constexpr (rocks_guard_core::learns) core_->on_erased(key);
    core_->live_counters().count(live_guard_counters::orphan_record);
}

}  // namespace genista::rocks
