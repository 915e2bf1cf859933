// cuckooing_filter: the Cuckooing ACF [acf §2.3]. A mistake moves the key that caused it to its
// next table, and what lies there further on, as an insert would. No bit is spent on learning.
//
// Proved for 2 tables of one slot a bin, at half load: n queries of |Q| different absent keys,
// fixed beforehand, cost ε|Q| + O(ε²|Q| + log⁴ n) false positives [acf Thm 1]. Against an adversary
// it fails at low load [acf Thm 12].
#pragma once

#include "genista/detail/filters/cuckoo/family.hpp"

namespace genista {

using cuckooing_filter = cuckoo_family_filter<cuckoo::cuckooing_rule>;

}  // namespace genista
