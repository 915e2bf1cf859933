// run_phase: the contenders answer their queries in turns, slice by slice, so that a busy machine
// slows all of them alike. find_pool: the search of an adversary that comes before the replay
// attack.
//
// Each has a database and a cache of its own, warmed by its own queries only. Every answer is
// checked against the exact set. The time of a query is that from the previous answer to its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "compare/report.hpp"
#include "compare/rows.hpp"
#include "lab/workloads/key_table.hpp"

namespace genista::tool::compare {

using lab::key_number;
using lab::key_table;

// The queries of one contender.
struct stream {
    const key_table* keys = nullptr;
    std::size_t stored = 0;  // numbers below it are stored
    std::span<const key_number> queries;
    bool all_wasted_before = false;  // each absent key of the stream has cost a read before
};

using contenders = std::vector<std::unique_ptr<contender>>;
using tick = std::function<void(double share, std::string_view what)>;

// streams[i] belongs to field[i]; all have the same number of queries or fewer. Bits are
// divided by `stored_keys`.
[[nodiscard]] result<std::vector<figures>> run_phase(const contenders& field, std::span<const stream> streams,
                                                     std::size_t threads, std::uint64_t stored_keys, const tick& tell);

// The same queries to each, uncounted: tables opened, caches no longer empty.
[[nodiscard]] result<void> warm_up(const contenders& field, const stream& queries);

// The replay attack: an adversary queries new absent keys, keeps those that cost a read, which it
// sees by the time of the answer, and queries them again and again. With a filter that does not
// learn each of them costs a read every time.
//
// The adversary sees what a client sees: which queries were slow. Each filter gets its own
// adversary with the same queries.
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
