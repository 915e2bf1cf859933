// The replay attack: an adversary queries new absent keys, keeps those that cost a read, which it
// sees by the time of the answer, and queries them again and again. With a filter that does not
// learn each of them costs a read every time.
//
// The adversary sees what a client sees: which queries were slow. Each filter gets its own
// adversary with the same queries.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/contender.hpp"
#include "compare/run_phase.hpp"
#include "lab/workloads/key_table.hpp"

namespace genista::tool::compare {

using lab::key_number;
using lab::key_table;

struct pool {
    key_table keys;  // false positives when they were found
    std::uint64_t asked = 0;
};

// `stored`: the adversary's keys are not in it.
[[nodiscard]] result<pool> find_pool(contender& victim, const key_table& stored, const request& asked,
                                     const tick& tell);

// The pool, over and over, `queries` in all.
[[nodiscard]] std::vector<key_number> replay_of(const pool& found, std::uint64_t queries);

}  // namespace genista::tool::compare
