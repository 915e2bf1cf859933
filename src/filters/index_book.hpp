// How a filter with an index (remote/indexed.hpp) writes to it and reads R. index_book writes so
// that a failing R cannot make the two disagree; the reads have visitors that may run out of
// memory, and give all stored keys piece by piece.
//
// A change of the filter writes to the index first, then to its own memory. A failed write may have
// happened: the change is abandoned, the opposites of its writes become *pending*, and no other
// write happens before the pending ones have succeeded. So the index and the filter agree, except
// for pending writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "genista/detail/filters/index_source.hpp"
#include "genista/hash/hasher.hpp"

namespace genista {

struct index_change {
    enum class kind : unsigned char { put, erase } what = kind::put;
    digest place{};
    std::string key{};
};

class index_book {
  public:
    // Retries the pending writes: begins every change. May throw std::bad_alloc, as every function
    // here may.
    [[nodiscard]] result<void> write_pending(index_source& remote);

    // Writes all changes, in order, and then calls `apply_locally`, the filter's own part, which
    // may throw. On an error the index is, or will be after the pending writes, as it was before.
    [[nodiscard]] result<void> write(std::span<const index_change> changes, index_source& remote,
                                     const std::function<void()>& apply_locally = {});

    // Writes a record that may be there already; true if it was not. A failed write becomes pending
    // itself, not its opposite, which might remove a record that was there before.
    [[nodiscard]] result<bool> put_again(const index_change& record, index_source& remote);

    // Removes all records of a range. Repeats until a read finds none, because one answer of R may
    // be wrong; an error if R goes on naming records that were erased. An error leaves some of
    // them.
    [[nodiscard]] static result<void> clear(position_range within, index_source& remote);

    // Removes everything from the index, pending writes included: the filter is rebuilt.
    [[nodiscard]] result<void> clear(index_source& remote);

    [[nodiscard]] bool has_pending() const noexcept { return !pending_.empty(); }
    [[nodiscard]] std::uint64_t local_bytes() const noexcept;

  private:
    [[nodiscard]] static result<void> apply(const index_change& change, index_source& remote);

    std::vector<index_change> pending_;  // the last one is written first
};

// Turns a visitor that may throw std::bad_alloc into one that may not. The caller checks `starved`
// after the read.
template <class Take>
[[nodiscard]] index_source::take_record never_throwing(bool& starved, Take take) {
    return [&starved, take = std::move(take)](const digest& place, key_view key) mutable {
        try {
            return take(place, key);
        } catch (const std::bad_alloc&) {
            starved = true;
            return false;
        }
    };
}

struct index_member {
    digest d{};
    std::string key{};
};
inline constexpr std::size_t members_at_once = 4096;

// Reads about members_at_once keys from a position on, and all of the last position; fewer means
// that they are the last ones. A record that does not belong where R returned it, or comes twice,
// is an error. May throw std::bad_alloc.
[[nodiscard]] result<std::vector<index_member>> members_from(std::uint64_t position, const hasher& hash,
                                                             index_source& remote);

// Calls visit(const index_member&) -> result<bool> for all keys of R; stops at false and returns
// it. `reads` counts range reads.
template <class Visit>
[[nodiscard]] result<bool> each_member_of(index_source& remote, const hasher& hash, std::uint64_t& reads, Visit visit) {
    for (std::uint64_t position = 0;;) {
        ++reads;
        const auto part = members_from(position, hash, remote);
        if (!part) return part.error();
        for (const index_member& each : *part) {
            const result<bool> go_on = visit(each);
            if (!go_on || !*go_on) return go_on;
        }
        if (part->size() < members_at_once || part->back().d.position == ~std::uint64_t{0}) return true;
        position = part->back().d.position + 1;
    }
}

}  // namespace genista
