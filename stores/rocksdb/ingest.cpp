// Ingesting tables. An ingest is not in the log, so the generation changes first: filters saved
// before it are then recognised as stale.
#include <rocksdb/env.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>

#include "genista/detail/base/fail_point.hpp"
#include "genista/stores/rocksdb/guarded_db.hpp"
#include "stores/rocksdb/index_builder.hpp"

namespace genista::rocks {
namespace {

constexpr std::string_view companion_prefix = "ingest-";

std::string folder_of(rocksdb::DB& db) {
    return db.GetName() + "/genista";
}

rocksdb::Status keys_of_file(const rocksdb::Options& options, const std::string& file, const hasher& hash,
                             std::vector<kept_key>& keys) {
    rocksdb::SstFileReader reader{options};
    if (rocksdb::Status opened = reader.Open(file); !opened.ok()) return opened;
    const auto properties = reader.GetTableProperties();
    if (properties->num_deletions != 0 || properties->num_range_deletions != 0 || properties->num_merge_operands != 0)
        return rocksdb::Status::NotSupported("a guarded database takes in only files of puts", file);
    const std::unique_ptr<rocksdb::Iterator> at{reader.NewIterator(scan_options())};
    std::uint64_t count = 0;
    for (at->SeekToFirst(); at->Valid(); at->Next(), ++count) {
        keys.emplace_back(hashed_key{hash, to_key(at->key())});
    }
    if (!at->status().ok()) return at->status();
    if (count != properties->num_entries)
        return rocksdb::Status::NotSupported("a file with entries that cannot be seen", file);
    return {};
}

// Grows the filter before the ingest. A bin is rehashed from R, which will soon hold all new keys:
// a filter that grows in the middle would rehash bins with keys for which it has no room yet.
void make_room(broom_filter& filter, ordered_records& records, std::uint64_t more) {
    for (filter_stats now = filter.stats(); now.capacity < now.keys + more;) {
        const std::uint64_t before = now.capacity;
        if (!filter.grow(records)) return;  // keys that do not fit: their ranges need repair
        now = filter.stats();
        if (now.capacity <= before) return;
    }
}

}  // namespace

rocksdb::Status keys_of_files(const rocksdb::Options& options, const std::vector<std::string>& files,
                              const hasher& hash, std::vector<kept_key>& keys) {
    for (const std::string& each : files) {
        if (rocksdb::Status read = keys_of_file(options, each, hash, keys); !read.ok()) return read;
    }
    std::ranges::sort(keys);  // (position, seed, key) is R's order; keys of several files may overlap
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return {};
}

rocksdb::Status write_companion(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& index, const std::vector<kept_key>& keys,
                                std::string& path) {
    rocksdb::Status done = db.GetEnv()->CreateDirIfMissing(folder_of(db));
    if (!done.ok()) return done;
    path = folder_of(db) + "/" + std::string{companion_prefix} + std::to_string(db.GetLatestSequenceNumber()) + ".sst";
    rocksdb::SstFileWriter writer{rocksdb::EnvOptions{db.GetDBOptions()}, db.GetOptions(&index), &index};
    done = writer.Open(path);
    for (const kept_key& each : keys) {
        if (!done.ok()) break;
        const record_key name{each.key()};
        done = writer.Put(name.slice(), {});
    }
    if (done.ok()) done = writer.Finish();
    return done;
}

void remove_companions(rocksdb::DB& db) {
    std::vector<std::string> names;
    if (!db.GetEnv()->GetChildren(folder_of(db), &names).ok()) return;
    for (const std::string& each : names) {
        if (!each.starts_with(companion_prefix)) continue;
        db.GetEnv()->DeleteFile(folder_of(db) + "/" + each).PermitUncheckedError();
    }
}

rocksdb::Status guarded_db::IngestExternalFile(Family* family, const std::vector<std::string>& files,
                                               const rocksdb::IngestExternalFileOptions& options) {
    rocksdb::IngestExternalFileArg one;
    one.column_family = family;
    one.external_files = files;
    one.options = options;
    return IngestExternalFiles({one});
}

rocksdb::Status guarded_db::IngestExternalFiles(const std::vector<rocksdb::IngestExternalFileArg>& arguments) {
    std::size_t guarded = arguments.size();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto& each = arguments[i];
        if (each.column_family == nullptr) continue;  // RocksDB reports this error itself
        if (is_own(each.column_family)) return Status::NotSupported("column families of genista are not for writing");
        if (!is_guarded(each.column_family)) continue;
        if (guarded != arguments.size()) return Status::InvalidArgument("the family default is named twice");
        if (each.options.ingest_behind)
            return Status::NotSupported("a guarded column family takes in no files behind its data");
        guarded = i;
    }
    if (guarded == arguments.size() || arguments[guarded].external_files.empty()) {
        return pass_on(0, [&] { return db_->IngestExternalFiles(arguments); });  // the listener sees its numbers
    }
    return ingest_guarded(arguments, guarded);
}

