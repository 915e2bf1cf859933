// writers_lock: held by many writers at a time, or by one thread that needs a moment without
// writers: to delete a piece of a range, to ingest files, to read the sequence number for a
// snapshot of the filter.
//
// A writer holds it from before its commit until the filter has all of its keys
// (base/turnstile.hpp).
#pragma once

#include "genista/detail/base/turnstile.hpp"

namespace genista::rocks {

using writers_lock = turnstile;

}  // namespace genista::rocks
