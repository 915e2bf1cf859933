// See log_since.hpp.
#include "stores/rocksdb/log_since.hpp"

#include <algorithm>

#include "genista/stores/rocksdb/status.hpp"

namespace genista::rocks {
namespace {

// Whether the log from `first` on tells the store's own story. After a loss of power RocksDB may discard a whole log,
// because the one before it ends in a torn record; the file stays in the archive, and its sequence numbers are used a
// second time, by a log with a higher number. So the log that holds `first` is the last one that begins at or before it;
// RocksDB, which searches by sequence numbers, finds the same one if none before it begins later, and reads on in the
// right order if the rest ascends. (Two that begin alike are one story: the first has only notes, which have no numbers.)
// Logs that begin beyond `newest` were discarded and are not read.
result<void> check_logs(rocksdb::DB& db, std::uint64_t first, std::uint64_t newest) {
    rocksdb::VectorLogPtr logs;
    if (const auto listed = db.GetSortedWalFiles(logs); !listed.ok()) return to_error(listed, "list the store's logs");
    logs.erase(
        std::remove_if(logs.begin(), logs.end(), [&](const auto& each) { return each->StartSequence() > newest; }),
        logs.end());
    std::size_t at = logs.size();
    for (std::size_t i = 0; i < logs.size(); ++i) {
        if (logs[i]->StartSequence() <= first) at = i;
    }
    bool sound = at < logs.size();
    for (std::size_t i = 0; sound && i < at; ++i) sound = logs[i]->StartSequence() <= logs[at]->StartSequence();
    for (std::size_t i = at + 1; sound && i < logs.size(); ++i)
        sound = logs[i - 1]->StartSequence() <= logs[i]->StartSequence();
    if (sound) return {};
    return error::make(error_code::unsupported, "the store's logs do not reach back to write %llu in one line",
                       static_cast<unsigned long long>(first));
}

}  // namespace

result<void> read_log_since(rocksdb::DB& db, std::uint64_t after, std::uint64_t newest,
                            const std::function<rocksdb::Status(const rocksdb::WriteBatch&)>& take) {
    if (newest <= after) return {};
    if (const auto sound = check_logs(db, after + 1, newest); !sound) return sound.error();
    std::unique_ptr<rocksdb::TransactionLogIterator> log;
    rocksdb::Status status = db.GetUpdatesSince(after + 1, &log);
    if (!status.ok()) return to_error(status, "read the store's log");
    std::uint64_t next = after + 1;
    for (; next <= newest && log->Valid(); log->Next()) {
        const rocksdb::BatchResult batch = log->GetBatch();
        if (batch.sequence > next) break;
        status = take(*batch.writeBatchPtr);
        if (!status.ok()) return to_error(status, "repeat the store's log");
        next = std::max(next, batch.sequence + batch.writeBatchPtr->Count());
    }
    if (next <= newest) {
        return error::make(error_code::unsupported, "the store's log does not hold write %llu",
                           static_cast<unsigned long long>(next));
    }
    return {};
}

}  // namespace genista::rocks