result<void> guarded_db::next_generation() {
    ++meta_.generation;
    generation_.store(meta_.generation, std::memory_order_relaxed);
    meta_.mark = accounts_.mark();
    accounts_.begin(meta_entries);
    auto written = write_meta(*db_, *handles_.family(meta_family_name), meta_);
    if (!written) accounts_.failed(meta_entries);
    return written;
}

rocksdb::Status guarded_db::ingest_guarded(std::vector<rocksdb::IngestExternalFileArg> arguments, std::size_t guarded) {
    const std::lock_guard one_at_a_time{ingesting_};
    std::vector<kept_key> keys;
    const rocksdb::Options options = db_->GetOptions(arguments[guarded].column_family);
    Status done = keys_of_files(options, arguments[guarded].external_files, core_->hash(), keys);
    if (!done.ok()) return done;
    if (keys.empty()) return Status::NotSupported("a file without keys");

    rocksdb::IngestExternalFileArg companion;
    companion.column_family = &records_.family();
    companion.external_files.resize(1);
    companion.options.move_files = true;
    companion.options.snapshot_consistency = arguments[guarded].options.snapshot_consistency;
    companion.options.write_global_seqno = false;
    done = write_companion(*db_, records_.family(), keys, companion.external_files[0]);
    if (done.ok()) {
        const writers_lock::shared inside{writers_};
        if (const auto written = next_generation(); !written) {
            snapshotter_->give_up();  // it is unknown whether the ingest is on disk
            done = to_status(written.error());
        }
    }
    if (done.ok()) {
        fail_point("ingest.announced");
        make_room(core_->filter(), records_, keys.size());
        arguments.push_back(companion);
        const writers_lock::exclusive alone{writers_};
        rocks_guard_core::entering in{*core_, in_flight_keys{std::span<const kept_key>{keys}, &kept_key::where}};
        for (const kept_key& each : keys) clock_.tick(each.where());
        ingests_->expect(arguments[guarded].external_files.size());
        done = db_->IngestExternalFiles(arguments);
        ingests_->expect(0);
        if (done.ok()) accounts_.ingested(arguments[guarded].external_files.size());
        fail_point("ingest.done");
        for (const kept_key& each : keys) {
            // After an error R may hold some of the new keys. Those that it holds, or may hold, are
            // inserted, but not a million absent keys.
            if (!done.ok()) {
                const auto held = records_.contains(each.where(), each.bytes());
                if (held && !*held) {
                    in.skip();
                    continue;
                }
            }
            in.on_committed(each.key());
        }
        // Keys for which a growing filter had no room. If more than a few ranges wait, the
        // snapshotter's thread repairs them, and writers do not wait for it.
        if (const unsigned pending = core_->pending_ranges();
            pending > 0 && pending <= range_states::number_of_ranges / 64)
            (void)core_->repair();
        // The ingest is done, or was refused and changed nothing: snapshots are useful again. After
        // an error in its own files RocksDB takes no more writes, and what the next opening will
        // find is unknown.
        if (done.ok() || next_generation()) {
            snapshotter_->set_generation(meta_.generation);
            // The new tables are accounted for, unless a foreign table is among them. A crash
            // before the next mark costs a re-index.
            if (reconcile_accounts() && !core_->remote_lacks_keys() && accounts_.note_tables())
                (void)accounts_.note(true);
        } else {
            snapshotter_->give_up();
        }
    }
    // If all went well, RocksDB has moved the file already.
    db_->GetEnv()->DeleteFile(companion.external_files[0]).PermitUncheckedError();
    return done;
}

}  // namespace genista::rocks
