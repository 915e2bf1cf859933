// cuckoo_arena: a filter of the cuckoo family with its R in memory.
#pragma once

#include "genista/detail/filters/cuckoo/family.hpp"
#include "lab/games/learning_arena.hpp"
#include "lab/games/remotes.hpp"

namespace genista::lab {

template <class Filter>
using cuckoo_arena = learning_arena<Filter, slots_in_memory>;

}  // namespace genista::lab
