// insert_surface: inserts of many keys for filters that need no remote map. One vocabulary for all
// of them, as filter_surface has it for the queries.
//
// A filter with kernels hands on its insert_table (kernel_table.hpp): keys are hashed eight at a
// time, and the lines of later ones are prefetched while earlier ones are inserted. Every other
// filter hashes eight at a time and inserts one by one (insert_in_order).
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "genista/filters/filter.hpp"

namespace genista {

// Derived offers insert_many(std::span<const Key>) noexcept -> std::size_t to this class.
template <class Derived>
class insert_surface {
  public:
    // How many keys are in the filter now, counted from the first one: all of them, or those before
    // the first that was refused as `full`. The keys behind that one were not tried.
    std::size_t insert(std::span<const std::uint64_t> keys) noexcept { return self().insert_many(keys); }
    std::size_t insert(std::span<const key_view> keys) noexcept { return self().insert_many(keys); }
    std::size_t insert(std::span<const digest> digests) noexcept { return self().insert_many(digests); }

  protected:
    insert_surface() = default;

  private:
    [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

// insert_many for a filter without kernels: `insert(const digest&)` for each key, in order.
template <class Filter, class Key>
[[nodiscard]] std::size_t insert_in_order(Filter& filter, std::span<const Key> keys) noexcept {
    using outcome = decltype(filter.insert(std::declval<const digest&>()));
    std::array<digest, 64> ready;
    for (std::size_t first = 0; first < keys.size(); first += ready.size()) {
        const auto part = keys.subspan(first, std::min(ready.size(), keys.size() - first));
        if constexpr (std::same_as<Key, std::uint64_t>) filter.hash()(part, std::span{ready});
        for (std::size_t i = 0; i < part.size(); ++i) {
            const digest* here = &ready[i];
            if constexpr (std::same_as<Key, key_view>) ready[i] = filter.hash()(part[i]);
            if constexpr (std::same_as<Key, digest>) here = &part[i];
            if (filter.insert(*here) == outcome::full) return first + i;
        }
    }
    return keys.size();
}

}  // namespace genista
