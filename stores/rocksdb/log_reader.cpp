// Finds the logs that hold a range of writes, and reads them. See log_reader.hpp.
#include "stores/rocksdb/log_reader.hpp"

#include <rocksdb/file_system.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "genista/detail/stores/rocksdb/status.hpp"

namespace genista::rocks {
namespace {

using log_list = rocksdb::VectorLogPtr;

// Whether a log holds only notes (PutLogData), which have no sequence numbers. Notes are short, so
// only the first block of the file is looked at, and everything that is not certainly a note counts
// as a write. RocksDB's log is blocks of 32 KB with records of [checksum u32, length u16, type u8,
// bytes]. The bytes of a whole batch (type 1) begin with [sequence u64, count u32].
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

error has_a_gap(std::uint64_t first) noexcept {
    return error::make(error_code::unsupported, "the store's logs do not reach back to write %llu without a gap",
                       static_cast<unsigned long long>(first));
}

// The logs that hold the store's history from `first` on. Each log counts up to where the next one
// begins. A sequence number may occur twice, the second time in a log with a higher number:
//   - After a loss of power RocksDB may discard a whole log, because the one before it ends in a
//     torn record. The file stays in the archive.
//   - A batch that was appended to a log and could not be synced has failed. If RocksDB continues
//     (Resume, also by itself), it begins a new log with the number of that batch, and the batch
//     stays at the end of the old log.
// So the log that holds `first` is the last one that begins at or before it. RocksDB searches by
// sequence numbers and finds the same log, if none before it begins later. Two logs that begin with
// the same number belong to one history only if the first has nothing but notes. Logs that begin
// beyond `newest` were discarded and are not read.
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
    if (at == logs.size()) return has_a_gap(first);
    const std::uint64_t begin = logs[at]->StartSequence();
    for (std::size_t i = 0; i < at; ++i) {
        const std::uint64_t start = logs[i]->StartSequence();
        if (start > begin || (start == begin && !holds_only_notes(db, *logs[i]))) return has_a_gap(first);
    }
    log_list used;
    for (std::size_t i = at; i < logs.size(); ++i) {
        const std::uint64_t start = logs[i]->StartSequence();
        const std::uint64_t next = i + 1 < logs.size() ? logs[i + 1]->StartSequence() : newest + 1;
        if (next < start || (next == start && !holds_only_notes(db, *logs[i]))) return has_a_gap(first);
        if (next > start) used.push_back(std::move(logs[i]));
    }
    return used;
}

}  // namespace

result<void> read_log_since(rocksdb::DB& db, std::uint64_t after, std::uint64_t newest,
                            const std::function<rocksdb::Status(const rocksdb::WriteBatch&)>& take) {
    if (newest <= after) return {};
    const auto logs = logs_since(db, after + 1, newest);
    if (!logs) return logs.error();
    std::uint64_t next = after + 1;
    for (std::size_t i = 0; i < logs->size(); ++i) {
        // The numbers from `end` on belong to the next log. No record is read beyond the last one
        // needed: RocksDB 7.8 asserts that a batch in a log is not newer than the store, and a
        // batch that could not be synced may be newer.
        const std::uint64_t end = i + 1 < logs->size() ? (*logs)[i + 1]->StartSequence() : newest + 1;
        std::unique_ptr<rocksdb::TransactionLogIterator> log;
        rocksdb::Status status = db.GetUpdatesSince(next, &log);
        if (!status.ok()) return to_error(status, "read the store's log");
        while (log->Valid()) {
            const rocksdb::BatchResult batch = log->GetBatch();
            if (batch.sequence > next) break;
            const std::uint64_t behind = batch.sequence + batch.writeBatchPtr->Count();
            if (behind > end && end <= newest) return has_a_gap(end);
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
