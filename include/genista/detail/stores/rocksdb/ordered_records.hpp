// ordered_records: R (remote/remote.hpp) in one column family of RocksDB, whose keys are
// record_keys.
//
// for_each is one iterator, so a range shows one moment of the database, later than every commit
// that returned before the call. RocksDB would read a range block by block; record_density predicts
// its length, so that one read of the device brings all of it. A record too short to hold a digest
// is an error and is not skipped as an absent key. `put` keeps the value of a record that already
// exists; beside a writer of the same record that does not come through here it may still undo that
// writer's value, and `erase` removes the value too. Stores write their records themselves, in the
// batch of the data (clustered_store, guarded_db).
//
// sequential_records reads the same with ONE iterator that continues where the last range ended:
// for building a filter while no thread writes. An iterator shows the moment at which it was made,
// so beside writers it would be wrong.
#pragma once

#include <rocksdb/db.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <optional>

#include "genista/detail/stores/rocksdb/record_key.hpp"
#include "genista/detail/stores/rocksdb/status.hpp"
#include "genista/remote/remote.hpp"

namespace genista::rocks {

// How many bytes of records there are for each position, estimated from the ranges read so far.
// Positions are hashes, so all parts of the database are equally dense.
class record_density {
  public:
    // How many bytes to read from the device at once; 0 if a block or two hold the range, or
    // nothing is known.
    [[nodiscard]] std::size_t readahead(std::uint64_t first, std::uint64_t last) const noexcept;
    void learn(std::uint64_t first, std::uint64_t last, std::size_t bytes) noexcept;

  private:
    std::atomic<double> bytes_per_position_{0};
};

// A caller's deadline (microseconds since the epoch, as in rocksdb::ReadOptions) and its limit for
// one read. 0: none.
struct read_limits {
    std::chrono::microseconds deadline{0};
    std::chrono::microseconds io_timeout{0};

    [[nodiscard]] bool any() const noexcept { return deadline.count() != 0 || io_timeout.count() != 0; }
};

// One walk over a range of positions: the part of for_each that does not depend on the visitor.
class record_range {
  public:
    record_range(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family, std::uint64_t first, std::uint64_t last,
                 std::size_t readahead, const read_limits& limits = {});

    // The next record, nothing at the end. Its key is valid until the next call.
    [[nodiscard]] result<std::optional<std::pair<digest, key_view>>> next();
    // Of the records so far, as far as RocksDB's format shows them.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  private:
    std::size_t bytes_ = 0;
    std::array<char, 8> lower_bytes_{}, upper_bytes_{};
    rocksdb::Slice lower_, upper_;
    std::unique_ptr<rocksdb::Iterator> at_;
    bool begun_ = false;
    rocksdb::Env* clock_ = nullptr;  // if there is a deadline
    std::uint64_t deadline_ = 0;
};

class ordered_records {
  public:
    // REQUIRES: both outlive this object.
    ordered_records(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family) noexcept : db_{&db}, family_{&family} {}

    [[nodiscard]] result<bool> put(const digest& where, key_view key);
    [[nodiscard]] result<bool> erase(const digest& where, key_view key);
    [[nodiscard]] result<bool> contains(const digest& where, key_view key);

    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        return for_each(first, last, {}, visit);
    }
    // An exceeded limit is the error `timeout`.
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, const read_limits& limits, Visit&& visit) try {
        if (first > last) return {};
        record_range range{*db_, *family_, first, last, density_.readahead(first, last), limits};
        while (true) {
            const auto record = range.next();
            if (!record) return record.error();
            if (!record->has_value()) break;
            if (!visit((*record)->first, (*record)->second)) return {};
        }
        density_.learn(first, last, range.bytes());
        return {};
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "no memory to read a range of records");
    }

    [[nodiscard]] rocksdb::DB& db() const noexcept { return *db_; }
    [[nodiscard]] rocksdb::ColumnFamilyHandle& family() const noexcept { return *family_; }
    // The database has been closed: `instead` answers every call with an error. The family no
    // longer exists.
    void closed(rocksdb::DB& instead) noexcept { db_ = &instead; }

  private:
    static constexpr std::size_t stripes = 64;
    [[nodiscard]] std::mutex& stripe_of(const digest& d) noexcept { return stripes_[d.seed % stripes]; }

    rocksdb::DB* db_;
    rocksdb::ColumnFamilyHandle* family_;
    record_density density_;
    std::array<std::mutex, stripes> stripes_;  // put and erase of a record take turns
};

// The same R for a caller with a deadline: ranges are read within its limits.
class hurried_records {
  public:
    hurried_records(ordered_records& all, const read_limits& limits) noexcept : all_{all}, limits_{limits} {}

    [[nodiscard]] result<bool> put(const digest& where, key_view key) { return all_.put(where, key); }
    [[nodiscard]] result<bool> erase(const digest& where, key_view key) { return all_.erase(where, key); }
    [[nodiscard]] result<bool> contains(const digest& where, key_view key) { return all_.contains(where, key); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        return all_.for_each(first, last, limits_, visit);
    }

  private:
    ordered_records& all_;
    read_limits limits_;
};

// For one thread. Read-only: put and erase are errors.
class sequential_records {
  public:
    sequential_records(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family);

    [[nodiscard]] result<bool> put(const digest& where, key_view key) noexcept;
    [[nodiscard]] result<bool> erase(const digest& where, key_view key) noexcept;
    [[nodiscard]] result<bool> contains(const digest& where, key_view key);

    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) try {
        if (first > last) return {};
        go_to(first);
        while (true) {
            const auto record = here(last);
            if (!record) return record.error();
            if (!record->has_value() || !visit((*record)->first, (*record)->second)) return {};
            step();
        }
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "no memory to read a range of records");
    }

    [[nodiscard]] std::uint64_t records_read() const noexcept { return records_read_; }

  private:
    void go_to(std::uint64_t first);
    // The record the iterator is at, or nothing if it is beyond `last` or there is none: only then
    // the next range can continue from here.
    [[nodiscard]] result<std::optional<std::pair<digest, key_view>>> here(std::uint64_t last);
    void step();

    rocksdb::DB* db_;
    rocksdb::ColumnFamilyHandle* family_;
    std::unique_ptr<rocksdb::Iterator> at_;
    std::optional<std::uint64_t> continues_at_;  // the iterator is at the first record at or after this position
    std::uint64_t records_read_ = 0;
};

}  // namespace genista::rocks
