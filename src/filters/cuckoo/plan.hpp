// plan: the changes to slots that an operation is going to make. Planning changes nothing;
// core::commit carries the plan out.
//
// It keeps every slot that was read, so that no key is read twice, and shows each slot as it will
// be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "genista/hash/key.hpp"

namespace genista::cuckoo {

struct element {
    digest where;
    std::string key;

    friend bool operator==(const element&, const element&) = default;
};

struct planned_slot {
    std::uint64_t slot;
    std::optional<element> before;
    std::optional<element> after;
};

class plan {
  public:
    [[nodiscard]] planned_slot* find(std::uint64_t slot) noexcept {
        const auto at =
            std::find_if(slots_.begin(), slots_.end(), [&](const planned_slot& s) { return s.slot == slot; });
        return at == slots_.end() ? nullptr : &*at;
    }
    // Adds a slot as it is now. Invalidates pointers to others.
    planned_slot& add(std::uint64_t slot, const std::optional<element>& held) {
        return slots_.emplace_back(planned_slot{slot, held, held});
    }
    [[nodiscard]] const std::vector<planned_slot>& slots() const noexcept { return slots_; }

  private:
    std::vector<planned_slot> slots_;
};

}  // namespace genista::cuckoo
