// An experiment measures one promise of the papers (claims.hpp) and says whether the library keeps
// it.
//
// lab/experiments/<id with _>.cpp defines one function and lists it in registry.cpp; `genista lab
// run ID` runs it. Each has a control: something that must fail the same measurement, else the
// measurement proves nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"
#include "lab/report/page.hpp"

namespace genista::lab {

struct run_options {
    std::string filter{};    // empty: the filter the claim is about
    bool quick = false;      // smaller sizes, the same judgement
    std::uint64_t seed = 1;  // all randomness comes from it
    // Which traces to replay: lab/workloads/data.hpp. Only experiments that replay some may be
    // given them.
    std::string data_directory{};  // with traces/*.keys.gz; empty: where they usually are, else made-up ones
    std::string trace_path{};      // the user's own, instead of all others
    std::string columns{};         // of trace_path, which is CSV then: lab/workloads/csv.hpp
    std::string separator{};       // of trace_path; empty: by its first row
    // Called now and then with the share done, 0..1; drawing it is the caller's business.
    std::function<void(double)> progress = [](double) {};
};

struct outcome {
    std::string promised;
    std::string measured;
    bool kept = false;          // the promise holds AND the control failed as it must
    nlohmann::json control;     // what had to fail, and how it did
    nlohmann::json parameters;  // everything needed to run it again
    nlohmann::json series = nlohmann::json::array();
    std::vector<report::section> figures{};  // what a report draws of it (genista lab run --report)
};

struct experiment {
    std::string_view id;  // of the claim it measures
    result<outcome> (*run)(const run_options&);
    bool replays_traces = false;  // those of traces_for() in lab/workloads/data.hpp
};

// For experiments that are about no filter: an error if one was named.
[[nodiscard]] result<void> refuse_filter(std::string_view id, const run_options& options) noexcept;

// For those that replay no traces: an error if some were named.
[[nodiscard]] result<void> refuse_traces(const experiment& asked, const run_options& options) noexcept;

// Every experiment the library has, in the order of docs/papers.md.
[[nodiscard]] std::span<const experiment> all_experiments() noexcept;

// nullptr if there is none of that id.
[[nodiscard]] const experiment* find_experiment(std::string_view id) noexcept;

}  // namespace genista::lab
