// Finds the filter at opening: the newest snapshot that can be used, brought up to date from the
// log, or else a new filter built from R. See filter_snapshotter.hpp.
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <new>

#include "genista/detail/stores/rocksdb/filter_snapshotter.hpp"
#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "genista/detail/stores/rocksdb/status.hpp"
#include "stores/rocksdb/batch_reader.hpp"
#include "stores/rocksdb/log_reader.hpp"
#include "stores/rocksdb/snapshot_files.hpp"

namespace genista::rocks {
namespace {

// Applies to the filter what a batch of the log did to R. Skips other families.
class log_reader final : public batch_reader {
  public:
    log_reader(broom_filter& filter, ordered_records& remote, std::uint32_t family)
        : filter_{filter}, remote_{remote}, family_{family} {}

    [[nodiscard]] std::uint64_t repeated() const noexcept { return repeated_; }

  private:
    rocksdb::Status on_change(std::uint32_t family, const rocksdb::Slice& record, bool is_put) override {
        if (family != family_) return {};
        return is_put ? put(record) : remove(record);
    }
    // The guard never deletes a range of R. After such a delete only a rebuild is correct.
    rocksdb::Status on_range(std::uint32_t family, const rocksdb::Slice&, const rocksdb::Slice&) override {
        return family == family_ ? rocksdb::Status::NotSupported("a range was deleted in R") : rocksdb::Status::OK();
    }
    rocksdb::Status on_transaction() override { return {}; }

    rocksdb::Status put(const rocksdb::Slice& record) {
        const auto decoded = decode_record(record);
        if (!decoded) return rocksdb::Status::Corruption("a record of R without a digest");
        ++repeated_;
        const auto outcome = filter_.insert(decoded->second, remote_);
        if (!outcome) return to_status(outcome.error());
        return *outcome == insert_outcome::full ? rocksdb::Status::MemoryLimit("the filter is full")
                                                : rocksdb::Status::OK();
    }
    rocksdb::Status remove(const rocksdb::Slice& record) {
        const auto decoded = decode_record(record);
        if (!decoded) return rocksdb::Status::Corruption("a record of R without a digest");
        ++repeated_;
        const auto outcome = filter_.forget(decoded->second, remote_);
        return outcome ? rocksdb::Status::OK() : to_status(outcome.error());
    }

    broom_filter& filter_;
    ordered_records& remote_;
    std::uint32_t family_;
    std::uint64_t repeated_ = 0;
};

// Applies every write after `sequence`. Returns how many records of R they changed.
result<std::uint64_t> repeat_log(const snapshotter_place& place, std::uint64_t sequence, broom_filter& filter) {
    ordered_records remote{*place.db, *place.records};
    log_reader reader{filter, remote, place.records->GetID()};
    const auto read = read_log_since(*place.db, sequence, place.last_write(),
                                     [&](const rocksdb::WriteBatch& batch) { return batch.Iterate(&reader); });
    if (!read) return read.error();
    return reader.repeated();
}

// The last sequence number that a snapshot with this identity may show, or nothing if the identity
// is not of any life of this store. Snapshots of versions without lives have the id 0, and end
// where the first life began.
std::optional<std::uint64_t> end_of_life(const snapshotter_place& place, const store_id& identity) {
    const std::uint64_t newest = place.db->GetLatestSequenceNumber();
    const auto& lives = place.lives;
    if (!place.recorded && identity == place.identity_in(0) && lives.size() < lives_kept)
        return lives.empty() ? newest : lives[0].first;
    static const snapshot_records without_id{{}};
    for (std::size_t i = 0; i < lives.size(); ++i) {
        for (const snapshot_record& each : place.recorded ? *place.recorded : without_id) {
            if (identity == place.identity_in(lives[i].id, each.id))
                return i + 1 < lives.size() ? lives[i + 1].first : newest;
        }
    }
    return std::nullopt;
}

result<found_filter> load_one(const snapshotter_place& place, const broom_options& options, const snapshot_file& from) {
    const auto bytes = read_snapshot(*place.db->GetFileSystem(), from.path);
    if (!bytes) return bytes.error();
    const auto view = open_snapshot(bytes->bytes());
    if (!view) return view.error();
    const auto end = end_of_life(place, view->info.store.identity);
    if (!end)
        return error::make(error_code::mismatch, "%s belongs to another store, or to another history of this one",
                           from.path.c_str());
    if (std::max(from.sequence, view->info.store.sequence) > *end)
        return error::make(error_code::mismatch, "%s shows writes that the store does not have", from.path.c_str());
    auto filter = broom_filter::load(bytes->bytes());
    if (!filter) return filter.error();
    if (!(filter->hash() == *options.hash))
        return error::make(error_code::mismatch, "%s has another hash key than the store", from.path.c_str());
    if (filter->rate() > options.false_positive_rate)
        return error::make(error_code::mismatch, "%s keeps the rate %g, and %g is asked for", from.path.c_str(),
                           filter->rate(), options.false_positive_rate);
    const auto repeated = repeat_log(place, view->info.store.sequence, *filter);
    if (!repeated) return repeated.error();
    const std::uint64_t size_bytes = filter->stats().local_bytes;
    if (options.memory_limit && size_bytes > *options.memory_limit)
        return error::make(error_code::mismatch, "%s takes %llu bytes, and memory_limit leaves %llu", from.path.c_str(),
                           static_cast<unsigned long long>(size_bytes),
                           static_cast<unsigned long long>(*options.memory_limit));
    filter->limit_memory(options.memory_limit);  // a snapshot does not store the limit
    return found_filter{*std::move(filter), filter_origin::snapshot, *repeated};
}

std::uint64_t estimated_keys(const snapshotter_place& place) {
    std::uint64_t keys = 0;
    return place.db->GetIntProperty(place.records, rocksdb::DB::Properties::kEstimateNumKeys, &keys) ? keys : 0;
}

// Counts the records that pass through it, for the progress report.
class reported_records {
  public:
    reported_records(sequential_records& inner, std::uint64_t all, const progress_report& progress)
        : inner_{inner}, all_{all}, progress_{progress} {}

