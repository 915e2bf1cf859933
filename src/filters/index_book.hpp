// index_book: how a filter writes to its index (remote/indexed.hpp) so that a failing R cannot
// mislead it.
//
// A change of the filter writes to the index first, then to its own memory. A write that fails may
// have happened: the change is given up, what was written so far is owed back, and nothing else is
// written before the debt is paid. So the index and the filter agree, but for what is owed.
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
    // Pays what is owed: opens every change. May throw std::bad_alloc, as all of these may.
    [[nodiscard]] result<void> settle(index_source& remote);

    // All of them, in order, and then `apply_locally`, the filter's own part, which may throw; or
    // an error, and the index is (or will be) as it was before.
    [[nodiscard]] result<void> write(std::span<const index_change> changes, index_source& remote,
                                     const std::function<void()>& apply_locally = {});

    // A record that may be there already; true if it was not. What fails is owed forward, for to
    // take it back might take what was there before.
    [[nodiscard]] result<bool> put_again(const index_change& record, index_source& remote);

    // Everything in the index goes, debts included: the filter is made anew.
    [[nodiscard]] result<void> clear(index_source& remote);

    [[nodiscard]] bool owes() const noexcept { return !owed_.empty(); }
    [[nodiscard]] std::uint64_t local_bytes() const noexcept;

  private:
    [[nodiscard]] static result<void> apply(const index_change& change, index_source& remote);

    std::vector<index_change> owed_;  // the last one is paid first
};

}  // namespace genista
