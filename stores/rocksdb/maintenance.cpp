// Work on closed stores: settings, audit, re-index, unguard. See maintenance.hpp.
#include "genista/stores/rocksdb/maintenance.hpp"

#include <rocksdb/env.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <cstdarg>
#include <memory>
#include <new>
#include <utility>

#include "genista/detail/base/fail_point.hpp"
#include "genista/detail/format/snapshot.hpp"
#include "genista/detail/stores/rocksdb/database.hpp"
#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "genista/detail/stores/rocksdb/status.hpp"
#include "stores/rocksdb/index_builder.hpp"
#include "stores/rocksdb/snapshot_files.hpp"

namespace genista::rocks {
namespace {

constexpr std::uint64_t keys_between_reports = 4096;

class silent_logger final : public rocksdb::Logger {
  public:
    using Logger::Logv;
    void Logv(const char*, va_list) override {}
};

rocksdb::Env& env_of(const maintenance_options& options) noexcept {
    return options.env != nullptr ? *options.env : *rocksdb::Env::Default();
}

result<database> open_for_maintenance(const std::string& path, const maintenance_options& options, bool read_only) {
    if (!options.settings && !env_of(options).FileExists(path + "/CURRENT").ok()) {
        // The error says what is at the path instead.
        return database::open(path, {.options = {}, .families = {}, .create_if_missing = false, .read_only = true});
    }
    result<store_settings> loaded =
        options.settings ? *options.settings : settings_of(path, options.env, options.wal_dir);
    if (!loaded) return loaded.error();
    database::opening how{
        .options = loaded->rocksdb, .families = loaded->families, .create_if_missing = false, .read_only = read_only};
    how.families.emplace_back(meta_family_name, rocksdb::ColumnFamilyOptions{});
    how.families.emplace_back(index_family_name, loaded->index.value_or(rocksdb::ColumnFamilyOptions{}));
    if (read_only) how.options.info_log = std::make_shared<silent_logger>();  // else RocksDB moves its log file
    return database::open(path, std::move(how));
}

// Nothing if the database has no guard, or if its making was cut short before the meta was written.
result<std::optional<store_meta>> meta_of(const database& db, const std::string& path) {
    rocksdb::ColumnFamilyHandle* const family = db.family(meta_family_name);
    if (family == nullptr) return std::optional<store_meta>{};
    return read_meta(db.base(), *family, path);
}

class auditor {
  public:
    auditor(const database& db, const store_meta& meta, const maintenance_options& options)
        : base_{db.base()},
          hash_{meta.hash()},
          data_{db.family(rocksdb::kDefaultColumnFamilyName)},
          index_{db.family(index_family_name)},
          progress_{options.progress} {
        found_.arrangement = meta.arrangement;
        found_.state = meta.state;
        found_.has_index = meta.arrangement == layout::clustered || index_ != nullptr;
    }

    store_audit run() {
        if (found_.arrangement == layout::clustered) {
            note(scan_records(*data_, "reading the records"));
            found_.keys = records_.keys;
        } else {
            note(scan_data("reading the keys", [&](const rocksdb::Slice&, const digest& d) {
                data_sum_.add(d);
                return rocksdb::Status::OK();
            }));
            found_.keys = data_sum_.keys;
            if (compares()) note(scan_records(*index_, "reading the index"));
            if (compares() && found_.unreadable.empty() && !(data_sum_ == records_)) name_the_differences();
        }
        found_.records = records_.keys + found_.bad_records;
        return std::move(found_);
    }

  private:
    // An index that is being built is not used before it is whole.
    [[nodiscard]] bool compares() const noexcept { return index_ != nullptr && found_.state == store_state::ready; }

    void note(const rocksdb::Status& scanned) {
        if (!scanned.ok() && found_.unreadable.empty()) found_.unreadable = scanned.ToString();
    }
    void example(key_view key) {
        if (found_.examples.size() < store_audit::examples_kept) found_.examples.emplace_back(key.text());
    }

    template <class Visit>
    rocksdb::Status scan(rocksdb::ColumnFamilyHandle& family, std::string_view stage, Visit&& visit) {
        std::uint64_t all = 0, done = 0;
        base_.GetIntProperty(&family, rocksdb::DB::Properties::kEstimateNumKeys, &all);
        const auto report = [&] {
            if (progress_) progress_(stage, done, std::max(done, all));
        };
        const std::unique_ptr<rocksdb::Iterator> at{base_.NewIterator(scan_options(scan_readahead_bytes), &family)};
        report();
        for (at->SeekToFirst(); at->Valid(); at->Next()) {
            if (rocksdb::Status seen = visit(at->key()); !seen.ok()) return seen;
            if (++done % keys_between_reports == 0) report();
        }
        all = done;
        report();
        return at->status();
    }
    template <class Visit>
    rocksdb::Status scan_data(std::string_view stage, Visit&& visit) {
        return scan(*data_, stage, [&](const rocksdb::Slice& key) { return visit(key, hash_(to_key(key))); });
    }
    rocksdb::Status scan_records(rocksdb::ColumnFamilyHandle& family, std::string_view stage) {
        return scan(family, stage, [&](const rocksdb::Slice& bytes) {
            const auto record = decode_record(bytes);
            if (record && hash_(record->second) == record->first) {
                records_.add(record->first);
            } else {
                ++found_.bad_records;
                if (record) example(record->second);
            }
            return rocksdb::Status::OK();
        });
    }

