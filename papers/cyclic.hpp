// cyclic_filter<s>: the Cyclic ACF [acf §2.4]. Each slot has s selector bits that choose among 2^s
// fingerprints of its key; a false positive chooses the next. Repairs are cheap (one read of R, no
// write), and 2^s of them use up all fingerprints: a key that collides under every selector can
// never be repaired [acf §3, Thm 9].
//
// It has no snapshots. Its locks are those of the common core, and are tested with
// cuckooing_filter alone.
#pragma once

#include "genista/detail/filters/cuckoo/family.hpp"

namespace genista {

template <unsigned SelectorBits>
using cyclic_filter = cuckoo_family_filter<cuckoo::cyclic_rule<SelectorBits>>;

}  // namespace genista
