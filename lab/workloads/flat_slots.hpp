// flat_slots: the slots of R for experiments and the bench, whose keys have eight bytes: arrays in
// RAM, as fast as slots can be.
//
//     stretch   2^40 slots with numbers that begin alike; the cuckoo family uses one for each
//               generation (slot_source.hpp)
//     keys      8 bytes a slot, up to the highest that was ever used        used   a bit a slot
//
// REQUIRES: one thread at a time. A filter of the cuckoo family uses its slots under its own lock.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <span>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/remote/slots.hpp"

namespace genista::lab {

class flat_slots {
  public:
    template <slot_reader Take>
    result<bool> read_slot(std::uint64_t slot, Take&& take) {
        ++reads_;
        const auto at = stretches_.find(slot >> stretch_bits);
        if (at == stretches_.end() || !at->second.is_used(within(slot))) return false;
        take(at->second.view(within(slot)));
        return true;
    }

    result<void> write_slots(std::span<const slot_change> changes) try {
        for (const slot_change& each : changes) {  // first what may fail
            if (!each.key) continue;
            if (each.key->size != sizeof(key_bytes)) {
                return error::make(error_code::invalid_argument, "flat_slots: a key of %zu bytes, all have 8",
                                   each.key->size);
            }
            stretches_[each.slot >> stretch_bits].grow(within(each.slot) + 1);
        }
        for (const slot_change& each : changes) {
            const auto at = stretches_.find(each.slot >> stretch_bits);
            if (at != stretches_.end()) at->second.set(within(each.slot), each.key);
        }
        return {};
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "flat_slots: no memory for %zu changes", changes.size());
    }

    // Both ends inclusive, as in slots.hpp.
    template <slot_visitor Visit>
    result<void> for_each_slot(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        if (first > last) return {};
        for (auto at = stretches_.lower_bound(first >> stretch_bits);
             at != stretches_.end() && at->first <= last >> stretch_bits; ++at) {
            const auto [begin, end] = part_of(at->first, at->second.keys.size(), first, last);
            for (std::uint64_t i = begin; i < end; ++i) {
                if (!at->second.is_used(i)) continue;
                if (!visit(at->first << stretch_bits | i, at->second.view(i))) return {};
            }
        }
        return {};
    }

    // A stretch that is cleared to its end frees its memory.
    result<void> clear_slots(std::uint64_t first, std::uint64_t last) {
        if (first > last) return {};
        for (auto at = stretches_.lower_bound(first >> stretch_bits);
             at != stretches_.end() && at->first <= last >> stretch_bits;) {
            const std::uint64_t size = at->second.keys.size();
            const auto [begin, end] = part_of(at->first, size, first, last);
            for (std::uint64_t i = begin; i < end; ++i) at->second.set(i, std::nullopt);
            at = begin == 0 && end == size ? stretches_.erase(at) : std::next(at);
        }
        return {};
    }

    [[nodiscard]] std::uint64_t reads() const noexcept {
        return reads_;
    }  // of slots so far, each a remote read elsewhere

  private:
    using key_bytes = std::array<std::byte, 8>;
    static constexpr unsigned stretch_bits = 40;
    [[nodiscard]] static std::uint64_t within(std::uint64_t slot) noexcept {
        return slot & ((std::uint64_t{1} << stretch_bits) - 1);
    }

    struct stretch {
        std::vector<key_bytes> keys;
        std::vector<bool> used;

        void grow(std::uint64_t slots) {
            if (slots <= keys.size()) return;
            keys.resize(static_cast<std::size_t>(slots));
            used.resize(static_cast<std::size_t>(slots));
        }
        [[nodiscard]] bool is_used(std::uint64_t i) const noexcept { return i < used.size() && used[i]; }
        [[nodiscard]] key_view view(std::uint64_t i) const noexcept { return key_view{keys[i].data(), keys[i].size()}; }
        void set(std::uint64_t i, const std::optional<key_view>& key) noexcept {
            if (i >= used.size()) return;
            used[i] = key.has_value();
            if (key) std::memcpy(keys[i].data(), key->data, sizeof(key_bytes));
        }
    };

    // The part of a stretch with this many slots that lies between first and last.
    [[nodiscard]] static std::pair<std::uint64_t, std::uint64_t> part_of(std::uint64_t number, std::uint64_t size,
                                                                         std::uint64_t first,
                                                                         std::uint64_t last) noexcept {
        const std::uint64_t begin = number == first >> stretch_bits ? within(first) : 0;
        const std::uint64_t end = number == last >> stretch_bits ? std::min(size, within(last) + 1) : size;
        return {begin, end};
    }

    std::map<std::uint64_t, stretch> stretches_;
    std::uint64_t reads_ = 0;
};

static_assert(slot_map<flat_slots>);

}  // namespace genista::lab