    void name_the_differences() {
        rocksdb::ReadOptions once;
        once.fill_cache = false;
        rocksdb::PinnableSlice value;
        // Whether `family` has the key. An error ends the scan.
        const auto look_up = [&](rocksdb::ColumnFamilyHandle& family, const rocksdb::Slice& key, bool& there) {
            value.Reset();
            rocksdb::Status got = base_.Get(once, &family, key, &value);
            there = got.ok();
            return got.IsNotFound() ? rocksdb::Status::OK() : got;
        };
        note(scan_data("looking for keys without a record", [&](const rocksdb::Slice& key, const digest& d) {
            bool there = false;
            const record_key name{d, to_key(key)};
            rocksdb::Status looked = look_up(*index_, name.slice(), there);
            if (looked.ok() && !there) {
                ++found_.keys_without_record;
                example(to_key(key));
            }
            return looked;
        }));
        note(scan(*index_, "looking for records without a key", [&](const rocksdb::Slice& bytes) {
            const auto record = decode_record(bytes);
            if (!record || hash_(record->second) != record->first) return rocksdb::Status::OK();
            bool there = false;
            rocksdb::Status looked = look_up(*data_, to_slice(record->second), there);
            if (looked.ok() && !there) {
                ++found_.records_without_key;
                example(record->second);
            }
            return looked;
        }));
    }

