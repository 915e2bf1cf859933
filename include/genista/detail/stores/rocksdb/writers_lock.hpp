// writers_lock: many writers, or one thread that needs that nobody writes: a piece of a range to
// delete, files to take in, the moment in which a snapshot of the filter notes how far the store
// has come.
//
// A writer is inside from before its commit until the filter has all of it (base/turnstile.hpp).
#pragma once

#include "genista/detail/base/turnstile.hpp"

namespace genista::rocks {

using writers_lock = turnstile;

}  // namespace genista::rocks
