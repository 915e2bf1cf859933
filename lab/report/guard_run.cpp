// Every access to the document is checked: a report is made from whatever a run has written.
#include "lab/report/guard_run.hpp"

#include <algorithm>

namespace genista::lab::report {
namespace {

using nlohmann::ordered_json;

[[nodiscard]] const ordered_json& member(const ordered_json& object, const char* name) {
    static const ordered_json nothing;
    if (!object.is_object()) return nothing;
    const auto found = object.find(name);
    return found == object.end() ? nothing : *found;
}

[[nodiscard]] double number(const ordered_json& value) {
    return value.is_number() ? value.get<double>() : unknown;
}

[[nodiscard]] double number(const ordered_json& object, const char* name) {
    return number(member(object, name));
}

[[nodiscard]] std::string text(const ordered_json& object, const char* name, const char* otherwise) {
    const ordered_json& value = member(object, name);
    return value.is_string() ? value.get<std::string>() : std::string{otherwise};
}

[[nodiscard]] std::vector<double> numbers(const ordered_json& object, const char* name) {
    std::vector<double> out;
    const ordered_json& list = member(object, name);
    if (!list.is_array()) return out;
    for (const ordered_json& each : list) out.push_back(number(each));
    return out;
}

// Absent queries that cost a read; without the counts, the rate that the run itself gave.
[[nodiscard]] double wasted_share_of(const guard_row& row, const ordered_json& from) {
    if (row.absent > 0 && std::isfinite(row.wasted_reads)) return row.wasted_reads / row.absent;
    return number(from, "false_positive_rate");
}

[[nodiscard]] guard_row read_row(const ordered_json& from) {
    guard_row row;
    row.filter = text(from, "filter", "unnamed");
    row.bits_per_key = number(from, "bits_per_key");
    row.queries = number(from, "queries");
    row.absent = number(from, "absent");
    row.wasted_reads = number(from, "wasted_reads");
    row.repeated_wasted_reads = number(from, "repeated_wasted_reads");
    row.queries_per_second = number(from, "queries_per_second");
    row.p50_us = number(from, "p50_us");
    row.p99_us = number(from, "p99_us");
    row.p999_us = number(from, "p999_us");
    row.false_negatives = number(from, "false_negatives");
    row.wasted_share = wasted_share_of(row, from);
    const ordered_json& timeline = member(from, "timeline");
    row.timeline_queries = numbers(timeline, "queries");
    row.timeline_wasted_reads = numbers(timeline, "wasted_reads");
    const std::size_t both = std::min(row.timeline_queries.size(), row.timeline_wasted_reads.size());
    row.timeline_queries.resize(both);
    row.timeline_wasted_reads.resize(both);
    return row;
}

}  // namespace

const guard_row* guard_phase::row(std::string_view filter) const noexcept {
    const auto found = std::ranges::find(rows, filter, &guard_row::filter);
    return found == rows.end() ? nullptr : &*found;
}

guard_run read_guard_run(const ordered_json& document) {
    guard_run run;
    const ordered_json& phases = member(document, "phases");
    if (!phases.is_array()) return run;
    for (const ordered_json& from : phases) {
        guard_phase phase{text(from, "name", "unnamed"), text(from, "about", ""), {}};
        const ordered_json& rows = member(from, "rows");
        if (rows.is_array()) {
            for (const ordered_json& row : rows) phase.rows.push_back(read_row(row));
        }
        run.phases.push_back(std::move(phase));
    }
    return run;
}

}  // namespace genista::lab::report
