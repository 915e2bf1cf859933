// Counts the guard's own writes, and compares the count with RocksDB's. See write_accounts.hpp.
#include "genista/detail/stores/rocksdb/write_accounts.hpp"

#include "genista/detail/stores/rocksdb/status.hpp"

namespace genista::rocks {

void ingest_listener::OnExternalFileIngested(rocksdb::DB*, const rocksdb::ExternalFileIngestionInfo& info) {
    std::function<void()> tell;
    {
        const std::lock_guard held{mutex_};
        if (info.global_seqno != 0) numbers_.insert(info.global_seqno);
        if (info.cf_name != rocksdb::kDefaultColumnFamilyName) return;
        ++files_;
        if (expected_ > 0)
            --expected_;
        else
            tell = on_foreign_file_;
    }
    if (tell) tell();
}
void ingest_listener::expect(std::uint64_t files) {
    const std::lock_guard held{mutex_};
    expected_ = files;
}
void ingest_listener::on_foreign_file(std::function<void()> call) {
    const std::lock_guard held{mutex_};
    on_foreign_file_ = std::move(call);
}
std::uint64_t ingest_listener::files() const {
    const std::lock_guard held{mutex_};
    return files_;
}
std::uint64_t ingest_listener::take_numbers() {
    const std::lock_guard held{mutex_};
    const std::uint64_t taken = numbers_.size();
    numbers_.clear();
    return taken;
}

write_accounts::write_accounts(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* notes, std::optional<write_mark> mark,
                               std::shared_ptr<ingest_listener> ingests)
    : db_{&db},
      notes_{notes},
      mark_{std::move(mark)},
      ingests_{std::move(ingests)},
      own_files_{ingests_ != nullptr ? ingests_->files() : 0},
      sequence_{db.GetLatestSequenceNumber()} {}

bool write_accounts::reconcile() {
    const std::uint64_t now = db_->GetLatestSequenceNumber();
    const std::uint64_t files = ingests_ != nullptr ? ingests_->files() : own_files_;
    const std::uint64_t of_files = ingests_ != nullptr ? ingests_->take_numbers() : 0;
    const bool all_ours = now - sequence_ == through_.load(std::memory_order_relaxed) + of_files && files == own_files_;
    sequence_ = now;
    foreign_file_ = foreign_file_ || files != own_files_;
    own_files_ = files;
    through_.store(0, std::memory_order_relaxed);
    return all_ours;
}

std::optional<write_mark> write_accounts::mark() const {
    const bool undecided = ingests_ != nullptr && ingests_->files() != own_files_;
    return foreign_file_ || undecided ? std::nullopt : mark_;
}

void write_accounts::forget_mark() {
    if (notes_ == nullptr) return;
    // After an error the mark stays, which is safe: RocksDB takes no writes then, and compacts
    // nothing.
    counted(1, [&] { return write_mark_entry(*db_, *notes_, std::nullopt, true); }).PermitUncheckedError();
}

bool write_accounts::has_writes_after(std::uint64_t sequence) const {
    std::unique_ptr<rocksdb::TransactionLogIterator> log;
    return db_->GetUpdatesSince(sequence + 1, &log).ok() && log->Valid() && log->GetBatch().sequence > sequence;
}

result<void> write_accounts::note(bool durably) {
    if (notes_ == nullptr || !mark_ || foreign_file_) return {};
    if (mark_->sequence + mark_->entries == sequence_ && !tables_moved_) return {};
    write_mark next = *mark_;
    next.sequence = sequence_;
    next.entries = 1;
    const rocksdb::Status written = counted(1, [&] { return write_mark_entry(*db_, *notes_, next, durably); });
    if (!written.ok()) return to_error(written, "write a mark");
    mark_ = std::move(next);
    tables_moved_ = false;
    return {};
}

result<void> write_accounts::note_tables() {
    auto moved = mark_tables(*db_);
    if (!moved) return moved.error();
    foreign_file_ = false;
    if (!mark_) return {};
    mark_->file = moved->file;
    mark_->session = std::move(moved->session);
    tables_moved_ = true;
    return {};
}

}  // namespace genista::rocks
