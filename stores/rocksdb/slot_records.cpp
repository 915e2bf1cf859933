// Preparing the directory, reading and writing slots. See slot_records.hpp.
#include "stores/rocksdb/slot_records.hpp"

#include <rocksdb/env.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <vector>

namespace genista::rocks {
namespace {

static_assert(slot_map<slot_records>);

constexpr const char* marker_text =
    "Slots of a filter (genista). They are rebuilt with the filter and may be deleted.\n";

using slot_bytes = std::array<char, 8>;

slot_bytes bytes_of(std::uint64_t slot) noexcept {
    slot_bytes bytes{};
    store_big_endian(slot, bytes.data());
    return bytes;
}
rocksdb::Slice slice_of(const slot_bytes& bytes) noexcept {
    return {bytes.data(), bytes.size()};
}

rocksdb::WriteOptions without_log() {
    rocksdb::WriteOptions how;
    how.disableWAL = true;
    return how;
}

error not_our_slots(const std::string& path) noexcept {
    return error::make(error_code::mismatch,
                       "%s holds something else than a filter's slots (there is no file %s in it): it is left as it is",
                       path.c_str(), slots_marker_name);
}

// Leaves a directory with genista's marker and no database in it, or `path` unchanged.
result<void> make_room_for_slots(const std::string& path, const rocksdb::Options& options) {
    rocksdb::Env& env = *options.env;
    bool is_directory = true;
    if (env.FileExists(path).ok()) {
        if (const auto looked = env.IsDirectory(path, &is_directory); !looked.ok())
            return to_error(looked, std::string{"look at "}.append(path));
    }
    if (!is_directory)
        return error::make(error_code::mismatch, "%s is a file, not the directory of a filter's slots", path.c_str());
    if (const auto made = env.CreateDirIfMissing(path); !made.ok())
        return to_error(made, std::string{"make the directory "}.append(path));
    std::vector<std::string> names;
    if (const auto listed = env.GetChildren(path, &names); !listed.ok())
        return to_error(listed, std::string{"list "}.append(path));
    std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
    if (names.empty()) {
        const auto marked = rocksdb::WriteStringToFile(&env, marker_text, path + "/" + slots_marker_name, true);
        if (!marked.ok()) return to_error(marked, std::string{"mark "}.append(path));
        return {};
    }
    if (std::ranges::find(names, slots_marker_name) == names.end()) return not_our_slots(path);
    // DestroyDB keeps files that are not RocksDB's, the marker among them.
    if (const auto gone = rocksdb::DestroyDB(path, options); !gone.ok())
        return to_error(gone, std::string{"delete the old slots in "}.append(path));
    return {};
}

}  // namespace

slot_range::slot_range(rocksdb::DB& db, std::uint64_t first, std::uint64_t last) {
    store_big_endian(first, lower_bytes_.data());
    lower_ = {lower_bytes_.data(), lower_bytes_.size()};
    rocksdb::ReadOptions how;
    how.total_order_seek = true;  // independent of the prefixes that the family is configured with
    how.iterate_lower_bound = &lower_;
    if (last != ~std::uint64_t{0}) {
        store_big_endian(last + 1, upper_bytes_.data());
        upper_ = {upper_bytes_.data(), upper_bytes_.size()};
        how.iterate_upper_bound = &upper_;
    }
    at_.reset(db.NewIterator(how));
}

result<std::optional<std::pair<std::uint64_t, key_view>>> slot_range::next() {
    using found = std::optional<std::pair<std::uint64_t, key_view>>;
    if (begun_)
        at_->Next();
    else
        at_->Seek(lower_);
    begun_ = true;
    if (!at_->Valid()) {
        if (!at_->status().ok()) return to_error(at_->status(), "read a range of slots");
        return found{};
    }
    const rocksdb::Slice slot = at_->key();
    if (slot.size() != sizeof(std::uint64_t))
        return error::make(error_code::corrupt, "a slot of %zu bytes: every slot is a number of 8", slot.size());
    return found{std::pair{load_big_endian(slot.data()), to_key(at_->value())}};
}

result<std::unique_ptr<slot_records>> slot_records::open(const std::string& path, slot_records_options options) try {
    rocksdb::Options& how = options.rocksdb;
    if (how.env == nullptr) how.env = rocksdb::Env::Default();
    // With the same unsuitable settings slots would appear in part, in another order, or vanish.
    if (const auto fits = check_guardable(how, layout::clustered); !fits) return fits.error();
    // Options of another database may name its folders, and DestroyDB deletes in every folder that
    // they name.
    how.wal_dir.clear();
    how.db_log_dir.clear();
    how.db_paths.clear();
    how.cf_paths.clear();
    if (const auto ready = make_room_for_slots(path, how); !ready) return ready.error();
    how.create_if_missing = true;
    how.error_if_exists = true;  // a database that is still here was not checked above
    how.avoid_flush_during_shutdown = true;
    rocksdb::DB* made = nullptr;
    const auto opened = rocksdb::DB::Open(how, path, &made);
    if (!opened.ok()) return to_error(opened, std::string{"open the slots "}.append(path));
    return std::unique_ptr<slot_records>{new slot_records{std::unique_ptr<rocksdb::DB>{made}}};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to open %s", path.c_str());
}

result<bool> slot_records::get(std::uint64_t slot, rocksdb::PinnableSlice& key) {
    const slot_bytes name = bytes_of(slot);
    const auto found = db().Get({}, db().DefaultColumnFamily(), slice_of(name), &key);
    if (found.ok()) return true;
    if (found.IsNotFound()) return false;
    return to_error(found, "read a slot");
}

result<void> slot_records::write_slots(std::span<const slot_change> changes) try {
    rocksdb::WriteBatch batch;
    rocksdb::Status done;
    for (const slot_change& each : changes) {
        const slot_bytes name = bytes_of(each.slot);
        if (done.ok()) done = each.key ? batch.Put(slice_of(name), to_slice(*each.key)) : batch.Delete(slice_of(name));
    }
    if (done.ok()) done = db().Write(without_log(), &batch);
    if (!done.ok()) return to_error(done, "write slots");
    return {};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to write %zu slots", changes.size());
}

result<void> slot_records::clear_slots(std::uint64_t first, std::uint64_t last) try {
    if (first > last) return {};
    const slot_bytes begin = bytes_of(first);
    // RocksDB's end is exclusive. It is the last slot plus one byte, and no slot is between the
    // two.
    std::array<char, 9> end{};
    store_big_endian(last, end.data());
    const auto gone = db().DeleteRange(without_log(), db().DefaultColumnFamily(), slice_of(begin),
                                       rocksdb::Slice{end.data(), end.size()});
    if (!gone.ok()) return to_error(gone, "clear slots");
    return {};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to clear slots");
}

result<void> slot_records::flush() {
    if (const auto done = db().Flush({}); !done.ok()) return to_error(done, "flush the slots");
    return {};
}

}  // namespace genista::rocks
