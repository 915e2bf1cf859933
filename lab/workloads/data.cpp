// Looking for folders and files. See data.hpp.
#include "lab/workloads/data.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "lab/workloads/csv.hpp"
#include "lab/workloads/lines.hpp"
#include "lab/workloads/synthetic_trace.hpp"

namespace genista::lab {
namespace {

namespace files = std::filesystem;

constexpr std::string_view trace_ending = ".keys.gz";

error unusable(const std::string& folder, const char* why) {
    return error::make(error_code::invalid_argument, "data folder %s: %.80s", shown_path(folder).c_str(), why);
}

}  // namespace

result<std::vector<std::string>> find_traces(const std::string& folder) {
    std::error_code failed;
    if (!files::is_directory(folder, failed)) return unusable(folder, "there is no such folder");
    std::vector<std::string> found;
    const files::path traces = files::path{folder} / "traces";
    if (!files::is_directory(traces, failed)) return unusable(folder, "it has no folder traces/ with *.keys.gz");
    // A listing that breaks off would give a part of the traces.
    files::directory_iterator at{traces, failed};
    for (; !failed && at != files::directory_iterator{}; at.increment(failed)) {
        if (at->path().filename().string().ends_with(trace_ending)) found.push_back(at->path().string());
    }
    if (failed) return unusable(folder, failed.message().c_str());
    if (found.empty()) return unusable(folder, "its folder traces/ has no *.keys.gz");
    std::ranges::sort(found);
    return found;
}

result<std::optional<std::string>> find_data_folder(const std::string& named) {
    const char* const variable = std::getenv(data_variable);
    const std::string given = named.empty() && variable != nullptr ? variable : named;
    const std::string folder = given.empty() ? usual_data_folder : given;
    const auto found = find_traces(folder);
    if (found) return std::optional{folder};
    if (!given.empty()) return found.error();
    return std::optional<std::string>{};
}

result<trace> read_own_trace(const run_options& options) {
    if (options.columns.empty()) {
        if (options.separator.empty()) return read_trace(options.trace_path);
        return error::make(error_code::invalid_argument, "separator '%.40s': columns must be chosen too",
                           options.separator.c_str());
    }
    return read_csv_trace(options.trace_path, {.columns = options.columns, .separator = options.separator});
}

result<std::vector<trace>> traces_for(const run_options& options) {
    std::vector<trace> traces;
    if (!options.trace_path.empty()) {
        auto own = read_own_trace(options);
        if (!own) return own.error();
        traces.push_back(*std::move(own));
        return traces;
    }
    if (!options.columns.empty() || !options.separator.empty()) {
        return error::make(error_code::invalid_argument, "columns '%.40s' of which file? A trace must be named too",
                           options.columns.c_str());
    }
    const auto folder = find_data_folder(options.data_directory);
    if (!folder) return folder.error();
    if (!*folder) return synthetic_traces(options.seed);
    const auto paths = find_traces(**folder);
    if (!paths) return paths.error();
    for (const std::string& path : *paths) {
        auto read = read_trace(path);
        if (!read) return read.error();
        traces.push_back(*std::move(read));
    }
    return traces;
}

std::vector<trace> must_have_traces(const run_options& options) {
    auto traces = traces_for(options);
    if (!traces) throw workload_error{std::string{traces.error().message()}, traces.error().code()};
    return *std::move(traces);
}

}  // namespace genista::lab
