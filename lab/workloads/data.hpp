// Where an experiment's traces come from: the user's own file, a folder of them, or nowhere, and
// then they are synthetic.
//
//     folder/traces/*.keys.gz    one key a line, gzip; every one of them, in the order of their
//                                names
//
// The folder is the one that was named, else that of the environment variable GENISTA_DATA, else
// ../shared/data seen from the current folder, if it is there. Only the last may be missing: a
// folder that was named gives its traces or an error, never figures from something else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "genista/base/result.hpp"
#include "lab/experiment.hpp"
#include "lab/workloads/trace.hpp"

namespace genista::lab {

inline constexpr const char* data_variable = "GENISTA_DATA";
inline constexpr const char* usual_data_folder = "../shared/data";

// The traces of an experiment: options.trace_path, else all of the folder, else synthetic_traces().
// An error if columns are chosen for no file, or the file is not a whole trace.
[[nodiscard]] result<std::vector<trace>> traces_for(const run_options& options);

// The same in a measurement: throws a workload_error with the error's code.
[[nodiscard]] std::vector<trace> must_have_traces(const run_options& options);

// The user's own trace: CSV if columns are chosen (csv.hpp), else one key a line.
[[nodiscard]] result<trace> read_own_trace(const run_options& options);

// The paths of folder/traces/*.keys.gz. An error if there is no such folder or nothing in it.
[[nodiscard]] result<std::vector<std::string>> find_traces(const std::string& folder);

// `named` may be empty. Nothing: no folder was named, and the usual one has no traces.
[[nodiscard]] result<std::optional<std::string>> find_data_folder(const std::string& named);

}  // namespace genista::lab
