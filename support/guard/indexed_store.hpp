// indexed_store: a store whose R has an index too, so that filters that need one can be used before
// it.
//
//     genista::memory_store store{hash};
//     genista::memory_map index;
//     genista::indexed_store both{store, index};
//     auto filter = genista::cuckooing_filter::build({.hash = both.hash()}, both.remote());
//     genista::guarded users{*std::move(filter), both};
//
// The store keeps values and records, as before. The index belongs to the filter: one filter for
// each index. It need not survive a restart, because a program that opens the store again builds a
// new filter from its records (build() of the filter).
//
// After an error in the index the filter cannot insert a key or adapt to it: its range needs
// repair, reads are wasted, and no key is denied (guard_core.hpp). Models guarded_store; any number
// of threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "genista/guard/guarded.hpp"
#include "genista/remote/indexed.hpp"

namespace genista {

template <guarded_store Store, remote_map Index>
class indexed_store {
  public:
    using remote_type = with_index<remote_of<Store>, Index>;

    // REQUIRES: both outlive this object.
    indexed_store(Store& store, Index& index) noexcept
        : store_{&store}, index_{&index}, remote_{store.remote(), index} {}
    // Takes ownership of both.
    indexed_store(std::unique_ptr<Store> store, std::unique_ptr<Index> index) noexcept : indexed_store{*store, *index} {
        owned_index_ = std::move(index);
        owned_store_ = std::move(store);
    }
    indexed_store(const indexed_store&) = delete;  // filters keep references to remote()
    indexed_store& operator=(const indexed_store&) = delete;

    [[nodiscard]] result<bool> read(const digest& where, key_view key, std::string& value) {
        return store_->read(where, key, value);
    }
    [[nodiscard]] result<void> write(const digest& where, key_view key, std::string_view value) {
        return store_->write(where, key, value);
    }
    [[nodiscard]] result<void> remove(const digest& where, key_view key) { return store_->remove(where, key); }
    [[nodiscard]] const hasher& hash() const noexcept { return store_->hash(); }
    [[nodiscard]] remote_type& remote() noexcept { return remote_; }

    [[nodiscard]] Store& store() noexcept { return *store_; }
    [[nodiscard]] Index& index() noexcept { return *index_; }

  private:
    std::unique_ptr<Store> owned_store_;
    std::unique_ptr<Index> owned_index_;
    Store* store_;
    Index* index_;
    remote_type remote_;
};

}  // namespace genista
