// our_workload: the operations that experiments are made of (broom_workload.hpp), for our own broom
// filter.
#pragma once

#include "genista/filters/broom.hpp"
#include "lab/workloads/broom_workload.hpp"

namespace genista::lab {

using our_workload = broom_workload<broom_filter>;

}  // namespace genista::lab
