// swapping_filter: the Swapping ACF [acf §2.5]. A fingerprint depends on its slot; a false positive
// moves its key to another slot of its bin, chosen at random, and the key there takes its place. A
// key that collides in all slots of the bin can never be repaired for good [acf §3, Thm 10].
//
// It has no snapshots. Its locks are those of the common core, and are tested with
// cuckooing_filter alone.
#pragma once

#include "genista/detail/filters/cuckoo/family.hpp"

namespace genista {

using swapping_filter = cuckoo_family_filter<cuckoo::swapping_rule>;

}  // namespace genista
