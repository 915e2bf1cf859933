// Range deletes and their notes. See range_deletes.hpp.
#include "stores/rocksdb/range_deletes.hpp"

#include <rocksdb/comparator.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string_view>

#include "genista/detail/base/fail_point.hpp"
#include "genista/detail/stores/rocksdb/meta.hpp"
#include "genista/detail/stores/rocksdb/ordered_records.hpp"
#include "genista/stores/rocksdb/guarded_db.hpp"

namespace genista::rocks {
namespace {

constexpr std::string_view note_prefix = "range_delete/";

void append_text(std::string& to, const rocksdb::Slice& text) {
    for (unsigned i = 0; i < 8; ++i) to.push_back(static_cast<char>(static_cast<unsigned char>(text.size() >> 8 * i)));
    to.append(text.data(), text.size());
}

bool take_text(std::string_view& from, std::string& text) {
    if (from.size() < 8) return false;
    std::uint64_t size = 0;
    for (unsigned i = 0; i < 8; ++i) size |= std::uint64_t{static_cast<unsigned char>(from[i])} << 8 * i;
    from.remove_prefix(8);
    if (size > from.size()) return false;
    text.assign(from.substr(0, size));
    from.remove_prefix(size);
    return true;
}

rocksdb::ReadOptions scan_options() {
    rocksdb::ReadOptions how;
    how.total_order_seek = true;
    how.fill_cache = false;
    return how;
}

rocksdb::Status read_notes(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& notes, std::vector<std::string>& names,
                           key_ranges& ranges) {
    const std::unique_ptr<rocksdb::Iterator> at{db.NewIterator(scan_options(), &notes)};
    for (at->Seek({note_prefix.data(), note_prefix.size()}); at->Valid() && at->key().starts_with(note_prefix.data());
         at->Next()) {
        names.push_back(at->key().ToString());
        std::string_view rest{at->value().data(), at->value().size()};
        while (!rest.empty()) {
            std::pair<std::string, std::string> each;
            if (!take_text(rest, each.first) || !take_text(rest, each.second))
                return rocksdb::Status::Corruption("a note of a range delete in genista.meta is cut short");
            ranges.push_back(std::move(each));
        }
    }
    return at->status();
}

rocksdb::Status is_there(rocksdb::DB& db, const rocksdb::Slice& key, bool& there) {
    rocksdb::PinnableSlice value;
    rocksdb::Status got = db.Get({}, db.DefaultColumnFamily(), key, &value);
    there = got.ok();
    return got.IsNotFound() ? rocksdb::Status::OK() : got;
}

}  // namespace

std::string range_delete_note_name(std::uint64_t number) {
    return std::string{note_prefix} + std::to_string(number);
}

std::string range_delete_note(std::span<const batch_plan::range> ranges) {
    std::string all;
    for (const batch_plan::range& each : ranges) {
        append_text(all, each.begin);
        append_text(all, each.end);
    }
    return all;
}

result<void> finish_range_deletes(database& db) try {
    rocksdb::ColumnFamilyHandle* const notes = db.family(meta_family_name);
    rocksdb::ColumnFamilyHandle* const index = db.family(index_family_name);
    const rocksdb::Comparator& order = *db.base().DefaultColumnFamily()->GetComparator();
    std::vector<std::string> names;
    key_ranges ranges;
    rocksdb::Status done = read_notes(db.base(), *notes, names, ranges);
    if (!done.ok()) return to_error(done, "read the notes of range deletes");
    if (names.empty()) return {};
    rocksdb::WriteBatch gone;
    const auto write = [&] {
        if (done.ok()) done = db.base().Write({}, &gone);
        gone.Clear();
    };
    sequential_records records{db.base(), *index};
    const auto read = records.for_each(0, ~std::uint64_t{0}, [&](const digest& d, key_view key) {
        const rocksdb::Slice name = to_slice(key);
        const bool inside = std::any_of(ranges.begin(), ranges.end(), [&](const auto& each) {
            return order.Compare(each.first, name) <= 0 && order.Compare(name, each.second) < 0;
        });
        bool there = true;
        if (inside) done = is_there(db.base(), name, there);
        if (done.ok() && !there) done = gone.Delete(index, record_key{d, key}.slice());
        if (gone.Count() >= static_cast<int>(range_delete_piece)) write();
        return done.ok();
    });
    if (!read) return read;
    for (const std::string& each : names) {
        if (done.ok()) done = gone.Delete(notes, each);
    }
    write();
    if (!done.ok()) return to_error(done, "finish a range delete");
    return {};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to finish a range delete");
}

rocksdb::Status guarded_db::write_ranges(const rocksdb::WriteOptions& options, rocksdb::WriteBatch& updates,
                                         batch_plan& plan) {
    if (Status applied = plan.apply_ranges(*DefaultColumnFamily()->GetComparator()); !applied.ok()) return applied;
    const std::shared_lock no_audit{clearing_};
    rocksdb::WriteBatch all{updates};
    all.SetMaxBytes(0);  // the user's limit applies to the user's part only
    if (Status added = plan.append_records(all, records_.family()); !added.ok()) return added;
    const std::string note = range_delete_note_name(range_deletes_.fetch_add(1, std::memory_order_relaxed));
    Family& notes = *handles_.family(meta_family_name);
    if (Status added = all.Put(&notes, note, range_delete_note(plan.ranges())); !added.ok()) return added;
    plan.finish();

    struct releasing {
        rocksdb::DB& db;
        const rocksdb::Snapshot* what;
        ~releasing() {
            if (what != nullptr) db.ReleaseSnapshot(what);
        }
    };
    releasing before{*db_, nullptr};
    std::vector<std::string> keys;  // for a database that takes no snapshots
    {
        const writers_lock::exclusive alone{writers_};
        before.what = db_->GetSnapshot();
        if (before.what == nullptr) {
            if (Status read = keys_of_ranges(plan.ranges(), nullptr,
                                             [&](std::string key) {
                                                 keys.push_back(std::move(key));
                                                 return Status::OK();
                                             });
                !read.ok())
                return read;
        }
        if (Status done = commit(options, all, plan); !done.ok()) return done;
    }
    fail_point("range.committed");
    // The rest concerns the filter only. An error here costs reads, and the next opening finishes
    // the work.
    std::vector<std::string> piece;
    const auto add = [&](std::string key) {
        piece.push_back(std::move(key));
        return piece.size() < range_delete_piece ? Status::OK() : clear_records(piece);
    };
    Status cleared;
    if (before.what != nullptr) cleared = keys_of_ranges(plan.ranges(), before.what, add);
    for (std::string& each : keys) {
        if (cleared.ok()) cleared = add(std::move(each));
    }
    if (cleared.ok()) cleared = clear_records(piece);
    fail_point("range.cleared");
    if (!cleared.ok()) return {};
    rocksdb::WriteBatch last;
    const writers_lock::shared inside{writers_};
    if (last.Delete(&notes, note).ok()) write_own(last).PermitUncheckedError();
    return {};
}

// Visits every key of the ranges, one range after the other.
template <class Ranges, class Visit>
rocksdb::Status guarded_db::keys_of_ranges(const Ranges& ranges, const rocksdb::Snapshot* at_moment,
                                           const Visit& visit) {
    for (const auto& each : ranges) {
        rocksdb::ReadOptions how = scan_options();
        how.snapshot = at_moment;
        how.iterate_lower_bound = &each.begin;
        how.iterate_upper_bound = &each.end;
        const std::unique_ptr<rocksdb::Iterator> at{db_->NewIterator(how, DefaultColumnFamily())};
        for (at->SeekToFirst(); at->Valid(); at->Next()) {
            if (Status visited = visit(at->key().ToString()); !visited.ok()) return visited;
        }
        if (!at->status().ok()) return at->status();
    }
    return {};
}

// No put is in flight when the clocks are read, and a put that begins later moves its clock
// (writers.hpp). So a key that was absent when it was read in between, and whose clock has not
// moved, is still absent.
rocksdb::Status guarded_db::clear_records(std::vector<std::string>& keys) {
    struct question {
        hashed_key key;  // of the bytes in `keys`
        std::uint32_t clock;
        bool there;
    };
    std::vector<question> asked;
    asked.reserve(keys.size());
    for (const std::string& key : keys) asked.push_back({.key = {core_->hash(), key}, .clock = 0, .there = true});
    {
        const writers_lock::exclusive alone{writers_};
        for (question& each : asked) each.clock = clock_.of(each.key.where());
    }
    for (question& each : asked) {
        if (Status read = is_there(*db_, to_slice(each.key.view()), each.there); !read.ok()) return read;
    }
    fail_point("range.piece_read");
    rocksdb::WriteBatch gone;
    {
        const writers_lock::exclusive alone{writers_};
        for (question& each : asked) {
            if (clock_.of(each.key.where()) != each.clock) {
                if (Status read = is_there(*db_, to_slice(each.key.view()), each.there); !read.ok()) return read;
            }
            const record_key name{each.key};
            if (each.there) continue;
            if (Status added = gone.Delete(&records_.family(), name.slice()); !added.ok()) return added;
        }
        if (gone.Count() > 0) {
            if (Status written = write_own(gone); !written.ok()) return written;
        }
    }
    fail_point("range.piece_written");
    for (const question& each : asked) {
        if (each.there) continue;
        const writers_lock::shared inside{writers_};
        core_->on_erased(each.key);
    }
    keys.clear();
    return {};
}

}  // namespace genista::rocks