    result<bool> put(const digest& where, key_view key) { return inner_.put(where, key); }
    result<bool> erase(const digest& where, key_view key) { return inner_.erase(where, key); }
    result<bool> contains(const digest& where, key_view key) { return inner_.contains(where, key); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        return inner_.for_each(first, last, [&](const digest& where, key_view key) -> bool {
            if (++done_ % 65536 == 0 && progress_) progress_(done_, std::max(done_, all_));
            return visit(where, key);
        });
    }

  private:
    sequential_records& inner_;
    std::uint64_t all_;
    const progress_report& progress_;
    std::uint64_t done_ = 0;
};

bool is_lack_of_memory(const error& why) noexcept {
    return why.code() == error_code::out_of_memory;
}

// Makes a filter for all keys, or for as many as the memory allows.
result<broom_filter> make_what_fits(broom_options options) {
    while (true) {
        auto made = broom_filter::make(options);
        // The filter reports a limit that is too low for the capacity as an invalid argument. Here
        // it is not an error.
        const bool may_be_size = !made && (is_lack_of_memory(made.error()) || options.memory_limit.has_value());
        if (may_be_size && options.memory_limit && options.capacity <= 1) {
            const error& why = made.error();
            return error::make(
                error_code::invalid_argument, "memory_limit %llu, of which the guard takes %zu bytes: %.*s",
                static_cast<unsigned long long>(*options.memory_limit + rocks_guard_core::own_bytes()),
                rocks_guard_core::own_bytes(), static_cast<int>(why.message().size()), why.message().data());
        }
        if (!may_be_size || options.capacity <= 1) return made;
        options.capacity /= 2;
    }
}

result<found_filter> rebuild(const snapshotter_place& place, broom_options options, const progress_report& progress,
                             building when) {
    const std::uint64_t keys = estimated_keys(place);
    options.capacity = std::max(options.capacity, keys);
    auto filter = make_what_fits(options);
    if (!filter) return filter.error();
    // A new store is empty, and its hash key has never been used, so look-ups may begin without
    // salts.
    if (options.key_is_new) return found_filter{*std::move(filter), filter_origin::rebuilt, 0};
    if (when == building::behind) return found_filter{*std::move(filter), filter_origin::partial, 0};
    const event_log& log = place.watch->log();
    log.report(event_level::info, event_kind::rebuild_begun, "the filter is built from about %llu records",
               static_cast<unsigned long long>(keys));
    const auto begin = std::chrono::steady_clock::now();
    sequential_records inner{*place.db, *place.records};
    reported_records records{inner, keys, progress};
    const auto built = filter->rebuild(records);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (built) {
        log.report(event_level::info, event_kind::rebuild_ended, "the filter was built with %llu keys in %.3f s",
                   static_cast<unsigned long long>(filter->stats().keys), taken.count());
        return found_filter{*std::move(filter), filter_origin::rebuilt, 0};
    }
    log.report(event_level::error, event_kind::rebuild_failed, "the filter could not be built (%.3f s): %.*s",
               taken.count(), static_cast<int>(built.error().message().size()), built.error().message().data());
    // Too many keys for the memory, or for one bin: the filter takes, range by range, what fits.
    if (!is_lack_of_memory(built.error()) && built.error().code() != error_code::unsupported) return built.error();
    return found_filter{*std::move(filter), filter_origin::partial, 0};
}

}  // namespace

result<broom_options> beside_the_guard(broom_options options) noexcept {
    if (!options.memory_limit) return options;
    if (*options.memory_limit <= rocks_guard_core::own_bytes()) {
        return error::make(error_code::invalid_argument,
                           "memory_limit %llu: the guard takes %zu bytes beside its filter",
                           static_cast<unsigned long long>(*options.memory_limit), rocks_guard_core::own_bytes());
    }
    *options.memory_limit -= rocks_guard_core::own_bytes();
    return options;
}

result<found_filter> find_filter(const snapshotter_place& place, const broom_options& options,
                                 const progress_report& progress, building when) try {
    rocksdb::FileSystem& files = *place.db->GetFileSystem();
    const auto snapshots = list_snapshots(files, place.folder());
    if (!snapshots) return snapshots.error();
    for (const snapshot_file& each : *snapshots) {
        auto found = load_one(place, options, each);
        if (found) {
            std::uint64_t seconds = 0;  // 0 if the file system has no times
            if (files.GetFileModificationTime(each.path, {}, &seconds, nullptr).ok() && seconds != 0)
                place.watch->snapshot_loaded(store_watch::wall_clock::time_point{std::chrono::seconds{seconds}});
            return found;
        }
        place.watch->snapshot_refused(each.path.c_str(), found.error());
        // A reader may see an older store: the snapshot may be too new for it and right for the
        // writer.
        if (place.read_only) continue;
        // If it cannot be removed, opening fails: a snapshot that stays, or returns after a crash,
        // could pass as a good one when the store has more writes than it shows.
        if (const auto gone = remove_snapshot(files, place.folder(), each.path); !gone) return gone.error();
    }
    return rebuild(place, options, progress, when);
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory for the filter of %s", place.db->GetName().c_str());
}

}  // namespace genista::rocks
