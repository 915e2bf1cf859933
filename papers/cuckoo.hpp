// cuckoo_filter: a cuckoo filter with full hash functions [acf §2.2]. It learns nothing: the
// control beside the filters of its family that do, at the same bits and the same look-up. Who
// needs no R takes cuckoo_partial.hpp.
#pragma once

#include "genista/detail/filters/cuckoo/family.hpp"

namespace genista {

using cuckoo_filter = cuckoo_family_filter<cuckoo::plain_rule>;

}  // namespace genista
