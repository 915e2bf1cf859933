// Looks for writes past the guard in the log and in the tables. See log_reader.hpp.
#include "stores/rocksdb/log_reader.hpp"

#include <rocksdb/table_properties.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "genista/detail/stores/rocksdb/ordered_records.hpp"
#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "genista/detail/stores/rocksdb/status.hpp"
#include "stores/rocksdb/batch_plan.hpp"

namespace genista::rocks {
namespace {

using evidence = std::optional<std::string>;

// Collects from one batch of the log the final state of each key of `default` and of each record of
// R. In a batch of the guard the two agree. A batch may also put records alone (a re-index), or
// delete records whose key is absent from the data.
class guard_check final : public batch_reader {
  public:
    guard_check(const hasher& hash, std::uint32_t index_id) : hash_{hash}, index_id_{index_id} {}

    // Call it after each batch.
    void end_of_batch() {
        for (auto& [key, left] : keys_) {
            if (!left.data) {
                // A range delete of the guard removes the records of its keys one by one, in later
                // batches.
                if (left.record == false && !has_range_) doubtful_.push_back(key);
            } else if (left.record != left.data) {
                if (has_range_)
                    doubtful_.push_back(key);  // put, then deleted by the range
                else
                    foreign_ = true;
            }
        }
        keys_.clear();
        has_range_ = false;
    }
    [[nodiscard]] bool is_foreign() const noexcept { return foreign_; }
    // Keys whose records were deleted. This is correct if `default` does not have them.
    [[nodiscard]] const std::vector<std::string>& doubtful() const noexcept { return doubtful_; }

  private:
    struct left_behind {
        std::optional<bool> data, record;  // true: put, false: deleted, nothing: not touched
    };

    rocksdb::Status on_change(std::uint32_t family, const rocksdb::Slice& key, bool there) override {
        if (family == guarded_family_id) keys_[key.ToString()].data = there;
        if (family != index_id_) return {};
        const auto record = decode_record(key);
        if (!record || !(hash_(record->second) == record->first))
            foreign_ = true;
        else
            keys_[std::string{record->second.text()}].record = there;
        return {};
    }
    rocksdb::Status on_range(std::uint32_t family, const rocksdb::Slice&, const rocksdb::Slice&) override {
        if (family == index_id_) foreign_ = true;
        has_range_ = has_range_ || family == guarded_family_id;
        return {};
    }
    rocksdb::Status on_transaction() override {
        foreign_ = true;
        return {};
    }

    const hasher& hash_;
    std::uint32_t index_id_;
    std::unordered_map<std::string, left_behind> keys_;
    bool has_range_ = false;
    bool foreign_ = false;
    std::vector<std::string> doubtful_;
};

result<evidence> look_at_log(const database& db, const store_meta& meta, std::uint64_t newest) {
    const hasher hash = meta.hash();
    rocksdb::ColumnFamilyHandle& index = *db.family(index_family_name);
    guard_check check{hash, index.GetID()};
    const auto read = read_log_since(db.base(), meta.mark->sequence, newest,
                                     [&](const rocksdb::WriteBatch& batch) -> rocksdb::Status {
                                         rocksdb::Status seen = batch.Iterate(&check);
                                         check.end_of_batch();
                                         return seen;
                                     });
    if (!read) return evidence{std::string{read.error().message()}};
    if (check.is_foreign()) return evidence{"the log has writes that did not go through the guard"};
    ordered_records records{db.base(), index};
    for (const std::string& key : check.doubtful()) {
        std::string value;
        const rocksdb::Status got = db.base().Get({}, key, &value);
        if (!got.ok() && !got.IsNotFound()) return to_error(got, "look for foreign writes");
        const auto held = records.contains(hash(key), key);
        if (!held) return held.error();
        if (got.ok() && !*held) return evidence{"a record of the index was deleted without its key"};
    }
    return evidence{};
}

result<evidence> look_at_tables(const database& db, const write_mark& mark) {
    std::vector<rocksdb::LiveFileMetaData> tables;
    db.base().GetLiveFilesMetaData(&tables);
    const auto is_older = [&](const rocksdb::LiveFileMetaData& each) {
        return each.column_family_name != rocksdb::kDefaultColumnFamilyName || each.file_number <= mark.file;
    };
    tables.erase(std::remove_if(tables.begin(), tables.end(), is_older), tables.end());
    if (tables.empty()) return evidence{};
    std::string present;
    if (const auto named = db.base().GetDbSessionId(present); !named.ok()) return to_error(named, "name this session");
    rocksdb::TablePropertiesCollection properties;
    const auto read = db.base().GetPropertiesOfAllTables(db.base().DefaultColumnFamily(), &properties);
    if (!read.ok()) return to_error(read, "read the properties of tables");
    for (const auto& each : tables) {
        const auto known = properties.find(each.db_path + each.name);
        const std::string* const made_by = known == properties.end() ? nullptr : &known->second->db_session_id;
        if (made_by == nullptr || (*made_by != mark.session && *made_by != present))
            return evidence{"the table " + each.name.substr(1) + " was made by another program"};
    }
    return evidence{};
}

}  // namespace

result<std::optional<std::string>> find_foreign_writes(const database& db, const store_meta& meta) {
    if (!meta.mark) return evidence{"no mark says how far its writes are accounted for"};
    const std::uint64_t newest = db.base().GetLatestSequenceNumber();
    const std::uint64_t behind_mark = meta.mark->sequence + meta.mark->entries;
    if (newest < behind_mark) return evidence{"the store lacks writes that its mark covers"};
    auto found = look_at_tables(db, *meta.mark);
    if (!found || found->has_value()) return found;
    // The mark is older than the newest write: a foreign write may be between the look and the
    // write of the mark itself.
    return newest == behind_mark ? result<evidence>{evidence{}} : look_at_log(db, meta, newest);
}

}  // namespace genista::rocks
