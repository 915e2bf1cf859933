// Looks at a path, opens the database that is there, and owns its handles. See database.hpp.
#include "genista/detail/stores/rocksdb/database.hpp"

#include <rocksdb/cache.h>
#include <rocksdb/comparator.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>
#include <sys/stat.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

#include "genista/detail/stores/rocksdb/status.hpp"
#include "stores/rocksdb/closed_db.hpp"
#include "stores/rocksdb/snapshot_files.hpp"

namespace genista::rocks {
namespace {

enum class found { nothing, empty_directory, database, something_else, a_file };

// Files that RocksDB leaves if the process dies before it has written the first CURRENT file.
bool is_left_by_a_cut_short_creation(std::string_view name) noexcept {
    if (name == "." || name == ".." || name == "LOCK" || name == "IDENTITY" || name == "genista") return true;
    if (name == "archive" || name.starts_with("OPTIONS-")) return true;
    return name.starts_with("LOG") || name.starts_with("MANIFEST-") || name.ends_with(".dbtmp") ||
           name.ends_with(".log");
}

found look_at(rocksdb::Env& env, const std::string& path) {
    if (env.FileExists(path + "/CURRENT").ok()) return found::database;
    bool is_directory = false;
    const rocksdb::Status looked = env.IsDirectory(path, &is_directory);
    if (looked.ok() && !is_directory) return found::a_file;
    std::vector<std::string> names;
    if (!looked.ok() || !env.GetChildren(path, &names).ok()) return found::nothing;
    const bool all_ours = std::ranges::all_of(names, is_left_by_a_cut_short_creation);
    return all_ours ? found::empty_directory : found::something_else;
}

result<void> check_path(found what, const std::string& path, bool create) noexcept {
    switch (what) {
        case found::database:
            return {};
        case found::a_file:
            return error::make(error_code::invalid_argument, "%s is a file, not the directory of a database",
                               path.c_str());
        case found::something_else:
            return error::make(error_code::invalid_argument,
                               "%s: not a RocksDB database, and the directory is not empty", path.c_str());
        case found::empty_directory:
            if (create) return {};
            return error::make(error_code::invalid_argument, "%s: not a RocksDB database, and the directory is empty",
                               path.c_str());
        case found::nothing:
            if (create) return {};
            return error::make(error_code::invalid_argument, "there is no database at %s", path.c_str());
    }
    return {};
}

struct missing_operator {
    std::string family, name;
};

// The first family of the user that has a merge operator according to RocksDB's OPTIONS file, and
// for which the caller gives none.
//     [CFOptions "cities"] ... merge_operator=name
result<std::optional<missing_operator>> find_missing_operator(
    rocksdb::Env& env, const std::string& path, const std::vector<rocksdb::ColumnFamilyDescriptor>& families) {
    std::string name, text;
    if (!rocksdb::GetLatestOptionsFileName(path, &env, &name).ok())
        return std::optional<missing_operator>{};  // a database without an OPTIONS file is valid
    if (const auto read = rocksdb::ReadFileToString(&env, path + "/" + name, &text); !read.ok())
        return to_error(read, "read the settings of " + path);
    const auto value_of = [](std::string_view line, std::string_view before, std::string_view behind) {
        const bool fits =
            line.size() >= before.size() + behind.size() && line.starts_with(before) && line.ends_with(behind);
        return fits ? line.substr(before.size(), line.size() - before.size() - behind.size()) : std::string_view{};
    };
    auto family = families.end();
    for (std::string_view rest{text}; !rest.empty();) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
        if (line.starts_with('[')) {
            family = std::ranges::find(families, value_of(line, "[CFOptions \"", "\"]"),
                                       &rocksdb::ColumnFamilyDescriptor::name);
        }
        const std::string_view had = value_of(line, "merge_operator=", "");
        if (family == families.end() || had.empty() || had == "nullptr") continue;
        // Genista's own families never hold merge operands.
        if (family->options.merge_operator != nullptr || family->name.starts_with(own_family_prefix)) continue;
        return std::optional{missing_operator{family->name, std::string{had}}};
    }
    return std::optional<missing_operator>{};
}

// Opened without its merge operator, a database loses the part of its log that has operands
// (RocksDB 7.8). `default` of a clustered store never holds operands, so it is not checked, even if
// some program once opened it with an operator by mistake.
result<void> check_merge_operators(const std::string& path, const database::opening& how,
                                   const std::vector<rocksdb::ColumnFamilyDescriptor>& families) {
    rocksdb::Env& env = how.options.env != nullptr ? *how.options.env : *rocksdb::Env::Default();
    const auto missing = find_missing_operator(env, path, families);
    if (!missing) return missing.error();
    if (!*missing) return {};
    database::opening only_look = how;
    only_look.read_only = true;
    if (const auto looked = database::open(path, only_look); looked && looked->family(meta_family_name) != nullptr) {
        const auto meta = read_meta(looked->base(), *looked->family(meta_family_name), path);
        if (!meta) return meta.error();
        const bool is_guarded = meta->has_value();
        if (is_guarded && how.arrangement) {
            if (const auto fits = check_layout(**meta, *how.arrangement, path); !fits) return fits.error();
        }
        const bool is_default = (*missing)->family == rocksdb::kDefaultColumnFamilyName;
        if (is_guarded && (*meta)->arrangement == layout::clustered && is_default) return {};
    }
    return error::make(
        error_code::mismatch,
        "%s: the column family %s has the merge operator %s, and none is given: RocksDB would lose operands",
        path.c_str(), (*missing)->family.c_str(), (*missing)->name.c_str());
}

}  // namespace

