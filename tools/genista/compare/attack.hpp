// The replay attack: an adversary asks new absent keys, sees by the time an answer takes which of
// them cost a read, keeps those, and asks them again and again. Of a filter that does not learn
// every one costs a read every time.
//
// It knows what a client can know: which questions were slow. Each filter gets its own adversary
// with the same questions.
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

// `stored`: what the adversary's keys must not be in.
[[nodiscard]] result<pool> find_pool(contender& victim, const key_table& stored, const request& asked,
                                     const tick& tell);

// The pool, over and over, `queries` in all.
[[nodiscard]] std::vector<key_number> replay_of(const pool& found, std::uint64_t queries);

}  // namespace genista::tool::compare
