// The registry of experiments, and how each of them runs. See experiment.hpp.
#include "lab/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <new>

namespace genista::lab {
namespace {

// A list, and set before any constructor runs: registrations are made in an order that the linker
// chooses.
constinit const registration* newest_registration = nullptr;

std::string joined(const std::vector<std::string>& names, const char* between) {
    std::string all;
    for (const std::string& each : names) all.append(all.empty() ? "" : between).append(each);
    return all;
}

result<void> check_filter(const experiment& asked, const run_options& options) {
    if (options.filter.empty()) return {};
    std::vector<std::string> known;
    if (asked.accepts.opponents != nullptr) known = asked.accepts.opponents();
    for (const std::string_view each : asked.accepts.filters)
        if (!each.empty()) known.emplace_back(each);
    if (std::ranges::find(known, options.filter) != known.end()) return {};
    const std::string takes = known.empty()                        ? "is about no filter and takes none"
                              : asked.accepts.opponents != nullptr ? "can be played against " + joined(known, ", ")
                                                                   : "measures " + joined(known, " and ");
    return error::make(error_code::invalid_argument, "filter %s: %.*s %s", options.filter.c_str(),
                       static_cast<int>(asked.id.size()), asked.id.data(), takes.c_str());
}

}  // namespace

result<outcome> experiment::run(const run_options& options) const {
    try {
        if (const auto fits = check_filter(*this, options); !fits) return fits.error();
        options.progress(0);
        outcome made = measure(options);
        made.parameters["seed"] = options.seed;
        made.parameters["quick"] = options.quick;
        options.progress(1);
        return made;
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "%.*s: no memory for its filter and keys",
                           static_cast<int>(id.size()), id.data());
    } catch (const workload_error& failure) {
        return error::make(failure.code(), "%s", failure.what());
    } catch (const std::runtime_error& failure) {  // an arena's
        return error::make(error_code::io, "%s", failure.what());
    }
}

registration::registration(std::string_view id, int order, std::string_view promise, std::string_view where,
                           outcome (*measure)(const run_options&), const estimate& takes,
                           const accepted& accepts) noexcept
    : row_{id, order, promise, where, measure, takes, accepts}, next_{newest_registration} {
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

result<void> refuse_traces(const experiment& asked, const run_options& options) noexcept {
    const auto* const named = [&]() -> const std::string* {
        for (const std::string* each : {&options.trace_path, &options.data_directory, &options.columns}) {
            if (!each->empty()) return each;
        }
        return nullptr;
    }();
    if (asked.accepts.replays_traces || named == nullptr) return {};
    return error::make(error_code::invalid_argument, "'%.120s': %.*s replays no trace and takes none", named->c_str(),
                       static_cast<int>(asked.id.size()), asked.id.data());
}

std::string shown(double value, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return text;
}

std::string shown_rate(double rate) {
    const double exponent = std::log2(rate);
    if (exponent == std::floor(exponent)) return "2^" + shown(exponent);
    return shown(100 * rate) + " %";
}

}  // namespace genista::lab
