// flat_slots: a slot map of 64-bit integer keys, one array a generation of slots: as fast as R can be. For experiments with millions
// of repairs, by one thread.
//
// Counts the slots read, each of which would be a remote read.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "genista/remote/slots.hpp"

namespace genista::lab {

class flat_slots {
  public:
    template <slot_reader Take>
    result<bool> read_slot(std::uint64_t slot, Take&& take) {
        ++reads_;
        const std::optional<std::uint64_t>* const held = find(slot);
        if (held == nullptr || !*held) return false;
        take(integer_key{**held}.view());
        return true;
    }

    result<void> write_slots(std::span<const slot_change> changes) {
        for (const slot_change& each : changes) {
            std::vector<std::optional<std::uint64_t>>& in = generations_[each.slot >> number_bits];
            const std::uint64_t index = each.slot & low_bits;
            if (index >= in.size()) in.resize(index + 1 + in.size() / 2);
            in[index] = each.key ? std::optional{integer_of(*each.key)} : std::nullopt;
        }
        return {};
    }

    template <slot_visitor Visit>
    result<void> for_each_slot(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        for (std::uint64_t slot = first; slot <= last; ++slot) {
            const std::optional<std::uint64_t>* const held = find(slot);
            if (held == nullptr || !*held) continue;
            if (!visit(slot, integer_key{**held}.view())) return {};
        }
        return {};
    }

    // Whole generations, which is how filters ask for it.
    result<void> clear_slots(std::uint64_t first, std::uint64_t last) {
        generations_.erase(generations_.lower_bound(first >> number_bits),
                           generations_.upper_bound(last >> number_bits));
        return {};
    }

    [[nodiscard]] std::uint64_t reads() const noexcept { return reads_; }

  private:
    static constexpr unsigned number_bits = 40;
    static constexpr std::uint64_t low_bits = (std::uint64_t{1} << number_bits) - 1;

    [[nodiscard]] const std::optional<std::uint64_t>* find(std::uint64_t slot) const {
        const auto in = generations_.find(slot >> number_bits);
        if (in == generations_.end() || (slot & low_bits) >= in->second.size()) return nullptr;
        return &in->second[slot & low_bits];
    }
    static std::uint64_t integer_of(key_view key) noexcept {
        std::uint64_t little = 0;
        std::memcpy(&little, key.data, sizeof little);
        return integer_key{little}.little;
    }

    std::map<std::uint64_t, std::vector<std::optional<std::uint64_t>>> generations_;
    std::uint64_t reads_ = 0;
};

static_assert(slot_map<flat_slots>);

}  // namespace genista::lab
