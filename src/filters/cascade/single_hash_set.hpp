// single_hash_set: what the cascade requires of the filter below it [broom17 §5]: "single-hash
// non-adaptive AMQs that represent S by storing h(S) losslessly".
//
// Such a filter is a set of hash values. The "grey box" part, the one additional requirement, is a
// mark: a value may be *dead*, and then stays so. Any structure with these operations will do: the
// library has one over a quotient table (quotient_set.hpp), the tests another over std::map.
//
//     absent ──insert──▶ stored ──kill──▶ dead
//        ▲                 │
//        └──────erase──────┘
#pragma once

#include <concepts>
#include <cstdint>

#include "filters/cascade/design.hpp"
#include "genista/base/result.hpp"

namespace genista::cascade {

enum class value_state : unsigned char { absent, stored, dead };

// Values are those below plan.values(). `insert` takes an absent value and `kill` a stored one;
// both may find no room and then return false, or throw std::bad_alloc, and have changed nothing.
// `erase` undoes an insert completely.
template <class Set>
concept single_hash_set = std::movable<Set> &&
    requires(Set& set, const Set& seen, std::uint64_t value, const level_plan& plan) {
    { Set::make(plan) } -> std::same_as<result<Set>>;
    { seen.look(value) }
    noexcept->std::same_as<value_state>;
    { set.insert(value) } -> std::same_as<bool>;
    { set.kill(value) } -> std::same_as<bool>;
    { set.erase(value) }
    noexcept;
    { seen.stored() }
    noexcept->std::same_as<std::uint64_t>;
    { seen.dead() }
    noexcept->std::same_as<std::uint64_t>;
    { seen.allocated_bytes() }
    noexcept->std::same_as<std::uint64_t>;
};

}  // namespace genista::cascade
