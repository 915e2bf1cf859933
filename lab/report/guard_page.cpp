// Four questions, a section each: how fast, how many reads over time, what a bit buys, how long one
// query waits. Then every number in tables, and how the run was made.
#include "lab/report/guard_page.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "lab/report/text.hpp"

namespace genista::lab::report {
namespace {

using nlohmann::ordered_json;

[[nodiscard]] bool any_finite(const std::vector<double>& values) {
    return std::ranges::any_of(values, [](double value) { return std::isfinite(value); });
}

[[nodiscard]] bool any_finite(const std::vector<series>& all) {
    return std::ranges::any_of(all, [](const series& each) { return any_finite(each.y); });
}

// Every filter of the run once, in the order in which they appear.
[[nodiscard]] std::vector<std::string> filters_of(const guard_run& run) {
    std::vector<std::string> names;
    for (const guard_phase& phase : run.phases) {
        for (const guard_row& row : phase.rows) {
            if (std::ranges::find(names, row.filter) == names.end()) names.push_back(row.filter);
        }
    }
    return names;
}

// Makes the text begin with a capital and end with a full stop.
[[nodiscard]] std::string sentence(std::string text) {
    if (text.empty()) return text;
    if (text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 'a' + 'A');
    if (text.back() != '.') text += '.';
    return text;
}

// A section without a figure is left out, and so is its text.
void add(page& to, section content) {
    if (!content.figures.empty()) to.sections.push_back(std::move(content));
}

section speed_section(const guard_run& run) {
    section out{"Queries per second", "How many queries each filter and the store behind it answered in a second.", {}};
    bar_chart chart;
    chart.title = "Queries per second, by phase";
    chart.caption = "Longer is better.";
    chart.value = {"queries per second", true, unit::number};
    for (const guard_phase& phase : run.phases) chart.categories.push_back(phase_words(phase.name));
    for (const std::string& filter : filters_of(run)) {
        series bars{filter, {}};
        for (const guard_phase& phase : run.phases) {
            const guard_row* const row = phase.row(filter);
            bars.y.push_back(row == nullptr ? unknown : row->queries_per_second);
        }
        chart.bars.push_back(std::move(bars));
    }
    if (any_finite(chart.bars)) out.figures.emplace_back(std::move(chart));
    return out;
}

// A running total between its samples, on a straight line; unknown before the first sample and
// after the last.
[[nodiscard]] double total_at(double queries, const std::vector<std::pair<double, double>>& samples) {
    const auto next = std::ranges::lower_bound(samples, queries, {}, &std::pair<double, double>::first);
    if (next == samples.end()) return unknown;
    if (next->first == queries) return next->second;
    if (next == samples.begin()) return unknown;
    const auto& [x0, y0] = *std::prev(next);
    return y0 + (next->second - y0) * (queries - x0) / (next->first - x0);
}

// Filters need not have been sampled at the same moments: the chart takes all moments, and each
// line fills in its own.
line_chart reads_chart(const guard_phase& phase) {
    line_chart chart;
    chart.title = phase_words(phase.name);
    chart.caption = sentence(phase.about);
    chart.x = {"queries", false, unit::number};
    chart.y = {"wasted reads so far", true, unit::number};
    for (const guard_row& row : phase.rows) {
        for (const double at : row.timeline_queries) {
            if (std::isfinite(at)) chart.at.push_back(at);
        }
    }
    std::ranges::sort(chart.at);
    chart.at.erase(std::unique(chart.at.begin(), chart.at.end()), chart.at.end());
    for (const guard_row& row : phase.rows) {
        std::vector<std::pair<double, double>> samples;
        for (std::size_t i = 0; i < row.timeline_queries.size(); ++i) {
            const double at = row.timeline_queries[i], total = row.timeline_wasted_reads[i];
            if (std::isfinite(at) && std::isfinite(total)) samples.emplace_back(at, total);
        }
        if (samples.empty()) continue;
        std::ranges::sort(samples);
        series line{row.filter, {}};
        for (const double at : chart.at) line.y.push_back(total_at(at, samples));
        chart.lines.push_back(std::move(line));
    }
    return chart;
}

section reads_section(const guard_run& run) {
    section out{
        "Wasted reads over the run",
        "A wasted read is one that the store was asked for a key it does not hold, because the filter let the query "
        "through. The line of a filter that has learned becomes flat.",
        {}};
    for (const guard_phase& phase : run.phases) {
        line_chart chart = reads_chart(phase);
        if (!chart.lines.empty()) out.figures.emplace_back(std::move(chart));
    }
    return out;
}

section space_section(const guard_run& run) {
    section out{"What the bits buy",
                "Everything a filter keeps in local memory, against the absent queries it failed to stop.",
                {}};
    scatter_chart chart;
    chart.title = "Bits per key against wasted reads";
    chart.caption =
        "One mark for each filter and phase; the row without a filter has no bits and is not drawn. Lower and further "
        "left is better.";
    chart.x = {"bits per key", false, unit::number};
    chart.y = {"of absent queries cost a read", true, unit::percent};
    for (const std::string& filter : filters_of(run)) {
        point_series cloud{filter, {}};
        for (const guard_phase& phase : run.phases) {
            const guard_row* const row = phase.row(filter);
            if (row == nullptr || !(row->bits_per_key > 0) || !std::isfinite(row->wasted_share)) continue;
            cloud.points.push_back({phase_words(phase.name), row->bits_per_key, row->wasted_share});
        }
        if (!cloud.points.empty()) chart.clouds.push_back(std::move(cloud));
    }
    if (!chart.clouds.empty()) out.figures.emplace_back(std::move(chart));
    return out;
}

section latency_section(const guard_run& run) {
    section out{"Latency",
                "How long one query took: half of them less than p50, one in a hundred more than p99, one in a "
                "thousand more than p99.9.",
                {}};
    for (const guard_phase& phase : run.phases) {
        bar_chart chart;
        chart.title = phase_words(phase.name);
        chart.caption = "Shorter is better.";
        chart.value = {"time of one query", true, unit::microseconds};
        chart.graded = true;
        chart.bars = {{"p50", {}}, {"p99", {}}, {"p99.9", {}}};
        for (const guard_row& row : phase.rows) {
            chart.categories.push_back(row.filter);
            chart.bars[0].y.push_back(row.p50_us);
            chart.bars[1].y.push_back(row.p99_us);
            chart.bars[2].y.push_back(row.p999_us);
        }
        if (any_finite(chart.bars)) out.figures.emplace_back(std::move(chart));
    }
    return out;
}

section table_section(const guard_run& run) {
    section out{"All numbers", "", {}};
    for (const guard_phase& phase : run.phases) {
        table content;
        content.title = phase_words(phase.name);
        content.columns = {{"filter"},
                           {"bits per key", true},
                           {"queries", true},
                           {"absent", true},
                           {"wasted reads", true},
                           {"repeated wasted reads", true},
                           {"wasted reads / absent", true},
                           {"queries per second", true},
                           {"p50 µs", true},
                           {"p99 µs", true},
                           {"p99.9 µs", true},
                           {"false negatives", true}};
        for (const guard_row& row : phase.rows) {
            content.rows.push_back(
                {row.filter, fixed_text(row.bits_per_key, 2), rounded_text(row.queries), rounded_text(row.absent),
                 rounded_text(row.wasted_reads), rounded_text(row.repeated_wasted_reads), share_text(row.wasted_share),
                 rounded_text(row.queries_per_second), amount_text(row.p50_us), amount_text(row.p99_us),
                 amount_text(row.p999_us), rounded_text(row.false_negatives)});
        }
        out.figures.emplace_back(std::move(content));
    }
    return out;
}

[[nodiscard]] std::string value_text(const ordered_json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0))
        return count_text(value.get<std::uint64_t>());
    return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

section run_section(const ordered_json& document) {
    section out{"How the run was made", "", {}};
    if (!document.is_object()) return out;
    const auto run = document.find("run");
    if (run == document.end() || !run->is_object() || run->empty()) return out;
    table content{"The run", {{"what"}, {"value"}}, {}};
    for (const auto& [name, value] : run->items()) content.rows.push_back({phase_words(name), value_text(value)});
    out.figures.emplace_back(std::move(content));
    return out;
}

}  // namespace

page guard_page(const ordered_json& document) {
    const guard_run run = read_guard_run(document);
    page out;
    out.title = "Genista guard report";
    out.lead = headline(run);
    out.warning = lies_in_words(run);
    out.highlight = guarded_by(run);
    out.facts = key_figures(run);
    add(out, speed_section(run));
    add(out, reads_section(run));
    add(out, space_section(run));
    add(out, latency_section(run));
    add(out, table_section(run));
    add(out, run_section(document));
    out.data = document;
    return out;
}

}  // namespace genista::lab::report
