// See log_since.hpp.
#include "stores/rocksdb/log_since.hpp"

#include <rocksdb/file_system.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "genista/detail/stores/rocksdb/status.hpp"

namespace genista::rocks {
namespace {

using log_list = rocksdb::VectorLogPtr;

// Whether a log holds notes only (PutLogData), which have no sequence numbers. Notes are short, so
// that the first block of the file is looked at, and all that is not surely a note is taken for
// more: RocksDB's log is blocks of 32 KB with records of [checksum u32, length u16, type u8,
// bytes], and the bytes of a whole batch (type 1) begin with [sequence u64, count u32].
bool holds_only_notes(rocksdb::DB& db, const rocksdb::LogFile& log) {
    constexpr std::size_t block_bytes = 32768, header_bytes = 7, counted_bytes = 12;
    constexpr unsigned char whole_record = 1;
    if (log.SizeFileBytes() >= block_bytes) return false;
    const rocksdb::DBOptions options = db.GetDBOptions();
    const std::string path = (options.wal_dir.empty() ? db.GetName() : options.wal_dir) + log.PathName();
    std::unique_ptr<rocksdb::FSSequentialFile> file;
    if (!db.GetFileSystem()->NewSequentialFile(path, {}, &file, nullptr).ok()) return false;
    std::string space(block_bytes, '\0');
    rocksdb::Slice bytes;
    if (!file->Read(block_bytes, {}, &bytes, space.data(), nullptr).ok()) return false;
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
    for (std::size_t at = 0; at < bytes.size();) {
        if (bytes.size() - at < header_bytes + counted_bytes || byte(at + 6) != whole_record) return false;
        const std::size_t length = byte(at + 4) + std::size_t{256} * byte(at + 5);
        const std::size_t count = at + header_bytes + 8;
        if (byte(count) != 0 || byte(count + 1) != 0 || byte(count + 2) != 0 || byte(count + 3) != 0) return false;
        at += header_bytes + length;
    }
    return true;
}

error not_in_one_line(std::uint64_t first) noexcept {
    return error::make(error_code::unsupported, "the store's logs do not reach back to write %llu in one line",
                       static_cast<unsigned long long>(first));
}

// The logs that tell the store's own story from `first` on; each of them does so up to where the
// next one begins. A number may be used a second time, by a log with a higher number:
//   - After a loss of power RocksDB may discard a whole log, because the one before it ends in a
//     torn record. The file stays in the archive.
//   - A batch that was appended to a log and could not be synced failed. If RocksDB goes on
//     (Resume, also by itself), it begins a new log with the number of that batch, which stays at
//     the end of the old one.
// So the log that holds `first` is the last one that begins at or before it; RocksDB, which
// searches by sequence numbers, finds the same one if none before it begins later. Two that begin
// alike are one story only if the first has nothing but notes. Logs that begin beyond `newest` were
// discarded and are not read.
result<log_list> logs_since(rocksdb::DB& db, std::uint64_t first, std::uint64_t newest) {
    log_list logs;
    if (const auto listed = db.GetSortedWalFiles(logs); !listed.ok()) return to_error(listed, "list the store's logs");
    logs.erase(
        std::remove_if(logs.begin(), logs.end(), [&](const auto& each) { return each->StartSequence() > newest; }),
        logs.end());
    std::size_t at = logs.size();
    for (std::size_t i = 0; i < logs.size(); ++i) {
        if (logs[i]->StartSequence() <= first) at = i;
    }
    if (at == logs.size()) return not_in_one_line(first);
    const std::uint64_t begin = logs[at]->StartSequence();
    for (std::size_t i = 0; i < at; ++i) {
        const std::uint64_t start = logs[i]->StartSequence();
        if (start > begin || (start == begin && !holds_only_notes(db, *logs[i]))) return not_in_one_line(first);
    }
    log_list told;
    for (std::size_t i = at; i < logs.size(); ++i) {
        const std::uint64_t start = logs[i]->StartSequence();
        const std::uint64_t next = i + 1 < logs.size() ? logs[i + 1]->StartSequence() : newest + 1;
        if (next < start || (next == start && !holds_only_notes(db, *logs[i]))) return not_in_one_line(first);
        if (next > start) told.push_back(std::move(logs[i]));
    }
    return told;
}

}  // namespace

result<void> read_log_since(rocksdb::DB& db, std::uint64_t after, std::uint64_t newest,
                            const std::function<rocksdb::Status(const rocksdb::WriteBatch&)>& take) {
    if (newest <= after) return {};
    const auto logs = logs_since(db, after + 1, newest);
    if (!logs) return logs.error();
    std::uint64_t next = after + 1;
    for (std::size_t i = 0; i < logs->size(); ++i) {
        // The numbers from `end` on are the next log's to tell. Not one record more is read than
        // needed: RocksDB 7.8 asserts that a batch in a log is not newer than the store, which one
        // that could not be synced may be.
        const std::uint64_t end = i + 1 < logs->size() ? (*logs)[i + 1]->StartSequence() : newest + 1;
        std::unique_ptr<rocksdb::TransactionLogIterator> log;
        rocksdb::Status status = db.GetUpdatesSince(next, &log);
        if (!status.ok()) return to_error(status, "read the store's log");
        while (log->Valid()) {
            const rocksdb::BatchResult batch = log->GetBatch();
            if (batch.sequence > next) break;
            const std::uint64_t behind = batch.sequence + batch.writeBatchPtr->Count();
            if (behind > end && end <= newest) return not_in_one_line(end);
            status = take(*batch.writeBatchPtr);
            if (!status.ok()) return to_error(status, "repeat the store's log");
            next = std::max(next, behind);
            if (next >= end) break;
            log->Next();
        }
        if (next < end) {
            return error::make(error_code::unsupported, "the store's log does not hold write %llu",
                               static_cast<unsigned long long>(next));
        }
    }
    return {};
}

}  // namespace genista::rocks
