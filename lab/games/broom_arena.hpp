// broom_arena: a broom filter with its R in memory. Includes the filter's header, so that a file
// compiled with GENISTA_BROOM_FAULTS gets an arena of the variant whose rules can be switched off.
#pragma once

#include "genista/filters/broom.hpp"
#include "lab/games/learning_arena.hpp"
#include "lab/games/remotes.hpp"

namespace genista::lab {

// Filter is genista::broom_filter of the variant in force: a template parameter, so that arenas of
// two variants differ.
template <class Filter>
using broom_arena = learning_arena<Filter, records_in_memory>;

}  // namespace genista::lab
