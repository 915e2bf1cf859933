// slotted_store: a store whose R has slots too, so that filters of the cuckoo family can be used
// before it.
//
//     genista::memory_store store{hash};
//     genista::memory_slots slots;
//     genista::slotted_store both{store, slots};
//     auto filter = genista::cuckooing_filter::build({.hash = both.hash()}, both.remote());
//     genista::guarded users{*std::move(filter), both};
//
// The store keeps values and records, as before. The slots belong to the filter: one filter for
// each map of slots. They need not survive a restart, because a program that opens the store again
// builds a new filter from its records (filters/cuckoo/family.hpp, build).
//
// After an error in the slots the filter cannot insert a key or adapt to it: its range needs
// repair, reads are wasted, and no key is denied (guard_core.hpp). Models guarded_store; any number
// of threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "genista/guard/guarded.hpp"
#include "genista/remote/slots.hpp"

namespace genista {

template <guarded_store Store, slot_map Slots>
class slotted_store {
  public:
    using remote_type = with_slots<remote_of<Store>, Slots>;

    // REQUIRES: both outlive this object.
    slotted_store(Store& store, Slots& slots) noexcept
        : store_{&store}, slots_{&slots}, remote_{store.remote(), slots} {}
    // Takes ownership of both.
    slotted_store(std::unique_ptr<Store> store, std::unique_ptr<Slots> slots) noexcept : slotted_store{*store, *slots} {
        owned_slots_ = std::move(slots);
        owned_store_ = std::move(store);
    }
    slotted_store(const slotted_store&) = delete;  // filters keep references to remote()
    slotted_store& operator=(const slotted_store&) = delete;

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
    [[nodiscard]] Slots& slots() noexcept { return *slots_; }

  private:
    std::unique_ptr<Store> owned_store_;
    std::unique_ptr<Slots> owned_slots_;
    Store* store_;
    Slots* slots_;
    remote_type remote_;
};

}  // namespace genista