    rocksdb::DB& base_;
    hasher hash_;
    rocksdb::ColumnFamilyHandle* data_;
    rocksdb::ColumnFamilyHandle* index_;
    const maintenance_progress& progress_;
    digest_sum data_sum_, records_;
    store_audit found_;
};

void audit_snapshots(const database& db, store_audit& found) {
    rocksdb::FileSystem& files = *db.base().GetFileSystem();
    const auto listed = list_snapshots(files, db.base().GetName() + "/genista");
    if (!listed) {
        if (found.unreadable.empty()) found.unreadable = listed.error().message();
        return;
    }
    for (const snapshot_file& each : *listed) {
        store_audit::snapshot& one = found.snapshots.emplace_back();
        one.path = each.path;
        const auto bytes = read_snapshot(files, each.path);
        if (!bytes) {
            one.trouble = bytes.error().message();
            continue;
        }
        one.size_bytes = bytes->bytes().size();
        if (const auto view = open_snapshot(bytes->bytes()); !view) one.trouble = view.error().message();
    }
}

// Files are removed first: later no meta would say that they belong to a store. Files with names
// that are not genista's stay.
result<void> remove_own_files(rocksdb::Env& env, const std::string& folder, unguarded_store& done) {
    std::vector<std::string> names;
    rocksdb::Status status = env.GetChildren(folder, &names);
    if (status.IsNotFound() || status.IsPathNotFound()) return {};
    for (const std::string& name : names) {
        if (name == "." || name == "..") continue;
        const std::string file = std::string{folder}.append("/").append(name);
        if (!is_own_file(name)) {
            done.kept.push_back(file);
            continue;
        }
        if (status.ok()) status = env.DeleteFile(file);
        if (status.ok()) done.files.push_back(file);
    }
    if (status.ok() && done.kept.empty()) status = env.DeleteDir(folder);
    if (!status.ok()) return to_error(status, "remove genista's files in " + folder);
    return {};
}

}  // namespace

bool store_audit::is_sound() const noexcept {
    const bool whole = has_index && state == store_state::ready && unreadable.empty();
    const bool agrees = keys_without_record == 0 && records_without_key == 0 && bad_records == 0;
    return whole && agrees &&
           std::all_of(snapshots.begin(), snapshots.end(), [](const snapshot& each) { return each.trouble.empty(); });
}

result<store_settings> settings_of(const std::string& path, rocksdb::Env* env, const std::string& wal_dir) try {
    rocksdb::ConfigOptions how;
    how.env = env != nullptr ? env : rocksdb::Env::Default();
    how.ignore_unknown_options = true;
    // Unknown options end the attempt: the file can only name a merge operator, and a database that
    // is opened without it loses the operands in its log (RocksDB 7.8).
    how.ignore_unsupported_options = false;
    rocksdb::DBOptions all;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    const auto loaded = rocksdb::LoadLatestOptions(how, path, &all, &families);
    // Without the settings the log could be in another folder, and a database that is opened
    // without its log has lost writes.
    if (!loaded.ok())
        return error::make(to_error(loaded, "").code(),
                           "cannot use the settings (OPTIONS file) of %s: %s; a program that has them can "
                           "(stores/rocksdb/maintenance.hpp)",
                           path.c_str(), loaded.ToString().c_str());
    if (!wal_dir.empty())
        all.wal_dir = wal_dir;
    else if (!all.wal_dir.empty() && all.wal_dir != path && !all.wal_dir.starts_with(path + "/"))
        return error::make(
            error_code::invalid_argument,
            "%s keeps its log in %s, or is a copy of a store that does: say where its log lies (wal_dir)", path.c_str(),
            all.wal_dir.c_str());
    all.env = how.env;
    all.paranoid_checks = true;  // a missing table ends the opening
    all.create_if_missing = all.error_if_exists = all.create_missing_column_families = false;
    store_settings found;
    rocksdb::ColumnFamilyOptions of_default;
    for (rocksdb::ColumnFamilyDescriptor& each : families) {
        if (each.name == rocksdb::kDefaultColumnFamilyName)
            of_default = each.options;
        else if (each.name == index_family_name)
            found.index = each.options;
        else if (!each.name.starts_with(own_family_prefix))
            found.families.push_back(std::move(each));
    }
    found.rocksdb = rocksdb::Options{all, of_default};
    return found;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to read the settings of %s", path.c_str());
}

result<store_audit> audit_store(const std::string& path, const maintenance_options& options) try {
    const auto opened = open_for_maintenance(path, options, true);
    if (!opened) return opened.error();
    const auto meta = meta_of(*opened, path);
    if (!meta) return meta.error();
    if (!meta->has_value())
        return error::make(error_code::mismatch, "%s is a RocksDB database, but not a guarded one", path.c_str());
    store_audit found = auditor{*opened, **meta, options}.run();
    audit_snapshots(*opened, found);
    return found;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to audit %s", path.c_str());
}

result<void> can_reindex(const std::string& path, const maintenance_options& options) try {
    const auto looked = open_for_maintenance(path, options, true);
    if (!looked) return looked.error();
    const auto meta = meta_of(*looked, path);
    if (!meta) return meta.error();
    if (!meta->has_value())
        return error::make(error_code::mismatch,
                           "%s is a RocksDB database, but not a guarded one: opening it with guarded_db guards it",
                           path.c_str());
    if ((*meta)->arrangement == layout::indexed) return {};
    return error::make(error_code::mismatch,
                       "%s has the layout clustered, which has no index; only the layout indexed can be reindexed",
                       path.c_str());
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to look at %s", path.c_str());
}

result<unguarded_store> unguard_store(const std::string& path, const maintenance_options& options) try {
    {
        // Refuses before anything is written.
        const auto looked = open_for_maintenance(path, options, true);
        if (!looked) return looked.error();
        const auto meta = meta_of(*looked, path);
        if (!meta) return meta.error();
        if (meta->has_value() && (*meta)->arrangement != layout::indexed)
            return error::make(
                error_code::mismatch,
                "%s has the layout clustered: its values lie under hashed keys, and no other program can "
                "read them; only the layout indexed can be unguarded",
                path.c_str());
    }
    auto opened = open_for_maintenance(path, options, false);
    if (!opened) return opened.error();
    unguarded_store done;
    if (const auto gone = remove_own_files(*opened->base().GetEnv(), path + "/genista", done); !gone)
        return gone.error();
    fail_point("unguard.files");
    std::vector<rocksdb::ColumnFamilyHandle*> own;
    for (rocksdb::ColumnFamilyHandle* each : opened->families()) {
        if (each->GetName().starts_with(own_family_prefix)) own.push_back(each);
    }
    // genista.meta is dropped last: while it exists, the store is a guarded one.
    std::stable_partition(own.begin(), own.end(),
                          [](rocksdb::ColumnFamilyHandle* each) { return each->GetName() != meta_family_name; });
    for (rocksdb::ColumnFamilyHandle* each : own) {
        const std::string name = each->GetName();
        if (const auto gone = opened->drop_family(each); !gone) return gone.error();
        done.families.push_back(name);
        fail_point("unguard.family");
    }
    if (const auto closed = opened->close(); !closed.ok()) return to_error(closed, "close the database " + path);
    fail_point("unguard.done");
    return done;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to unguard %s", path.c_str());
}

}  // namespace genista::rocks
