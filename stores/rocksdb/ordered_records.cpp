// Reading and writing records of R, singly or in order. See ordered_records.hpp.
#include "genista/detail/stores/rocksdb/ordered_records.hpp"

#include <algorithm>

namespace genista::rocks {
namespace {

static_assert(remote_map<ordered_records> && remote_map<hurried_records> && remote_map<sequential_records>);

constexpr std::size_t sequential_readahead_bytes = std::size_t{2} << 20;

using found_record = std::optional<std::pair<digest, key_view>>;

error too_short(const rocksdb::Slice& bytes) noexcept {
    return error::make(error_code::corrupt, "a record of %zu bytes: every record begins with %zu bytes of digest",
                       bytes.size(), digest_bytes);
}

double positions(std::uint64_t first, std::uint64_t last) noexcept {
    return static_cast<double>(last - first) + 1;
}

result<found_record> record_at(const rocksdb::Iterator& at) noexcept {
    const auto found = decode_record(at.key());
    if (!found) return too_short(at.key());
    return found_record{found};
}

result<bool> holds(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family, const digest& where, key_view key) {
    const record_key name{where, key};
    rocksdb::PinnableSlice value;
    const rocksdb::Status found = db.Get({}, &family, name.slice(), &value);
    if (found.ok()) return true;
    if (found.IsNotFound()) return false;
    return to_error(found, "look up a record");
}

}  // namespace

std::size_t record_density::readahead(std::uint64_t first, std::uint64_t last) const noexcept {
    constexpr double margin = 1.25;  // two standard deviations of the number of keys in one bin
    constexpr double least = 2 * 4096.0, most = 256 * 1024.0;
    const double expected = bytes_per_position_.load(std::memory_order_relaxed) * positions(first, last) * margin;
    return expected < least ? 0 : static_cast<std::size_t>(std::min(expected, most));
}

void record_density::learn(std::uint64_t first, std::uint64_t last, std::size_t bytes) noexcept {
    constexpr double share_of_news = 1.0 / 16;
    const double seen = static_cast<double>(bytes) / positions(first, last);
    const double known = bytes_per_position_.load(std::memory_order_relaxed);
    bytes_per_position_.store(known == 0 ? seen : known + (seen - known) * share_of_news, std::memory_order_relaxed);
}

record_range::record_range(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family, std::uint64_t first,
                           std::uint64_t last, std::size_t readahead, const read_limits& limits) {
    store_big_endian(first, lower_bytes_.data());
    lower_ = {lower_bytes_.data(), lower_bytes_.size()};
    rocksdb::ReadOptions how;
    how.total_order_seek = true;  // independent of the prefixes that the family is configured with
    how.readahead_size = readahead;
    how.iterate_lower_bound = &lower_;
    if (last != ~std::uint64_t{0}) {
        store_big_endian(last + 1, upper_bytes_.data());
        upper_ = {upper_bytes_.data(), upper_bytes_.size()};
        how.iterate_upper_bound = &upper_;
    }
    how.deadline = limits.deadline;
    how.io_timeout = limits.io_timeout;
    if (limits.deadline.count() > 0) {
        clock_ = db.GetEnv();
        deadline_ = static_cast<std::uint64_t>(limits.deadline.count());
    }
    at_.reset(db.NewIterator(how, &family));
}

result<found_record> record_range::next() {
    // RocksDB checks the deadline only before it reads from a file. Blocks in memory take time too.
    if (clock_ != nullptr && clock_->NowMicros() >= deadline_)
        return error::make(error_code::timeout, "the caller's deadline passed while a range of records was read");
    if (begun_)
        at_->Next();
    else
        at_->Seek(lower_);
    begun_ = true;
    if (at_->Valid()) {
        bytes_ += at_->key().size() + at_->value().size();
        return record_at(*at_);
    }
    if (!at_->status().ok()) return to_error(at_->status(), "read a range of records");
    return found_record{};
}

result<bool> ordered_records::put(const digest& where, key_view key) try {
    const std::lock_guard held{stripe_of(where)};
    const auto there = holds(*db_, *family_, where, key);
    if (!there) return there.error();
    if (*there) return false;
    const record_key name{where, key};
    if (const auto done = db_->Put({}, family_, name.slice(), {}); !done.ok()) return to_error(done, "write a record");
    return true;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to write a record");
}

result<bool> ordered_records::erase(const digest& where, key_view key) try {
    const std::lock_guard held{stripe_of(where)};
    const auto there = holds(*db_, *family_, where, key);
    if (!there) return there.error();
    if (!*there) return false;
    const record_key name{where, key};
    if (const auto done = db_->Delete({}, family_, name.slice()); !done.ok()) return to_error(done, "delete a record");
    return true;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to delete a record");
}

result<bool> ordered_records::contains(const digest& where, key_view key) try {
    return holds(*db_, *family_, where, key);
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to look up a record");
}

sequential_records::sequential_records(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family)
    : db_{&db}, family_{&family} {
    rocksdb::ReadOptions how;
    how.total_order_seek = true;
    how.fill_cache = false;  // every block is read once
    how.readahead_size = sequential_readahead_bytes;
    at_.reset(db.NewIterator(how, &family));
}

result<bool> sequential_records::put(const digest&, key_view) noexcept {
    return error::make(error_code::unsupported, "sequential_records only reads");
}
result<bool> sequential_records::erase(const digest&, key_view) noexcept {
    return error::make(error_code::unsupported, "sequential_records only reads");
}
result<bool> sequential_records::contains(const digest& where, key_view key) try {
    return holds(*db_, *family_, where, key);
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "no memory to look up a record");
}

void sequential_records::go_to(std::uint64_t first) {
    if (continues_at_ == first) return;
    std::array<char, 8> bytes{};
    store_big_endian(first, bytes.data());
    at_->Seek({bytes.data(), bytes.size()});
    continues_at_ = first;
}

result<found_record> sequential_records::here(std::uint64_t last) {
    continues_at_.reset();
    if (!at_->Valid() && !at_->status().ok()) return to_error(at_->status(), "read the records in order");
    if (at_->Valid()) {
        auto found = record_at(*at_);
        if (!found || (*found)->first.position <= last) return found;
    }
    if (last != ~std::uint64_t{0}) continues_at_ = last + 1;
    return found_record{};
}

void sequential_records::step() {
    ++records_read_;
    at_->Next();
}

}  // namespace genista::rocks
