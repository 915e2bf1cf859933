// index_book: how a filter writes to its index (remote/indexed.hpp) so that a failing R cannot make
// the two disagree.
//
// A change of the filter writes to the index first, then to its own memory. A failed write may have
// happened: the change is abandoned, the opposites of its writes become *pending*, and no other
// write happens before the pending ones have succeeded. So the index and the filter agree, except
// for pending writes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "genista/detail/filters/index_source.hpp"

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

}  // namespace genista
