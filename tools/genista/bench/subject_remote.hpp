// R as a subject of the bench sees it: the records of a run in a flat_map, with slots beside them where the filter asks for such,
// and all of it on R's clock.
#pragma once

#include <memory>
#include <type_traits>

#include "bench/clocked_map.hpp"
#include "bench/flat_map.hpp"
#include "genista/filters/filter.hpp"
#include "lab/workloads/flat_slots.hpp"

namespace genista::tool::bench {

class records_remote {
  public:
    explicit records_remote(const std::shared_ptr<const flat_records>& all) : store_{all}, remote_{store_} {}

    [[nodiscard]] flat_map& store() noexcept { return store_; }
    [[nodiscard]] clocked_map<flat_map>& remote() noexcept { return remote_; }
    [[nodiscard]] const remote_clock& clock() const noexcept { return remote_.clock(); }

  private:
    flat_map store_;
    clocked_map<flat_map> remote_;
};

class slotted_remote {
  public:
    explicit slotted_remote(const std::shared_ptr<const flat_records>& all)
        : store_{all}, records_{store_}, timed_slots_{slots_}, remote_{records_, timed_slots_} {}
    slotted_remote(const slotted_remote&) = delete;
    slotted_remote& operator=(const slotted_remote&) = delete;

    [[nodiscard]] flat_map& store() noexcept { return store_; }
    [[nodiscard]] auto& remote() noexcept { return remote_; }
    [[nodiscard]] const remote_clock& clock() const noexcept { return records_.clock(); }

  private:
    flat_map store_;
    clocked_map<flat_map> records_;
    lab::flat_slots slots_;
    clocked_slots<lab::flat_slots> timed_slots_;
    with_slots<clocked_map<flat_map>, clocked_slots<lab::flat_slots>> remote_;
};

template <class Filter>
inline constexpr bool needs_slots = !adaptive_filter<Filter, clocked_map<flat_map>>;

template <class Filter>
using remote_for = std::conditional_t<needs_slots<Filter>, slotted_remote, records_remote>;

}  // namespace genista::tool::bench
