// index_arena: a filter of the two broom papers, with records and index in memory.
#pragma once

#include "lab/games/learning_arena.hpp"
#include "lab/games/remotes.hpp"

namespace genista::lab {

template <class Filter>
using index_arena = learning_arena<Filter, index_in_memory>;

}  // namespace genista::lab
