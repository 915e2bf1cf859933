// The JSON document. See report.hpp.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/report.hpp"
#include "bench/subject.hpp"

namespace genista::tool::bench {
namespace {

using json = nlohmann::ordered_json;

json or_null(const std::optional<double>& value) {
    return value ? json(*value) : json(nullptr);
}

void put_times(json& into, std::string_view name, const samples& times) {
    into[fmt::format("{}_ns", name)] = or_null(times.minimum());
    into[fmt::format("{}_ns_median", name)] = or_null(times.median());
}

void put_times_and_speedup(json& into, const size_report& size, std::string_view name, const samples& of_first,
                           const samples& of_team, std::size_t team) {
    put_times(into, name, of_team);
    if (team > 0) into[fmt::format("{}_speedup", name)] = or_null(size.speedup(of_first, of_team, team));
}

// One object for each number of threads.
json teams_json(const size_report& size, const figures& each) {
    json teams = json::array();
    for (std::size_t t = 0; t < size.what.threads.size(); ++t) {
        json& one = teams.emplace_back();
        one["threads"] = size.what.threads[t];
        for (const operation what : in_teams) {
            put_times_and_speedup(one, size, name_of(what), each.of(what), each.of(what, t), t);
        }
    }
    return teams;
}

json filter_json(const size_report& size, const figures& each) {
    json one;
    one["name"] = each.name;
    one["keys"] = size.what.keys;
    one["error_rate"] = size.what.error_rate;
    one["fpr"] = each.fpr();
    one["fpr_interval"] = {each.fpr_interval.low, each.fpr_interval.high};
    one["bits_per_key"] = size.bits_per_key(each);
    one["bits_over_optimal"] = or_null(size.bits_over_optimal(each));
    for (std::size_t o = 0; o < operation_names.size(); ++o) put_times(one, operation_names[o], each.times[0][o]);
    one["size_bytes"] = each.stats.local_bytes;
    one["rate_queries"] = each.rate_queries;
    one["false_positives"] = each.false_positives;
    one["range_reads_per_update"] = or_null(each.range_reads_per_update);
    one["slot_reads_per_update"] = or_null(each.slot_reads_per_update);
    one["oracle_ns"] = or_null(each.oracle_ns);
    one["threads"] = teams_json(size, each);
    return one;
}

json floor_json(const size_report& size) {
    json floor;
    const std::vector<floor_samples>& times = size.floor.times;
    put_times(floor, "floor", times[0].each);
    put_times(floor, "floor_batch", times[0].batch);
    floor["size_bytes"] = size.floor.size_bytes;
    floor["threads"] = json::array();
    for (std::size_t t = 0; t < times.size(); ++t) {
        json& one = floor["threads"].emplace_back();
        one["threads"] = size.what.threads[t];
        put_times_and_speedup(one, size, "floor", times[0].each, times[t].each, t);
        put_times_and_speedup(one, size, "floor_batch", times[0].batch, times[t].batch, t);
    }
    return floor;
}

json size_json(const size_report& size) {
    json one;
    one["keys"] = size.what.keys;
    one["build_rounds"] = size.what.build_rounds();
    one["lookups_per_round"] = json::array();  // for each number of threads, of all of them together
    for (const std::uint64_t team : size.what.threads) {
        one["lookups_per_round"].push_back(size.what.lookups(team) * team);
    }
    one["filters"] = json::array();
    for (const figures& each : size.filters) one["filters"].push_back(filter_json(size, each));
    one["floor"] = floor_json(size);
    return one;
}

json run_json(const plan& asked) {
    return {{"hash", name_of(asked.hash)},
            {"seed", asked.seed},
            {"error_rate", asked.error_rate},
            {"threads", asked.threads},
            {"rounds", asked.rounds},
            {"batch_size", batch_size},
            {"mix", asked.mix_update_percent == 0 ? json(nullptr) : json(mix_name(asked))},
            {"churn", asked.churn},
            {"interval_confidence", lab::interval_confidence}};
}

}  // namespace

std::string_view name_of(hash_kind kind) {
    return kind == hash_kind::trusted ? "trusted" : "keyed";
}

std::string mix_name(const plan& what) {
    return fmt::format("{}/{}", 100 - what.mix_update_percent, what.mix_update_percent);
}

std::optional<double> size_report::bits_over_optimal(const figures& each) const {
    if (each.false_positives == 0) return std::nullopt;
    return bits_per_key(each) + std::log2(each.fpr());
}

std::optional<double> size_report::speedup(const samples& of_first, const samples& of_team, std::size_t team) const {
    const auto first = of_first.median(), other = of_team.median();
    if (!first || !other) return std::nullopt;
    const auto more = static_cast<double>(what.threads[team]) / static_cast<double>(what.threads[0]);
    return more * *first / *other;
}

nlohmann::ordered_json to_json(const report& run) {
    json document;
    document["format"] = report_format;
    document["version"] = report_version;
    document["sizes"] = json::array();
    for (const size_report& size : run.sizes) document["sizes"].push_back(size_json(size));
    document["machine"] = to_json(run.machine);
    document["machine"]["hash"] = name_of(run.asked.hash);
    document["machine"]["run"] = run_json(run.asked);
    return document;
}

}  // namespace genista::tool::bench
