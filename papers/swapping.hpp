// swapping_filter: the Swapping ACF [acf §2.5]. A fingerprint depends on the slot it lies in; a
// mistake moves the key that caused it to another slot of its bin, chosen at random, and what lies
// there takes its place. A key that collides in all slots of the bin can never be repaired for good
// [acf §3, Thm 10].
#pragma once

#include "genista/detail/filters/cuckoo/family.hpp"

namespace genista {

using swapping_filter = cuckoo_family_filter<cuckoo::swapping_rule>;

}  // namespace genista
