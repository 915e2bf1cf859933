// run_on_broom: how an experiment about the broom filter begins and how it fails.
//
// Workloads (broom_workload.hpp) throw where R, memory or the filter refuse what they must not refuse, so that a measurement
// reads as a measurement. Here such a refusal becomes the error that `genista lab run` reports.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "genista/base/result.hpp"
#include "lab/experiment.hpp"

namespace genista::lab {

// A workload met something that no experiment can go on from: a store error, a full filter.
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

// The filter these experiments are about may be named, any other is refused.
[[nodiscard]] inline result<void> refuse_other_filters(std::string_view id, const run_options& options) noexcept {
    if (options.filter.empty() || options.filter == "broom") return {};
    return error::make(error_code::invalid_argument, "filter %s: %.*s is about broom and takes no other",
                       options.filter.c_str(), static_cast<int>(id.size()), id.data());
}

template <class Body>
[[nodiscard]] result<outcome> run_on_broom(std::string_view id, const run_options& options, Body body) {
    if (const auto refused = refuse_other_filters(id, options); !refused) return refused.error();
    try {
        options.progress(0);
        outcome made = body();
        options.progress(1);
        return made;
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "%.*s: no memory for its filter and keys",
                           static_cast<int>(id.size()), id.data());
    } catch (const workload_error& failure) {
        return error::make(error_code::io, "%s", failure.what());
    }
}

// A number for people: %g with so many digits.
[[nodiscard]] std::string shown(double value, int digits = 4);

// ε as people write it: 2^-8, or 2 %.
[[nodiscard]] std::string shown_rate(double rate);

}  // namespace genista::lab
