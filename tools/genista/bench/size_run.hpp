// One size of a run: filters made, filled, aged, asked and timed. The command strings sizes
// together.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "bench/report.hpp"
#include "bench/rounds.hpp"
#include "filters.hpp"

namespace genista::tool::bench {

// Filters under test and, with churn, a twin of each that can erase.
struct contestants {
    subjects under_test;
    subjects twins;
};

// Makes them, empty. An error names what this machine has not the memory for.
[[nodiscard]] result<contestants> make_contestants(const plan& what, std::span<const filter_entry* const> filters);

// Measures one size. Stops at the first fault of a filter, which the caller finds in the figures;
// an error is the world's. `tick` gets the share that is done, and of what.
[[nodiscard]] result<size_report> measure(const plan& what, std::span<const filter_entry* const> filters,
                                          const std::function<void(double, std::string)>& tick);

[[nodiscard]] std::optional<std::string> first_fault(const size_report& size);

}  // namespace genista::tool::bench
