// run_phase: the contenders answer their queries in turns, slice by slice, so that a busy machine
// slows all of them alike.
//
// Each has a database and a cache of its own, warmed by its own queries only. Every answer is
// checked against the exact set. The time of a query is that from the previous answer to its own.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "compare/contender.hpp"
#include "compare/figures.hpp"
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

}  // namespace genista::tool::compare
