// cuckoo_filter: a cuckoo filter with full hash functions [acf §2.2]. It does not adapt: the
// control beside the adaptive filters of its family, with the same bits and the same look-up.
// Without R, use cuckoo_partial.hpp.
//
// It has no snapshots. Its locks are those of the common core, and are tested with
// cuckooing_filter alone.
#pragma once

#include "genista/detail/filters/cuckoo/family.hpp"

namespace genista {

using cuckoo_filter = cuckoo_family_filter<cuckoo::plain_rule>;

}  // namespace genista
