// R for a subject of the bench: the records of a run in a flat_map, with an index beside them if
// the filter needs one, all on R's clock.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "bench/clocked_map.hpp"
#include "bench/flat_map.hpp"
#include "genista/filters/filter.hpp"
#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "lab/workloads/flat_index.hpp"

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

// The index of the cuckoo family.
class slotted_remote {
  public:
    using timed_index = clocked_map<lab::flat_index, single_places::are_slots>;

    explicit slotted_remote(const std::shared_ptr<const flat_records>& all)
        : store_{all}, records_{store_}, timed_index_{index_}, remote_{records_, timed_index_} {}
    slotted_remote(const slotted_remote&) = delete;
    slotted_remote& operator=(const slotted_remote&) = delete;

    [[nodiscard]] flat_map& store() noexcept { return store_; }
    [[nodiscard]] auto& remote() noexcept { return remote_; }
    [[nodiscard]] const remote_clock& clock() const noexcept { return records_.clock(); }

  private:
    flat_map store_;
    clocked_map<flat_map> records_;
    lab::flat_index index_;
    timed_index timed_index_;
    with_index<clocked_map<flat_map>, timed_index> remote_;
};

// The contents of the index are not known beforehand: a tree.
class indexed_remote {
  public:
    using both = with_index<clocked_map<flat_map>, clocked_map<memory_map>>;

    explicit indexed_remote(const std::shared_ptr<const flat_records>& all)
        : store_{all}, records_{store_}, timed_index_{index_.emplace()}, remote_{records_, timed_index_} {}
    indexed_remote(const indexed_remote&) = delete;
    indexed_remote& operator=(const indexed_remote&) = delete;
    ~indexed_remote() = default;

    [[nodiscard]] flat_map& store() noexcept { return store_; }
    [[nodiscard]] both& remote() noexcept { return remote_; }
    [[nodiscard]] const remote_clock& clock() const noexcept { return records_.clock(); }
    void clear_index() noexcept { index_.emplace(); }  // at the same place

  private:
    flat_map store_;
    clocked_map<flat_map> records_;
    std::optional<memory_map> index_;
    clocked_map<memory_map> timed_index_;
    both remote_;
};

// Required by adapt only: not every filter that learns can erase.
template <class Filter, class R>
concept adapts_over = requires(Filter& filter, std::uint64_t key, R& remote) {
    { filter.adapt(key, remote) } -> std::same_as<result<adapt_outcome>>;
};
// An index of single records, or one in batches. (The records of a flat_map take none.)
template <class Filter>
inline constexpr bool needs_index = adapts_over<Filter, with_index<clocked_map<flat_map>, clocked_map<flat_map>>> &&
                                    !adapts_over<Filter, clocked_map<flat_map>>;
template <class Filter>
inline constexpr bool needs_slots = !needs_index<Filter> && !adapts_over<Filter, clocked_map<flat_map>>;

template <class Filter>
using remote_for = std::conditional_t<needs_index<Filter>, indexed_remote,
                                      std::conditional_t<needs_slots<Filter>, slotted_remote, records_remote>>;

}  // namespace genista::tool::bench
