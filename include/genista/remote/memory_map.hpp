// memory_map: R in RAM, a B+ tree behind a reader-writer lock. For tests, experiments and sets that
// fit in memory.
//
// It keeps every promise of remote.hpp and two more: the only error it knows is out_of_memory, and
// then nothing has changed; and a range is visited as of one moment. A record with a key of up to 8
// bytes takes 25 bytes in a full leaf (about 36 after random inserts); a longer key adds its length
// and 8 bytes. Equal digests with different keys coexist.
//
// Threads: all calls may run at once. Changes hold the lock alone; contains, for_each, size,
// bytes and audit share it. A visitor runs under the shared lock on the tree's own bytes (nothing
// is copied: the key_view is valid during the call). So a visitor must not call any member of the
// same map, reads included: a writer that waits between two shared locks of one thread stops all
// three. And a long visit keeps writers waiting: sweep a large map range by range. An exception
// thrown by a visitor passes through and releases the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <span>

#include "genista/base/result.hpp"
#include "genista/detail/remote/record_tree.hpp"
#include "genista/hash/key.hpp"
#include "genista/remote/remote.hpp"

namespace genista {

// The fan-outs are parameters so that tests reach every split and merge with few keys; use
// `memory_map`.
template <std::size_t LeafRecords, std::size_t InnerChildren>
class basic_memory_map {
  public:
    basic_memory_map() noexcept = default;
    basic_memory_map(const basic_memory_map&) = delete;  // the lock stays where it is; share by reference
    basic_memory_map& operator=(const basic_memory_map&) = delete;
    ~basic_memory_map() = default;

    // True if the record is new.
    result<bool> put(const digest& where, key_view key) noexcept {
        const std::unique_lock alone{mutex_};
        try {
            return tree_.put(where, key);
        } catch (const std::bad_alloc&) {
            return error::make(error_code::out_of_memory,
                               "memory_map: no memory to put a key of %zu bytes beside %zu records of %zu bytes",
                               key.size, tree_.size(), tree_.allocated_bytes());
        }
    }

    // True if the record was there. Needs no memory and cannot fail.
    result<bool> erase(const digest& where, key_view key) noexcept {
        const std::unique_lock alone{mutex_};
        return tree_.erase(where, key);
    }

    result<void> apply(std::span<const record_change> changes) noexcept {
        const std::unique_lock alone{mutex_};
        try {
            tree_.apply(changes);
            return {};
        } catch (const std::bad_alloc&) {
            return error::make(error_code::out_of_memory,
                               "memory_map: no memory for %zu changes beside %zu records of %zu bytes", changes.size(),
                               tree_.size(), tree_.allocated_bytes());
        }
    }

    // Needs no memory and cannot fail.
    result<void> erase_range(std::uint64_t first_position, std::uint64_t last_position) noexcept {
        const std::unique_lock alone{mutex_};
        tree_.erase_range(first_position, last_position);
        return {};
    }

    result<bool> contains(const digest& where, key_view key) const noexcept {
        const std::shared_lock shared{mutex_};
        return tree_.contains(where, key);
    }

    // Both ends inclusive; first > last is the empty range.
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first_position, std::uint64_t last_position, Visit&& visit) const {
        const std::shared_lock shared{mutex_};
        tree_.for_each(first_position, last_position, visit);
        return {};
    }

    [[nodiscard]] std::size_t size() const noexcept {
        const std::shared_lock shared{mutex_};
        return tree_.size();
    }

    // All memory of the map: this object, its nodes and its long keys, as asked from the allocator.
    [[nodiscard]] std::size_t bytes() const noexcept {
        const std::shared_lock shared{mutex_};
        return sizeof *this + tree_.allocated_bytes();
    }

    // Checks the invariants of record_tree.hpp; for tests, O(size).
    [[nodiscard]] result<void> audit() const noexcept {
        const std::shared_lock shared{mutex_};
        return tree_.audit();
    }

  private:
    mutable std::shared_mutex mutex_;
    record_tree<LeafRecords, InnerChildren> tree_;
};

// 64 records a leaf: 1.6 KiB, 26 cache lines, so that a bin of about 45 keys is one or two leaves.
using memory_map = basic_memory_map<64, 64>;

static_assert(batched_map<memory_map>);

}  // namespace genista
