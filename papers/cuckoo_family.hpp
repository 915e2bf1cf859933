// The cuckoo filters that are only here to be compared with cuckooing_filter: plain, cyclic and
// swapping. They have full hash functions [acf §2.2], and the common core
// (genista/detail/filters/cuckoo/family.hpp).
//
// They have no snapshots. Their locks are those of the core, and are tested with cuckooing_filter
// alone.
#pragma once

#include "genista/detail/filters/cuckoo/family.hpp"

namespace genista {

// Does not adapt: the control beside the adaptive filters of its family, with the same bits and the
// same look-up. Without R, use cuckoo_partial.hpp.
using cuckoo_filter = cuckoo_family_filter<cuckoo::plain_rule>;

// The Cyclic ACF [acf §2.4]. Each slot has s selector bits that choose among 2^s fingerprints of
// its key; a false positive chooses the next. Repairs are cheap (one read of R, no write), and 2^s
// of them use up all fingerprints: a key that collides under every selector can never be repaired
// [acf §3, Thm 9].
template <unsigned SelectorBits>
using cyclic_filter = cuckoo_family_filter<cuckoo::cyclic_rule<SelectorBits>>;

// The Swapping ACF [acf §2.5]. A fingerprint depends on its slot; a false positive moves its key to
// another slot of its bin, chosen at random, and the key there takes its place. A key that collides
// in all slots of the bin can never be repaired for good [acf §3, Thm 10].
using swapping_filter = cuckoo_family_filter<cuckoo::swapping_rule>;

}  // namespace genista
