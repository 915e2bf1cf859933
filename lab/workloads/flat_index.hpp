// flat_index: the index of a filter of the cuckoo family, for experiments and the bench, whose keys
// have eight bytes: arrays in RAM, as fast as an index can be.
//
//     stretch   2^40 places with numbers that begin alike; the cuckoo family uses one for each
//               generation (detail/filters/cuckoo/family.hpp)
//     keys      8 bytes a place, up to the highest that was ever used       used   a bit a place
//
// REQUIRES: places {number, 0}, one key at each at a time (a put replaces another key), and one
// thread at a time. A filter of the cuckoo family uses its index so, under its own lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/remote/remote.hpp"

namespace genista::lab {

class flat_index {
  public:
    result<bool> put(const digest& where, key_view key) {
        const bool is_new = !holds(where, key);
        const record_change change{where, key, true};
        if (const auto done = apply({&change, 1}); !done) return done.error();
        return is_new;
    }
    result<bool> erase(const digest& where, key_view key) {
        stretch* const in = stretch_of(where);
        if (in == nullptr || !in->holds(where, key)) return false;
        in->used[within(where.position)] = false;
        return true;
    }
    result<bool> contains(const digest& where, key_view key) { return holds(where, key); }

    result<void> apply(std::span<const record_change> changes) try {
        for (const record_change& each : changes) {  // first what may fail
            if (!each.present) continue;
            if (each.where.seed != 0 || each.key.size != sizeof(key_bytes)) {
                return error::make(error_code::invalid_argument,
                                   "flat_index: a key of %zu bytes at a place with seed %llu; all have 8, and seed 0",
                                   each.key.size, static_cast<unsigned long long>(each.where.seed));
            }
            stretches_[each.where.position >> stretch_bits].grow(within(each.where.position) + 1);
        }
        for (const record_change& each : changes) {
            stretch* const in = stretch_of(each.where);
            if (in != nullptr && each.present)
                in->set(within(each.where.position), each.key);
            else if (!each.present)
                static_cast<void>(erase(each.where, each.key));
        }
        return {};
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "flat_index: no memory for %zu changes", changes.size());
    }

    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        if (first == last) ++reads_;
        if (first > last) return {};
        for (auto at = stretches_.lower_bound(first >> stretch_bits);
             at != stretches_.end() && at->first <= last >> stretch_bits; ++at) {
            const auto [begin, end] = part_of(at->first, at->second.keys.size(), first, last);
            for (std::uint64_t i = begin; i < end; ++i) {
                if (!at->second.is_used(i)) continue;
                if (!visit(digest{at->first << stretch_bits | i, 0}, at->second.view(i))) return {};
            }
        }
        return {};
    }

    // A stretch that is erased to its end frees its memory.
    result<void> erase_range(std::uint64_t first, std::uint64_t last) {
        if (first > last) return {};
        for (auto at = stretches_.lower_bound(first >> stretch_bits);
             at != stretches_.end() && at->first <= last >> stretch_bits;) {
            const std::uint64_t size = at->second.keys.size();
            const auto [begin, end] = part_of(at->first, size, first, last);
            for (std::uint64_t i = begin; i < end; ++i) at->second.used[i] = false;
            at = begin == 0 && end == size ? stretches_.erase(at) : std::next(at);
        }
        return {};
    }

    // Of single places so far, each a remote read elsewhere.
    [[nodiscard]] std::uint64_t reads() const noexcept { return reads_; }

  private:
    using key_bytes = std::array<std::byte, 8>;
    static constexpr unsigned stretch_bits = 40;
    [[nodiscard]] static std::uint64_t within(std::uint64_t place) noexcept {
        return place & ((std::uint64_t{1} << stretch_bits) - 1);
    }

    struct stretch {
        std::vector<key_bytes> keys;
        std::vector<bool> used;

        void grow(std::uint64_t places) {
            if (places <= keys.size()) return;
            used.resize(static_cast<std::size_t>(places));
            keys.resize(static_cast<std::size_t>(places));  // last, because its size says what there is
        }
        [[nodiscard]] bool is_used(std::uint64_t i) const noexcept { return i < used.size() && used[i]; }
        [[nodiscard]] key_view view(std::uint64_t i) const noexcept { return key_view{keys[i].data(), keys[i].size()}; }
        // REQUIRES: i is below the size.
        void set(std::uint64_t i, key_view key) noexcept {
            used[i] = true;
            std::memcpy(keys[i].data(), key.data, sizeof(key_bytes));
        }
        [[nodiscard]] bool holds(const digest& where, key_view key) const noexcept {
            const std::uint64_t i = within(where.position);
            return where.seed == 0 && is_used(i) && view(i).text() == key.text();
        }
    };

    [[nodiscard]] stretch* stretch_of(const digest& where) noexcept {
        const auto at = stretches_.find(where.position >> stretch_bits);
        return at == stretches_.end() ? nullptr : &at->second;
    }
    [[nodiscard]] bool holds(const digest& where, key_view key) noexcept {
        const stretch* const in = stretch_of(where);
        return in != nullptr && in->holds(where, key);
    }

    // The part of a stretch with this many places that lies between first and last.
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

static_assert(batched_map<flat_index>);

}  // namespace genista::lab
