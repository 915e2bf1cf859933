// What the filters of the lab learn from: R in memory, as each kind of filter asks for it, with what it was asked counted.
#pragma once

#include <cstdint>

#include "genista/remote/counting_map.hpp"
#include "genista/remote/memory_map.hpp"
#include "lab/workloads/flat_slots.hpp"

namespace genista::lab {

// Keys in the order of their digests: the broom filter. A range is one read.
class records_in_memory {
  public:
    [[nodiscard]] counting_map<memory_map>& map() noexcept { return counted_; }
    [[nodiscard]] std::uint64_t reads() const noexcept { return counted_.counts().range_reads; }

  private:
    memory_map store_;
    counting_map<memory_map> counted_{store_};
};

// Slots beside them: the cuckoo family. Each slot is a read.
class slots_in_memory {
  public:
    [[nodiscard]] with_slots<memory_map, flat_slots>& map() noexcept { return both_; }
    [[nodiscard]] std::uint64_t reads() const noexcept { return slots_.reads(); }

  private:
    memory_map store_;
    flat_slots slots_;
    with_slots<memory_map, flat_slots> both_{store_, slots_};
};

}  // namespace genista::lab
