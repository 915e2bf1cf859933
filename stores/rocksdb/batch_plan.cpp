// See batch_plan.hpp.
#include "stores/rocksdb/batch_plan.hpp"

#include <rocksdb/comparator.h>

#include <algorithm>
#include <memory>
#include <tuple>

namespace genista::rocks {

rocksdb::Status batch_plan::transaction() {
    return rocksdb::Status::NotSupported("a guarded database takes no batches with marks of transactions");
}

rocksdb::Status batch_plan::check(std::uint32_t family) const {
    if (family != index_id_ && family != meta_id_) return {};
    return rocksdb::Status::NotSupported("column families of genista are not for writing");
}

rocksdb::Status batch_plan::add(std::uint32_t family, const rocksdb::Slice& key, bool is_put) {
    if (family == guarded_family_id) changes_.push_back({.key = key, .where = hash_(to_key(key)), .is_put = is_put});
    return check(family);
}

rocksdb::Status batch_plan::DeleteRangeCF(std::uint32_t family, const rocksdb::Slice& begin,
                                          const rocksdb::Slice& end) {
    if (family == guarded_family_id) ranges_.push_back({.begin = begin, .end = end, .after = changes_.size()});
    return check(family);
}

rocksdb::Status batch_plan::PutBlobIndexCF(std::uint32_t family, const rocksdb::Slice&, const rocksdb::Slice&) {
    if (family != guarded_family_id) return check(family);
    return rocksdb::Status::NotSupported("a guarded database takes no batches with blob references");
}

rocksdb::Status batch_plan::spell_out_ranges(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family) {
    const rocksdb::Comparator& order = *family.GetComparator();
    std::vector<change> all;
    std::size_t next = 0;
    for (const range& each : ranges_) {
        all.insert(all.end(), changes_.begin() + static_cast<std::ptrdiff_t>(next),
                   changes_.begin() + static_cast<std::ptrdiff_t>(each.after));
        next = each.after;
        const int direction = order.Compare(each.begin, each.end);
        if (direction > 0) return rocksdb::Status::InvalidArgument("end key comes before start key");
        if (direction == 0) continue;
        for (std::size_t i = 0, before = all.size(); i < before; ++i) {
            const change old = all[i];
            if (!old.is_put || order.Compare(old.key, each.begin) < 0 || order.Compare(old.key, each.end) >= 0)
                continue;
            all.push_back({.key = old.key, .where = old.where, .is_put = false});
        }
        rocksdb::ReadOptions how;
        how.total_order_seek = true;
        how.fill_cache = false;
        how.iterate_lower_bound = &each.begin;
        how.iterate_upper_bound = &each.end;
        const std::unique_ptr<rocksdb::Iterator> at{db.NewIterator(how, &family)};
        for (at->SeekToFirst(); at->Valid(); at->Next()) {
            const rocksdb::Slice key = spelt_out_.emplace_back(at->key().data(), at->key().size());
            all.push_back({.key = key, .where = hash_(to_key(key)), .is_put = false});
        }
        if (!at->status().ok()) return at->status();
    }
    all.insert(all.end(), changes_.begin() + static_cast<std::ptrdiff_t>(next), changes_.end());
    changes_ = std::move(all);
    return {};
}

rocksdb::Status batch_plan::append_records(rocksdb::WriteBatch& to, rocksdb::ColumnFamilyHandle& index) const {
    for (const change& each : changes_) {
        const record_key name{each.where, to_key(each.key)};
        rocksdb::Status added = each.is_put ? to.Put(&index, name.slice(), {}) : to.Delete(&index, name.slice());
        if (!added.ok()) return added;
    }
    return {};
}

void batch_plan::finish() {
    const auto place = [](const change& each) {
        return std::tuple{each.where, std::string_view{each.key.data(), each.key.size()}};
    };
    const auto same = [&](const change& a, const change& b) { return place(a) == place(b); };
    std::ranges::stable_sort(changes_, {}, place);
    // unique keeps the first of equals, and the last is wanted.
    std::ranges::reverse(changes_);
    changes_.erase(std::unique(changes_.begin(), changes_.end(), same), changes_.end());
    std::ranges::reverse(changes_);
    const auto deletions =
        std::stable_partition(changes_.begin(), changes_.end(), [](const change& each) { return each.is_put; });
    puts_ = static_cast<std::size_t>(deletions - changes_.begin());
}

}  // namespace genista::rocks
