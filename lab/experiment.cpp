// The registry of experiments. See experiment.hpp.
#include "lab/experiment.hpp"

#include <algorithm>
#include <utility>

namespace genista::lab {
namespace {

// A list, and set before any constructor runs: registrations are made in an order that the linker
// chooses.
constinit const registration* newest_registration = nullptr;

}  // namespace

registration::registration(const experiment& row) noexcept : row_{row}, next_{newest_registration} {
    newest_registration = this;
}

std::span<const experiment> all_experiments() {
    static const std::vector<experiment> sorted = [] {
        std::vector<experiment> rows;
        for (const registration* each = newest_registration; each != nullptr; each = each->next_)
            rows.push_back(each->row_);
        std::ranges::sort(rows, {}, [](const experiment& each) { return std::pair{each.order, each.id}; });
        return rows;
    }();
    return sorted;
}

const experiment* find_experiment(std::string_view id) {
    const std::span<const experiment> all = all_experiments();
    const auto found = std::ranges::find(all, id, &experiment::id);
    return found == all.end() || !found->is_built() ? nullptr : &*found;
}

result<void> refuse_filter(std::string_view id, const run_options& options) noexcept {
    if (options.filter.empty()) return {};
    return error::make(error_code::invalid_argument, "filter %s: %.*s is about no filter and takes none",
                       options.filter.c_str(), static_cast<int>(id.size()), id.data());
}

result<void> refuse_traces(const experiment& asked, const run_options& options) noexcept {
    const auto* const named = [&]() -> const std::string* {
        for (const std::string* each : {&options.trace_path, &options.data_directory, &options.columns}) {
            if (!each->empty()) return each;
        }
        return nullptr;
    }();
    if (asked.replays_traces || named == nullptr) return {};
    return error::make(error_code::invalid_argument, "'%.120s': %.*s replays no trace and takes none", named->c_str(),
                       static_cast<int>(asked.id.size()), asked.id.data());
}

}  // namespace genista::lab
