// R in memory for each kind of filter of the lab, with its reads counted.
#pragma once

#include <cstdint>

#include "genista/remote/indexed.hpp"
#include "genista/remote/memory_map.hpp"
#include "lab/workloads/flat_index.hpp"
#include "support/remote/counting_map.hpp"

namespace genista::lab {

// Keys in the order of their digests: the broom filter. A range is one read.
class records_in_memory {
  public:
    // A memory map whose range reads fail while `broken` is set.
    class breakable_map {
      public:
        bool broken = false;

        result<bool> put(const digest& where, key_view key) { return store_.put(where, key); }
        result<bool> erase(const digest& where, key_view key) { return store_.erase(where, key); }
        result<bool> contains(const digest& where, key_view key) { return store_.contains(where, key); }
        template <record_visitor Visit>
        result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
            if (broken) return error::make(error_code::io, "range reads fail");
            return store_.for_each(first, last, visit);
        }
        [[nodiscard]] memory_map& inside() noexcept { return store_; }

      private:
        memory_map store_;
    };

    static constexpr bool has_part_of_filter = false;  // a loaded filter can continue with it
    [[nodiscard]] counting_map<breakable_map>& map() noexcept { return counted_; }
    [[nodiscard]] memory_map& uncounted() noexcept { return store_.inside(); }
    [[nodiscard]] std::uint64_t reads() const noexcept { return counted_.counts().range_reads; }
    void break_ranges(bool broken) noexcept { store_.broken = broken; }

  private:
    breakable_map store_;
    counting_map<breakable_map> counted_{store_};
};

// The key of each slot beside them: the cuckoo family. Each slot is a read.
class slots_in_memory {
  public:
    static constexpr bool has_part_of_filter = true;
    [[nodiscard]] with_index<memory_map, flat_index>& map() noexcept { return both_; }
    [[nodiscard]] std::uint64_t reads() const noexcept { return index_.reads(); }

  private:
    memory_map store_;
    flat_index index_;
    with_index<memory_map, flat_index> both_{store_, index_};
};

// An index beside them: the filters of the two broom papers. A range of either is one read.
class index_in_memory {
  public:
    static constexpr bool has_part_of_filter = true;
    using counted_map = counting_map<memory_map>;
    [[nodiscard]] with_index<counted_map, counted_map>& map() noexcept { return both_; }
    [[nodiscard]] with_index<memory_map, memory_map>& uncounted() noexcept { return bare_; }
    [[nodiscard]] const counted_map& records() const noexcept { return records_; }
    [[nodiscard]] const counted_map& index() const noexcept { return index_; }
    [[nodiscard]] std::uint64_t reads() const noexcept {
        return records_.counts().range_reads + index_.counts().range_reads;
    }

  private:
    memory_map store_, index_store_;
    counted_map records_{store_}, index_{index_store_};
    with_index<counted_map, counted_map> both_{records_, index_};
    with_index<memory_map, memory_map> bare_{store_, index_store_};
};

}  // namespace genista::lab
