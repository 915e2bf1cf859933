// The figures of local-lower-bound: bits a key against the sustained rate, and the false positives
// round by round.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lab/experiment.hpp"
#include "lab/experiments/local_lower_bound.hpp"

namespace genista::lab {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

report::line_chart rates_over_bits(const bound_data& data) {
    report::line_chart chart;
    chart.title = data.name();
    chart.caption =
        "The best Bloom filter with a cache for each size: the larger of its rates in the first round and in the later "
        "ones. log log u = " +
        shown(data.setting.log_log_u()) + ", log n = " + shown(data.setting.log_n()) + ".";
    chart.x = {"bits a key", false, report::unit::number};
    chart.y = {"rate under the attack", true, report::unit::percent};
    chart.at = data.sizes();
    for (const double rate : lower_bound_rates) {
        report::series line{"best for " + shown_rate(rate), {}};
        for (const double bits : chart.at) {
            const rounds_sample& seen = data.best(bits, rate)->seen;
            line.y.push_back(std::max(seen.first_rate(), seen.sustained_rate()));
        }
        chart.lines.push_back(std::move(line));
    }
    return chart;
}

report::scatter_chart rivals_over_bits(const bound_data& data) {
    report::scatter_chart chart;
    chart.title = data.name() + ", filters that the attack does not break";
    chart.caption = "Rates in the rounds after the first, which are 0 for most.";
    chart.x = {"bits a key after the attack", false, report::unit::number};
    chart.y = {"sustained rate", false, report::unit::percent};
    for (const rival_point& each : data.rivals) {
        const auto known =
            std::ranges::find(chart.clouds, each.filter, [](const report::point_series& cloud) { return cloud.name; });
        report::point_series& cloud =
            known == chart.clouds.end() ? chart.clouds.emplace_back(report::point_series{each.filter, {}}) : *known;
        cloud.points.push_back({shown_rate(each.rate), each.seen.bits_per_key, each.seen.sustained_rate()});
    }
    return chart;
}

// Some typical filters, at ε = 1/4.
report::line_chart round_by_round(const bound_data& data) {
    constexpr std::size_t most_rounds = 12;
    report::line_chart chart;
    chart.title = data.name() + ", round by round";
    chart.caption =
        "How many absent keys got through in each round; the next round asks for those. Bits a key in brackets.";
    chart.x = {"round", false, report::unit::number};
    chart.y = {"false positives", true, report::unit::number};
    for (std::size_t i = 1; i <= most_rounds; ++i) chart.at.push_back(static_cast<double>(i));
    const auto add = [&](const std::string& name, const rounds_sample& seen) {
        report::series line{name + " (" + shown(seen.bits_per_key, 3) + ")", {}};
        for (std::size_t i = 0; i < most_rounds; ++i)
            line.y.push_back(i < seen.through.size() ? static_cast<double>(seen.through[i]) : no_value);
        chart.lines.push_back(std::move(line));
    };
    const double small = std::floor(data.setting.bound_bits_per_key());
    for (const remembering_point& each : data.remembering) {
        const std::string way = each.replaces == replacement::oldest ? "forgets the oldest" : "forgets any";
        if (each.asked_bits == small && each.bloom_share == 1) add("Bloom filter", each.seen);
        if (each.asked_bits == small && each.bloom_share == 0.8) add(way, each.seen);
        if (each.asked_bits == 2 * small && each.bloom_share == 0.8) add(way + ", twice the bits", each.seen);
    }
    for (const rival_point& each : data.rivals) {
        if (each.rate == lower_bound_rates.front()) add(each.filter, each.seen);
    }
    return chart;
}

report::line_chart thresholds(const std::vector<bound_data>& all, std::uint64_t keys) {
    report::line_chart chart;
    chart.title = "Least bits a key that keep a rate, n = " + std::to_string(keys);
    chart.caption = "Of Bloom filters with a cache. The bound has the shape of log log u until log(1/ε) is more.";
    chart.x = {"log u", true, report::unit::number};
    chart.y = {"bits a key", false, report::unit::number};
    report::series bound{"log log u", {}};
    for (const bound_data& each : all) {
        if (each.setting.keys != keys) continue;
        chart.at.push_back(each.setting.universe_bits);
        bound.y.push_back(each.setting.log_log_u());
    }
    chart.lines.push_back(std::move(bound));
    for (const double rate : lower_bound_rates) {
        report::series line{"ε = " + shown_rate(rate), {}};
        for (const bound_data& each : all) {
            if (each.setting.keys == keys) line.y.push_back(each.threshold(rate).value_or(no_value));
        }
        chart.lines.push_back(std::move(line));
    }
    return chart;
}

}  // namespace

std::vector<report::section> draw_bounds(const std::vector<bound_data>& all) {
    std::vector<report::section> sections;
    if (all.empty()) return sections;
    sections.push_back({"What it takes", "", {thresholds(all, all.front().setting.keys)}});
    for (const bound_data& each : all)
        sections.push_back({each.name(), "", {rates_over_bits(each), round_by_round(each), rivals_over_bits(each)}});
    return sections;
}

}  // namespace genista::lab
