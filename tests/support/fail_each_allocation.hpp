// Includes fail_each_allocation (failing_allocations.hpp) and the operators new and delete that it
// needs. To be included in ONE test file of an executable.
#pragma once

#include "tests/support/failing_allocations.hpp"
#include "tests/support/failing_allocator.hpp"
