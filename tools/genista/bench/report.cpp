// The JSON document and the tables. See report.hpp.
#include "bench/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>

#include "table.hpp"

namespace genista::tool::bench {
namespace {

using json = nlohmann::ordered_json;

json or_null(const std::optional<double>& value) {
    return value ? json(*value) : json(nullptr);
}

std::string_view name_of(hash_kind kind) {
    return kind == hash_kind::trusted ? "trusted" : "keyed";
}

double bits_per_key(const report& run, const figures& each) {
    return static_cast<double>(each.stats.local_bytes) * 8 / static_cast<double>(run.what.keys);
}

// Over log2(1/measured rate), the least any filter of that rate can have; unknown while no false positive was seen.
std::optional<double> bits_over_optimal(const report& run, const figures& each) {
    if (each.false_positives == 0) return std::nullopt;
    return bits_per_key(run, each) + std::log2(each.fpr());
}

void put_times(json& into, const std::string& name, const samples& times) {
    into[name + "_ns"] = or_null(times.minimum());
    into[name + "_ns_median"] = or_null(times.median());
}

json filter_json(const report& run, const figures& each) {
    json one;
    one["name"] = each.name;
    one["keys"] = run.what.keys;
    one["error_rate"] = run.what.error_rate;
    one["fpr"] = each.fpr();
    one["fpr_interval"] = {each.fpr_interval.low, each.fpr_interval.high};
    one["bits_per_key"] = bits_per_key(run, each);
    one["bits_over_optimal"] = or_null(bits_over_optimal(run, each));
    for (std::size_t o = 0; o < operation_names.size(); ++o) {
        put_times(one, std::string{operation_names[o]}, each.times[o]);
    }
    one["size_bytes"] = each.stats.local_bytes;
    one["rate_queries"] = each.rate_queries;
    one["false_positives"] = each.false_positives;
    return one;
}

json run_json(const report& run) {
    const plan& what = run.what;
    return {{"hash", name_of(what.hash)},
            {"seed", what.seed},
            {"threads", what.threads},
            {"rounds", what.rounds},
            {"build_rounds", what.build_rounds()},
            {"lookups_per_round", what.lookups() * what.threads},
            {"batch_size", batch_size},
            {"interval_confidence", lab::interval_confidence}};
}

// Four characters at most, so that slow machines do not widen the table; the JSON has every digit.
std::string rounded(double ns) {
    if (ns < 9.995) return fmt::format("{:.2f}", ns);
    if (ns < 99.95) return fmt::format("{:.1f}", ns);
    if (ns < 9999.5) return fmt::format("{:.0f}", ns);
    if (ns < 999.5e3) return fmt::format("{:.0f}k", ns / 1e3);
    return fmt::format("{:.{}f}M", ns / 1e6, ns < 9.95e6 ? 1 : 0);
}

std::string minimum_and_median(const samples& times) {
    const auto least = times.minimum(), middle = times.median();
    return least && middle ? fmt::format("{} ({})", rounded(*least), rounded(*middle)) : "-";
}

std::string rate_table(const report& run) {
    table page{{{"filter"},
                {"keys", align::right},
                {"error_rate", align::right},
                {"fpr", align::right},
                {"fpr_interval 99.9 %", align::right},
                {"bits_per_key", align::right},
                {"bits_over_optimal", align::right}}};
    for (const figures& each : run.filters) {
        const auto over = bits_over_optimal(run, each);
        page.add_row({std::string{each.name}, grouped(run.what.keys), fmt::format("{:.4g}", run.what.error_rate),
                      fmt::format("{:.4g}", each.fpr()),
                      fmt::format("{:.4g} .. {:.4g}", each.fpr_interval.low, each.fpr_interval.high),
                      fmt::format("{:.3f}", bits_per_key(run, each)), over ? fmt::format("{:.3f}", *over) : "-"});
    }
    return page.text();
}

std::string time_table(const report& run) {
    std::vector<table::column> columns{{"ns min (median)"}};
    for (const std::string_view name : operation_names) columns.push_back({std::string{name}, align::right});
    table page{std::move(columns)};
    for (const figures& each : run.filters) {
        std::vector<std::string> row{std::string{each.name}};
        for (const samples& times : each.times) row.push_back(minimum_and_median(times));
        page.add_row(std::move(row));
    }
    std::vector<std::string> row(1 + operation_names.size());
    row[0] = "floor";
    row[1 + static_cast<std::size_t>(operation::negative)] = minimum_and_median(run.floor.each);
    row[1 + static_cast<std::size_t>(operation::negative_batch)] = minimum_and_median(run.floor.batch);
    page.add_row(std::move(row));
    return page.text();
}

}  // namespace

nlohmann::ordered_json to_json(const report& run) {
    json document;
    document["filters"] = json::array();
    for (const figures& each : run.filters) document["filters"].push_back(filter_json(run, each));
    json& floor = document["floor"];
    put_times(floor, "floor", run.floor.each);
    put_times(floor, "floor_batch", run.floor.batch);
    floor["size_bytes"] = run.floor.size_bytes;
    document["machine"] = {{"cpu", run.machine.cpu},         {"cores", run.machine.cores},
                           {"isa", run.machine.isa},         {"compiler", run.machine.compiler},
                           {"caches", run.machine.caches},   {"huge_pages", run.machine.huge_pages},
                           {"hash", name_of(run.what.hash)}, {"run", run_json(run)}};
    return document;
}

std::string to_text(const report& run) {
    const plan& what = run.what;
    std::string text = fmt::format(
        "{} hash, seed {}, {} thread{}, {} rounds of {} look-ups, batches of {}, {} builds a filter, {} rate queries\n",
        name_of(what.hash), what.seed, what.threads, what.threads == 1 ? "" : "s", what.rounds,
        grouped(what.lookups() * what.threads), batch_size, what.build_rounds(), grouped(what.rate_queries()));
    text +=
        fmt::format("{}, {} cores, {}, {}, {}, huge pages {}\n\n", run.machine.cpu, run.machine.cores, run.machine.isa,
                    run.machine.compiler, fmt::join(run.machine.caches, " "), run.machine.huge_pages);
    text += rate_table(run) + "\n" + time_table(run);
    text += fmt::format("floor: one random cache line of {} bytes a look-up, hash included\n",
                        grouped(run.floor.size_bytes));
    return text;
}

}  // namespace genista::tool::bench
