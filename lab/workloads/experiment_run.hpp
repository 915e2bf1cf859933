// run_experiment: how an experiment begins and how it fails.
//
// Workloads throw where R, memory or a filter refuse what they must not refuse, so that a
// measurement reads as a measurement. Here such a refusal becomes the error that `genista lab run`
// reports.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "genista/base/result.hpp"
#include "lab/experiment.hpp"

namespace genista::lab {

// An error after which no experiment can continue: a store error, a full filter.
class workload_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <class T>
T must(result<T> got) {
    if (!got) throw workload_error{std::string{got.error().message()}};
    return *std::move(got);
}

inline void must(const result<void>& got) {
    if (!got) throw workload_error{std::string{got.error().message()}};
}

template <class Body>
[[nodiscard]] result<outcome> run_experiment(std::string_view id, const run_options& options, Body body) {
    try {
        options.progress(0);
        outcome made = body();
        options.progress(1);
        return made;
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "%.*s: no memory for its filter and keys",
                           static_cast<int>(id.size()), id.data());
    } catch (const std::runtime_error& failure) {  // workload_error, or an arena's
        return error::make(error_code::io, "%s", failure.what());
    }
}

// A number as text: %g with this many digits.
[[nodiscard]] std::string shown(double value, int digits = 4);

// ε as text: 2^-8, or 2 %.
[[nodiscard]] std::string shown_rate(double rate);

}  // namespace genista::lab
