// Tables, sentences, JSON. See report.hpp.
#include "compare/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/report/guard_page.hpp"
#include "machine.hpp"
#include "table.hpp"

namespace genista::tool::compare {
namespace {

using json = nlohmann::ordered_json;

std::string microseconds(double us) {
    return us < 10 ? fmt::format("{:.2f}", us) : fmt::format("{:.0f}", us);
}

std::string percent(double share) {
    return share < 0.001 ? fmt::format("{:.2g} %", share * 100) : fmt::format("{:.3g} %", share * 100);
}

std::string phase_table(const phase_result& phase) {
    table page{{{"filter"},
                {"bits", align::right},
                {"queries", align::right},
                {"absent", align::right},
                {"wasted", align::right},
                {"repeated", align::right},
                {"share", align::right},
                {"queries/s", align::right},
                {"p50 µs", align::right},
                {"p99", align::right},
                {"p99.9", align::right},
                {"denied", align::right}}};
    for (const figures& row : phase.rows) {
        page.add_row({std::string{to_string(row.filter)}, fmt::format("{:.2f}", row.bits_per_key), grouped(row.queries),
                      grouped(row.absent), grouped(row.wasted_reads), grouped(row.repeated_wasted_reads),
                      percent(row.wasted_share()),
                      grouped(static_cast<unsigned long long>(std::llround(row.queries_per_second()))),
                      microseconds(row.p50_us), microseconds(row.p99_us), microseconds(row.p999_us),
                      grouped(row.false_negatives)});
    }
    return page.text();
}

std::string wrapped(const std::string& text) {
    std::string page;
    for (const std::string& line : wrap(text, page_width)) page.append(line).append("\n");
    return page;
}

// How many false positives the filters that learn repaired, and at what cost; empty if there were
// none.
std::string lessons(const phase_result& phase) {
    std::string text;
    for (const figures& row : phase.rows) {
        if (!learns(row.filter) || row.wasted_reads == 0) continue;
        text.append(text.empty() ? "Repaired false positives, and the reads of R to learn: " : "; ");
        text.append(fmt::format("{} {} and {}", to_string(row.filter), grouped(row.adapts), grouped(row.remote_reads)));
    }
    return text.empty() ? text : wrapped(text);
}

json row_json(const figures& row) {
    json made{{"filter", to_string(row.filter)},
              {"bits_per_key", row.bits_per_key},
              {"queries", row.queries},
              {"absent", row.absent},
              {"wasted_reads", row.wasted_reads},
              {"repeated_wasted_reads", row.repeated_wasted_reads},
              {"queries_per_second", row.queries_per_second()},
              {"p50_us", row.p50_us},
              {"p99_us", row.p99_us},
              {"p999_us", row.p999_us},
              {"false_negatives", row.false_negatives},
              {"false_positive_rate", row.wasted_share()},
              {"distinct_absent", row.distinct_absent},
              {"device_reads", row.device_reads},
              {"seconds", row.seconds}};
    if (row.guard_wasted) {
        made["guard_wasted_reads"] = *row.guard_wasted;
        made["adapts"] = row.adapts;
        made["remote_reads"] = row.remote_reads;
    }
    if (row.pool) {
        made["pool"] = *row.pool;
        made["pool_questions"] = row.pool_asked;
    }
    made["timeline"] = {{"queries", row.timeline_queries}, {"wasted_reads", row.timeline_wasted}};
    return made;
}

json run_json(const outcome& run) {
    const machine_facts machine = this_machine();
    return {{"keys", run.keys},
            {"layout", rocks::to_string(run.asked.layout)},
            {"bits_per_key", run.sizes.bits_per_key},
            {"error_rate", run.sizes.broom_rate},
            {"cache_mb", run.asked.cache_mb},
            {"value_bytes", run.asked.value_bytes},
            {"threads", run.asked.threads},
            {"seed", run.asked.seed},
            {"direct_reads", run.direct_reads},
            {"cpu", machine.cpu},
            {"cores", machine.cores},
            {"isa", machine.isa},
            {"compiler", machine.compiler}};
}

}  // namespace

json to_json(const outcome& run) {
    json phases = json::array();
    for (const phase_result& phase : run.phases) {
        json rows = json::array();
        for (const figures& row : phase.rows) rows.push_back(row_json(row));
        phases.push_back({{"name", phase.name}, {"about", phase.about}, {"rows", std::move(rows)}});
    }
    return {{"run", run_json(run)}, {"phases", std::move(phases)}};
}

std::string to_text(const outcome& run) {
    const bool any_filter = std::any_of(run.asked.filters.begin(), run.asked.filters.end(),
                                        [](filter_kind kind) { return kind != filter_kind::none; });
    std::string page = wrapped(fmt::format(
        "{} keys, values of {} bytes, {} layout; {}cache of {} MB, {} reads, {} {}", grouped(run.keys),
        run.asked.value_bytes, rocks::to_string(run.asked.layout),
        any_filter ? fmt::format("about {:.2f} bits a key for each filter; ", run.sizes.bits_per_key) : std::string{},
        run.asked.cache_mb, run.direct_reads ? "direct" : "buffered", run.asked.threads,
        run.asked.threads == 1 ? "thread" : "threads"));
    for (const phase_result& phase : run.phases) {
        page.append("\n")
            .append(wrapped(phase.name + ": " + phase.about))
            .append(phase_table(phase))
            .append(lessons(phase));
    }
    page.append("\n").append(wrapped(lab::report::headline(lab::report::read_guard_run(to_json(run)))));
    return page;
}

std::string faults(const outcome& run) {
    std::string all;
    const auto add = [&all](const std::string& fault) { all.append(all.empty() ? "" : "; ").append(fault); };
    for (const phase_result& phase : run.phases) {
        for (const figures& row : phase.rows) {
            const std::string_view name = to_string(row.filter);
            if (row.false_negatives != 0)
                add(fmt::format("{} denied {} stored keys ({})", name, row.false_negatives, phase.name));
            if (row.absent_keys_found != 0)
                add(fmt::format("{} found {} keys that were not stored ({})", name, row.absent_keys_found, phase.name));
            if (row.guard_wasted && *row.guard_wasted != row.wasted_reads)
                add(fmt::format("{} wasted {} reads and counted {} ({})", name, row.wasted_reads, *row.guard_wasted,
                                phase.name));
        }
    }
    return all;
}

}  // namespace genista::tool::compare
