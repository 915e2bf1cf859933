// Column families: which one is guarded, which are genista's own, and which calls they allow.
// Closing. See guarded_db.hpp.
#include <algorithm>

#include "genista/stores/rocksdb/guarded_db.hpp"
#include "stores/rocksdb/batch_plan.hpp"
#include "stores/rocksdb/closed_db.hpp"

namespace genista::rocks {
namespace {

constexpr unsigned most_repaired_at_close = range_states::number_of_ranges / 64;

rocksdb::Status check_name(const std::string& name) {
    if (!name.starts_with(own_family_prefix)) return {};
    return rocksdb::Status::NotSupported("names of column families that begin with genista. are taken");
}

rocksdb::Status not_yours() {
    return rocksdb::Status::NotSupported("column families of genista cannot be dropped, changed or released");
}

}  // namespace

// RocksDB also accepts a null handle for the family `default`.
bool guarded_db::is_guarded(const Family* family) const noexcept {
    if (closed_.load(std::memory_order_relaxed)) return false;
    return family == nullptr || const_cast<Family*>(family)->GetID() == guarded_family_id;
}

bool guarded_db::is_own(const Family* family) const noexcept {
    if (closed_.load(std::memory_order_relaxed)) return false;
    return family != nullptr && is_own(const_cast<Family*>(family)->GetID());
}

rocksdb::ColumnFamilyHandle* guarded_db::family(std::string_view name) const {
    if (name.starts_with(own_family_prefix)) return nullptr;
    const std::lock_guard held{handles_mutex_};
    return handles_.family(name);
}

rocksdb::Status guarded_db::CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                                               Family** handle) {
    if (Status named = check_name(name); !named.ok()) return named;
    return db_->CreateColumnFamily(options, name, handle);
}

rocksdb::Status guarded_db::CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                                                 const std::vector<std::string>& names, std::vector<Family*>* handles) {
    for (const std::string& each : names) {
        if (Status named = check_name(each); !named.ok()) return named;
    }
    return db_->CreateColumnFamilies(options, names, handles);
}

rocksdb::Status guarded_db::CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                                                 std::vector<Family*>* handles) {
    for (const auto& each : families) {
        if (Status named = check_name(each.name); !named.ok()) return named;
    }
    return db_->CreateColumnFamilies(families, handles);
}

rocksdb::Status guarded_db::CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions& options,
                                                         const std::string& name,
                                                         const rocksdb::ImportColumnFamilyOptions& how,
                                                         const rocksdb::ExportImportFilesMetaData& metadata,
                                                         Family** handle) {
    if (closed_.load(std::memory_order_relaxed)) return closed_db::closed();
    if (Status named = check_name(name); !named.ok()) return named;
    // An import moves RocksDB's sequence number up to the highest one of the files.
    std::uint64_t highest = 0;
    for (const auto& each : metadata.files) highest = std::max(highest, each.largest_seqno);
    const writers_lock::exclusive alone{writers_};
    return accounts_.counted_import(
        highest, [&] { return db_->CreateColumnFamilyWithImport(options, name, how, metadata, handle); });
}

rocksdb::Status guarded_db::DropColumnFamily(Family* family) {
    return is_own(family) ? not_yours() : db_->DropColumnFamily(family);
}

rocksdb::Status guarded_db::DropColumnFamilies(const std::vector<Family*>& families) {
    const bool any_own = std::ranges::any_of(families, [&](const Family* each) { return is_own(each); });
    return any_own ? not_yours() : db_->DropColumnFamilies(families);
}

rocksdb::Status guarded_db::DestroyColumnFamilyHandle(Family* family) {
    if (closed_.load(std::memory_order_relaxed)) return closed_db::closed();
    if (family == &records_.family()) return not_yours();
    {
        const std::lock_guard held{handles_mutex_};
        handles_.release(family);
    }
    return db_->DestroyColumnFamilyHandle(family);
}

rocksdb::Status guarded_db::SetOptions(Family* family, const std::unordered_map<std::string, std::string>& options) {
    return is_own(family) ? not_yours() : db_->SetOptions(family, options);
}

rocksdb::Status guarded_db::DeleteFile(std::string) {
    return Status::NotSupported("DeleteFile could bring deleted keys back without the guard");
}

rocksdb::Status guarded_db::NewDefaultReplayer(const std::vector<Family*>&, std::unique_ptr<rocksdb::TraceReader>&&,
                                               std::unique_ptr<rocksdb::Replayer>*) {
    return Status::NotSupported("a replayer would write without the guard");
}

rocksdb::Status guarded_db::Close() {
    if (closed_.load(std::memory_order_relaxed)) return {};
    // Checked here, because RocksDB would refuse after half of the steps below are done.
    std::uint64_t snapshots = 0;
    if (db_->GetIntProperty(rocksdb::DB::Properties::kNumSnapshots, &snapshots) && snapshots > 0)
        return Status::Aborted("Cannot close DB with unreleased snapshot.");
    return close_now();
}

rocksdb::Status guarded_db::close_now() {
    if (closed_.load(std::memory_order_relaxed)) return {};
    snapshotter_->stop();
    // Repairs a few ranges only: closing does not wait for work that an opening or a foreign write
    // left to the thread.
    const bool is_behind = core_->pending_ranges() > most_repaired_at_close;
    if (snapshot_on_close_ && !is_behind && core_->any_range_needs_repair()) (void)snapshotter_->repair();
    (void)snapshotter_->look();  // writes a last mark, with or without a snapshot
    const bool saves = snapshot_on_close_ && core_->pending_ranges() <= most_repaired_at_close;
    const auto saved = saves ? snapshotter_->save() : result<void>{};
    snapshotter_->close();
    core_->drain();  // afterwards its thread reads the index no more
    ingests_->on_foreign_file({});
    {
        const std::lock_guard held{handles_mutex_};
        handles_.destroy_handles(*db_);
    }
    Status closed = db_->Close();
    closed_base_.reset(db_);
    db_ = new closed_db{closed_base_->GetName(), closed_base_->GetEnv()};  // ~StackableDB deletes it
    records_.closed(*db_);
    closed_.store(true, std::memory_order_relaxed);
    if (closed.ok() && !saved) return to_status(saved.error());
    return closed;
}

guarded_db::~guarded_db() {
    close_now().PermitUncheckedError();
}

}  // namespace genista::rocks
