// slot_source: the calls that the cuckoo family makes to R, without R's type, so that the filters
// are compiled once; and remote_slots, which makes one from any slotted map. What R throws is the
// error of a failed call (detail/base/caught.hpp).
//
// The filter renumbers its slots whenever it chooses new hash functions, so that the old records
// stay whole until the new ones are complete: a slot in R is generation · 2^40 + slot in the table.
#pragma once

#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <string>

#include "genista/detail/base/caught.hpp"
#include "genista/remote/slots.hpp"

namespace genista::cuckoo {

// Called for each record; false stops. They do not throw. Records are not checked here but in
// core.hpp.
using take_slot = std::function<bool(std::uint64_t slot, key_view key)>;
using take_member = std::function<bool(const digest& where, key_view key)>;

class slot_source {
  public:
    // The key in this slot; false if R has none.
    virtual result<bool> read(std::uint64_t slot, std::string& key) = 0;
    virtual result<void> write(std::span<const slot_change> changes) = 0;
    virtual result<void> each_in_slots(std::uint64_t first, std::uint64_t last, const take_slot& take) = 0;
    virtual result<void> clear(std::uint64_t first, std::uint64_t last) = 0;

    // The other half of R: the records, which say what keys are stored.
    virtual result<bool> is_member(const digest& where, key_view key) = 0;
    virtual result<bool> remove_member(const digest& where, key_view key) = 0;
    virtual result<void> each_member(position_range range, const take_member& take) = 0;

  protected:
    ~slot_source() = default;
};

template <slotted_map R>
class remote_slots final : public slot_source {
  public:
    explicit remote_slots(R& remote) noexcept : remote_{remote} {}

    result<bool> read(std::uint64_t slot, std::string& key) override {
        bool starved = false;
        const auto take = [&](key_view stored) noexcept {
            try {
                key.assign(stored.text());
            } catch (const std::bad_alloc&) {
                starved = true;
            }
        };
        const auto found = remote_detail::caught([&]() -> result<bool> { return remote_.read_slot(slot, take); });
        if (starved) return error::make(error_code::out_of_memory, "no memory for a key of the remote map");
        return found;
    }
    result<void> write(std::span<const slot_change> changes) override {
        return remote_detail::caught([&]() -> result<void> { return remote_.write_slots(changes); });
    }
    result<void> each_in_slots(std::uint64_t first, std::uint64_t last, const take_slot& take) override {
        return remote_detail::caught([&]() -> result<void> {
            return remote_.for_each_slot(first, last,
                                         [&](std::uint64_t slot, key_view key) { return take(slot, key); });
        });
    }
    result<void> clear(std::uint64_t first, std::uint64_t last) override {
        return remote_detail::caught([&]() -> result<void> { return remote_.clear_slots(first, last); });
    }

    result<bool> is_member(const digest& where, key_view key) override {
        return remote_detail::caught([&]() -> result<bool> { return remote_.contains(where, key); });
    }
    result<bool> remove_member(const digest& where, key_view key) override {
        return remote_detail::caught([&]() -> result<bool> { return remote_.erase(where, key); });
    }
    result<void> each_member(position_range range, const take_member& take) override {
        return remote_detail::caught([&]() -> result<void> {
            return remote_.for_each(range.first, range.last,
                                    [&](const digest& where, key_view key) { return take(where, key); });
        });
    }

  private:
    R& remote_;
};

}  // namespace genista::cuckoo