rocksdb::Options default_rocksdb_options() {
    rocksdb::BlockBasedTableOptions table;
    table.block_size = std::size_t{8} << 10;
    table.format_version = 5;
    table.block_cache = rocksdb::NewLRUCache(std::size_t{32} << 20);
    rocksdb::Options options;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    options.level_compaction_dynamic_level_bytes = true;
    options.bytes_per_sync = std::uint64_t{1} << 20;
    return options;
}

result<database> database::open(const std::string& path, opening how) try {
    rocksdb::Env& env = how.options.env != nullptr ? *how.options.env : *rocksdb::Env::Default();
    const found what = look_at(env, path);
    if (const auto fits = check_path(what, path, how.create_if_missing && !how.read_only); !fits) return fits.error();

    std::vector<std::string> names{rocksdb::kDefaultColumnFamilyName};
    if (what == found::database) {
        names.clear();
        const auto listed = rocksdb::DB::ListColumnFamilies(how.options, path, &names);
        if (!listed.ok()) return to_error(listed, "list the column families of " + path);
    }
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& name : names) {
        const auto named = std::ranges::find(how.families, name, &rocksdb::ColumnFamilyDescriptor::name);
        if (named != how.families.end())
            families.push_back(*named);
        else
            families.emplace_back(name, rocksdb::ColumnFamilyOptions{how.options});
    }

    if (what == found::database && !how.read_only) {
        if (const auto fits = check_merge_operators(path, how, families); !fits) return fits.error();
    }

    // The family genista.meta holds the hash key, so a new directory is private. An existing
    // directory keeps the mode that its owner chose.
    const bool makes_directory = what == found::nothing;
    if (makes_directory && &env == rocksdb::Env::Default()) (void)::mkdir(path.c_str(), S_IRWXU);
    database made;
    made.is_new_ = what != found::database;
    how.options.create_if_missing = how.create_if_missing;
    // RocksDB 7.8 ends the process if the writer tracked its logs and the reader does not. If the
    // writer tracked none, this setting checks nothing.
    if (how.read_only) how.options.track_and_verify_wals_in_manifest = true;
    rocksdb::DB* db = nullptr;
    const auto opened = how.read_only ? rocksdb::DB::OpenForReadOnly(how.options, path, families, &made.handles_, &db)
                                      : rocksdb::DB::Open(how.options, path, families, &made.handles_, &db);
    if (!opened.ok()) return to_error(opened, "open the database " + path);
    made.db_.reset(db);
    if (makes_directory) keep_to_owner(path);
    return made;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to open %s", path.c_str());
}

