// Preparing the directory, and writing the index. See index_records.hpp.
#include "stores/rocksdb/index_records.hpp"

#include <rocksdb/env.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <new>
#include <vector>

#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "genista/detail/stores/rocksdb/status.hpp"

namespace genista::rocks {
namespace {

static_assert(batched_map<index_records>);

constexpr const char* index_marker_text =
    "Index of a filter (genista). It is rebuilt with the filter and may be deleted.\n";

rocksdb::WriteOptions without_log() {
    rocksdb::WriteOptions how;
    how.disableWAL = true;
    return how;
}

error not_our_index(const std::string& path) noexcept {
    return error::make(error_code::mismatch,
                       "%s holds something else than a filter's index (there is no file %s in it): it is left as it is",
                       path.c_str(), index_marker_name);
}

// Leaves a directory with genista's marker and no database in it, or `path` unchanged.
result<void> make_room_for_index(const std::string& path, const rocksdb::Options& options) {
    rocksdb::Env& env = *options.env;
    bool is_directory = true;
    if (env.FileExists(path).ok()) {
        if (const auto looked = env.IsDirectory(path, &is_directory); !looked.ok())
            return to_error(looked, std::string{"look at "}.append(path));
    }
    if (!is_directory)
        return error::make(error_code::mismatch, "%s is a file, not the directory of a filter's index", path.c_str());
    if (const auto made = env.CreateDirIfMissing(path); !made.ok())
        return to_error(made, std::string{"make the directory "}.append(path));
    std::vector<std::string> names;
    if (const auto listed = env.GetChildren(path, &names); !listed.ok())
        return to_error(listed, std::string{"list "}.append(path));
    std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
    if (names.empty()) {
        const auto marked = rocksdb::WriteStringToFile(&env, index_marker_text, path + "/" + index_marker_name, true);
        if (!marked.ok()) return to_error(marked, std::string{"mark "}.append(path));
        return {};
    }
    if (std::ranges::find(names, index_marker_name) == names.end()) return not_our_index(path);
    // DestroyDB keeps files that are not RocksDB's, the marker among them.
    if (const auto gone = rocksdb::DestroyDB(path, options); !gone.ok())
        return to_error(gone, std::string{"delete the old index in "}.append(path));
    return {};
}

}  // namespace

result<std::unique_ptr<index_records>> index_records::open(const std::string& path, index_records_options options) try {
    rocksdb::Options& how = options.rocksdb;
    if (how.env == nullptr) how.env = rocksdb::Env::Default();
    // With the same unsuitable settings records would appear in part, in another order, or vanish.
    if (const auto fits = check_guardable(how, layout::clustered); !fits) return fits.error();
    // Options of another database may name its folders, and DestroyDB deletes in every folder that
    // they name.
    how.wal_dir.clear();
    how.db_log_dir.clear();
    how.db_paths.clear();
    how.cf_paths.clear();
    if (const auto ready = make_room_for_index(path, how); !ready) return ready.error();
    how.create_if_missing = true;
    how.error_if_exists = true;  // a database that is still here was not checked above
    how.avoid_flush_during_shutdown = true;
    rocksdb::DB* made = nullptr;
    const auto opened = rocksdb::DB::Open(how, path, &made);
    if (!opened.ok()) return to_error(opened, std::string{"open the index "}.append(path));
    return std::unique_ptr<index_records>{new index_records{std::unique_ptr<rocksdb::DB>{made}}};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to open %s", path.c_str());
}

result<bool> index_records::change(const record_change& wanted) {
    const auto there = contains(wanted.where, wanted.key);
    if (!there) return there.error();
    if (*there == wanted.present) return false;
    if (const auto done = apply({&wanted, 1}); !done) return done.error();
    return true;
}

result<void> index_records::apply(std::span<const record_change> changes) try {
    rocksdb::WriteBatch batch;
    rocksdb::Status done;
    for (const record_change& each : changes) {
        const record_key name{each.where, each.key};
        if (done.ok()) done = each.present ? batch.Put(name.slice(), rocksdb::Slice{}) : batch.Delete(name.slice());
    }
    if (done.ok()) done = db().Write(without_log(), &batch);
    if (!done.ok()) return to_error(done, "write the index");
    return {};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to write %zu changes of the index", changes.size());
}

// RocksDB's end is exclusive, and no key comes after all records of the greatest position: these go
// one by one.
result<void> index_records::erase_range(std::uint64_t first, std::uint64_t last) try {
    constexpr std::uint64_t greatest = ~std::uint64_t{0};
    if (first > last) return {};
    std::array<char, 8> begin{}, end{};
    store_big_endian(first, begin.data());
    store_big_endian(last == greatest ? last : last + 1, end.data());
    rocksdb::WriteBatch batch;
    rocksdb::Status done;
    if (first != greatest) done = batch.DeleteRange({begin.data(), begin.size()}, {end.data(), end.size()});
    if (last == greatest) {
        const auto read = for_each(greatest, greatest, [&](const digest& where, key_view key) {
            const record_key name{where, key};
            if (done.ok()) done = batch.Delete(name.slice());
            return done.ok();
        });
        if (!read) return read.error();
    }
    if (done.ok()) done = db().Write(without_log(), &batch);
    if (!done.ok()) return to_error(done, "erase a range of the index");
    return {};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to erase a range of the index");
}

result<void> index_records::flush() {
    if (const auto done = db().Flush({}); !done.ok()) return to_error(done, "flush the index");
    return {};
}

}  // namespace genista::rocks
