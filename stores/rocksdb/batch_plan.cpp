// Reading a batch, applying its ranges and reducing it to one outcome per key. See batch_plan.hpp.
#include "stores/rocksdb/batch_plan.hpp"

#include <rocksdb/comparator.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace genista::rocks {

rocksdb::Status batch_plan::on_transaction() {
    return rocksdb::Status::NotSupported("a guarded database takes no batches with marks of transactions");
}

rocksdb::Status batch_plan::check(std::uint32_t family) const {
    if (family != index_id_ && family != meta_id_) return {};
    return rocksdb::Status::NotSupported("column families of genista are not for writing");
}

rocksdb::Status batch_plan::on_change(std::uint32_t family, const rocksdb::Slice& key, bool is_put) {
    if (family == guarded_family_id) changes_.push_back({.key = {hash_, to_key(key)}, .is_put = is_put});
    return check(family);
}

rocksdb::Status batch_plan::on_merge(std::uint32_t family, const rocksdb::Slice& key) {
    if (family == guarded_family_id && !merges_) return no_merge_operator();
    return on_change(family, key, true);
}

rocksdb::Status batch_plan::on_range(std::uint32_t family, const rocksdb::Slice& begin, const rocksdb::Slice& end) {
    if (family == guarded_family_id) ranges_.push_back({.begin = begin, .end = end, .after = changes_.size()});
    return check(family);
}

rocksdb::Status batch_plan::on_blob(std::uint32_t family, const rocksdb::Slice&) {
    if (family != guarded_family_id) return check(family);
    return rocksdb::Status::NotSupported("a guarded database takes no batches with blob references");
}

// Visits the keys in order. A heap holds the ranges that begin at or before the current key, with
// the one written last on top.
rocksdb::Status batch_plan::apply_ranges(const rocksdb::Comparator& order) {
    for (const range& each : ranges_) {
        if (order.Compare(each.begin, each.end) > 0)
            return rocksdb::Status::InvalidArgument("end key comes before start key");
    }
    std::erase_if(ranges_, [&](const range& each) { return order.Compare(each.begin, each.end) == 0; });
    const auto slice_of = [&](std::size_t index) { return to_slice(changes_[index].key.view()); };
    std::vector<std::size_t> by_key(changes_.size());
    std::iota(by_key.begin(), by_key.end(), std::size_t{0});
    std::sort(by_key.begin(), by_key.end(),
              [&](std::size_t a, std::size_t b) { return order.Compare(slice_of(a), slice_of(b)) < 0; });
    std::vector<const range*> by_begin;
    for (const range& each : ranges_) by_begin.push_back(&each);
    std::sort(by_begin.begin(), by_begin.end(),
              [&](const range* a, const range* b) { return order.Compare(a->begin, b->begin) < 0; });
    const auto earlier = [](const range* a, const range* b) { return a->after < b->after; };
    std::vector<const range*> around;
    auto next = by_begin.begin();
    for (const std::size_t index : by_key) {
        const rocksdb::Slice key = slice_of(index);
        for (; next != by_begin.end() && order.Compare((*next)->begin, key) <= 0; ++next) {
            around.push_back(*next);
            std::push_heap(around.begin(), around.end(), earlier);
        }
        while (!around.empty() && order.Compare(around.front()->end, key) <= 0) {
            std::pop_heap(around.begin(), around.end(), earlier);
            around.pop_back();
        }
        if (!around.empty() && around.front()->after > index) changes_[index].is_put = false;
    }
    return {};
}

rocksdb::Status batch_plan::append_records(rocksdb::WriteBatch& to, rocksdb::ColumnFamilyHandle& index) const {
    for (const change& each : changes_) {
        const record_key name{each.key};
        rocksdb::Status added = each.is_put ? to.Put(&index, name.slice(), {}) : to.Delete(&index, name.slice());
        if (!added.ok()) return added;
    }
    return {};
}

void batch_plan::finish() {
    const auto place = [](const change& each) { return std::tuple{each.where(), each.key.text()}; };
    const auto same = [&](const change& a, const change& b) { return place(a) == place(b); };
    std::ranges::stable_sort(changes_, {}, place);
    // unique() keeps the first of equal keys, and the last change is the one that counts.
    std::ranges::reverse(changes_);
    changes_.erase(std::unique(changes_.begin(), changes_.end(), same), changes_.end());
    std::ranges::reverse(changes_);
    const auto deletions =
        std::stable_partition(changes_.begin(), changes_.end(), [](const change& each) { return each.is_put; });
    puts_ = static_cast<std::size_t>(deletions - changes_.begin());
}

}  // namespace genista::rocks