database& database::operator=(database&& other) noexcept {
    if (this == &other) return *this;
    (void)close();
    db_ = std::move(other.db_);
    handles_ = std::move(other.handles_);
    other.handles_.clear();
    is_new_ = other.is_new_;
    is_closed_ = other.is_closed_;
    return *this;
}

rocksdb::ColumnFamilyHandle* database::family(std::string_view name) const noexcept {
    const auto at = std::ranges::find_if(handles_, [&](const auto* each) { return each->GetName() == name; });
    return at == handles_.end() ? nullptr : *at;
}

result<rocksdb::ColumnFamilyHandle*> database::create_family(const rocksdb::ColumnFamilyOptions& options,
                                                             const std::string& name) {
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    const auto made = db_->CreateColumnFamily(options, name, &handle);
    if (!made.ok()) return to_error(made, "make the column family " + name);
    handles_.push_back(handle);
    return handle;
}

result<void> database::drop_family(rocksdb::ColumnFamilyHandle* handle) {
    if (const auto gone = db_->DropColumnFamily(handle); !gone.ok()) {
        return to_error(gone, "drop the column family " + handle->GetName());
    }
    release(handle);
    if (const auto gone = db_->DestroyColumnFamilyHandle(handle); !gone.ok()) {
        return to_error(gone, "release a dropped column family");
    }
    return {};
}

bool database::release(rocksdb::ColumnFamilyHandle* handle) noexcept {
    const auto at = std::ranges::find(handles_, handle);
    if (at == handles_.end()) return false;
    handles_.erase(at);
    return true;
}

void database::destroy_handles(rocksdb::DB& of) noexcept {
    for (rocksdb::ColumnFamilyHandle* each : handles_) of.DestroyColumnFamilyHandle(each).PermitUncheckedError();
    handles_.clear();
}

rocksdb::Status database::close() {
    if (db_ == nullptr || is_closed_) return {};
    destroy_handles(*db_);
    rocksdb::Status closed = db_->Close();
    is_closed_ = true;
    db_ = std::make_unique<closed_db>(db_->GetName(), db_->GetEnv());
    return closed;
}

namespace {

error no(const char* what) noexcept {
    return error::make(error_code::unsupported, "a guarded database cannot have %s", what);
}

}  // namespace

result<void> check_index(const rocksdb::ColumnFamilyOptions& options) noexcept {
    if (options.comparator != rocksdb::BytewiseComparator()) return no("an index in an order other than bytewise");
    if (options.compaction_filter != nullptr || options.compaction_filter_factory != nullptr)
        return no("a compaction filter on its index: keys whose records it drops would be denied");
    if (options.compaction_style == rocksdb::kCompactionStyleFIFO)
        return no("FIFO compaction of its index: keys whose records it drops would be denied");
    if (options.merge_operator != nullptr) return no("a merge operator on its index");
    return {};
}

result<void> check_guardable(const rocksdb::Options& options, layout arrangement) noexcept {
    const rocksdb::Comparator* const order = options.comparator;
    if (order == nullptr) return no("no comparator");
    if (order->timestamp_size() != 0) return no("user timestamps in the family default");
    if (arrangement == layout::clustered && order != rocksdb::BytewiseComparator())
        return no("an order other than bytewise in the clustered layout");
    if (order->CanKeysWithDifferentByteContentsBeEqual()) {
        return no("a comparator that takes different bytes for equal keys (CanKeysWithDifferentByteContentsBeEqual)");
    }
    if (options.compaction_filter != nullptr || options.compaction_filter_factory != nullptr)
        return no("a compaction filter on the family default: it deletes keys without the guard");
    if (options.compaction_style == rocksdb::kCompactionStyleFIFO)
        return no("FIFO compaction of the family default: it deletes keys without the guard");
    if (options.wal_filter != nullptr) return no("a wal_filter: it drops or changes writes while the log is replayed");
    if (options.unordered_write) return no("unordered_write: index and data would not appear at once");
    if (options.allow_2pc) return no("two-phase commit: transactions bypass the guard");
    if (options.best_efforts_recovery)
        return no("best_efforts_recovery: column families could recover to different moments");
    if (options.wal_recovery_mode == rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords)
        return no("kSkipAnyCorruptedRecords: column families could recover to different moments");
    return {};
}

}  // namespace genista::rocks
