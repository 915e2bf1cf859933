// plain_store: a database with plain keys, opened to read: the store of all rows of the indexed
// layout but broom's.
//
// A guarded_store whose R answers single keys only: keys in their own order have no ranges of
// digests. The Bloom filter reads no R. The cuckoo family needs ranges only when a filter is built;
// sorted_keys has them in RAM for that time.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "genista/detail/stores/rocksdb/database.hpp"
#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "genista/detail/stores/rocksdb/status.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/remote/remote.hpp"
#include "lab/workloads/key_table.hpp"

namespace genista::tool::compare {

[[nodiscard]] inline error only_reads() noexcept {
    return error::make(error_code::unsupported, "this database is opened to read");
}

// Is this key in the database? Any number of threads.
class plain_members {
  public:
    explicit plain_members(rocksdb::DB& db) noexcept : db_{&db} {}

    [[nodiscard]] result<bool> put(const digest&, key_view) { return only_reads(); }
    [[nodiscard]] result<bool> erase(const digest&, key_view) { return only_reads(); }
    [[nodiscard]] result<bool> contains(const digest&, key_view key) {
        rocksdb::PinnableSlice value;
        return answer(db_->Get({}, db_->DefaultColumnFamily(), rocks::to_slice(key), &value));
    }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t, std::uint64_t, Visit&&) {
        return error::make(error_code::unsupported, "keys in their own order have no ranges of digests");
    }
    [[nodiscard]] static result<bool> answer(const rocksdb::Status& got) {
        if (got.ok()) return true;
        if (got.IsNotFound()) return false;
        return rocks::to_error(got, "read a value");
    }

  private:
    rocksdb::DB* db_;
};

class plain_store {
  public:
    plain_store(rocks::database db, const hasher& hash) : db_{std::move(db)}, hash_{hash}, members_{db_.base()} {}

    [[nodiscard]] result<bool> read(key_view key, std::string& value) {
        return plain_members::answer(db_.base().Get({}, rocks::to_slice(key), &value));
    }
    [[nodiscard]] result<bool> read(const digest&, key_view key, std::string& value) { return read(key, value); }
    [[nodiscard]] result<void> write(const digest&, key_view, std::string_view) { return only_reads(); }
    [[nodiscard]] result<void> remove(const digest&, key_view) { return only_reads(); }
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] plain_members& remote() noexcept { return members_; }
    [[nodiscard]] rocksdb::DB& db() noexcept { return db_.base(); }

  private:
    rocks::database db_;
    hasher hash_;
    plain_members members_;
};

// The first `stored` keys of a table as R, for one thread: only ranges.
class sorted_keys {
  public:
    sorted_keys(const lab::key_table& keys, std::size_t stored, const hasher& hash) : keys_{keys} {
        order_.reserve(stored);
        for (lab::key_number number = 0; number < stored; ++number) order_.emplace_back(hash(keys[number]), number);
        std::sort(order_.begin(), order_.end(), [&](const auto& a, const auto& b) {
            return a.first != b.first ? a.first < b.first : keys[a.second] < keys[b.second];
        });
    }

    [[nodiscard]] result<bool> put(const digest&, key_view) { return only_reads(); }
    [[nodiscard]] result<bool> erase(const digest&, key_view) { return only_reads(); }
    [[nodiscard]] result<bool> contains(const digest&, key_view key) { return keys_.find(key.text()).has_value(); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        auto at = std::partition_point(order_.begin(), order_.end(),
                                       [&](const auto& each) { return each.first.position < first; });
        for (; at != order_.end() && at->first.position <= last; ++at) {
            if (!visit(at->first, key_view{keys_[at->second]})) break;
        }
        return {};
    }

  private:
    const lab::key_table& keys_;
    std::vector<std::pair<digest, lab::key_number>> order_;
};

}  // namespace genista::tool::compare
