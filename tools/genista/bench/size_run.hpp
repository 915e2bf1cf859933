// One size of a run: filters are made, filled, churned, queried and timed. The command runs one
// size after another.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "bench/report.hpp"
#include "bench/rounds.hpp"
#include "filters.hpp"

namespace genista::tool::bench {

// Filters under test and, with churn, a churned one for each that can erase.
struct contestants {
    subjects under_test;
    subjects churned;
};

// Makes them, empty. An error names the memory that this machine lacks.
[[nodiscard]] result<contestants> make_contestants(const plan& what, std::span<const filter_entry* const> filters);

// Measures one size. Stops at the first fault of a filter, which the caller finds in the figures;
// an error is not the filter's fault. `tick` gets the share that is done, and of what.
[[nodiscard]] result<size_report> measure(const plan& what, std::span<const filter_entry* const> filters,
                                          const std::function<void(double, std::string)>& tick);

[[nodiscard]] std::optional<std::string> first_fault(const size_report& size);

}  // namespace genista::tool::bench
