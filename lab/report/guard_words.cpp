// A run read back, and sentences from its numbers. Each part of a sentence is there only if its
// numbers were measured. See guard_page.hpp.
#include "lab/report/guard_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "lab/report/text.hpp"

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

namespace {

constexpr std::string_view hero = "broom";
// The usual rivals, in this order: the filter that the store already has, then the others.
constexpr std::array<std::string_view, 3> rivals{"rocksdb_bloom", "bloom", "rocksdb_ribbon"};
constexpr double same_memory = 1.1;  // no more than a tenth apart counts as the same

[[nodiscard]] bool is_attack(const guard_phase& phase) {
    return phase.name.find("attack") != std::string::npos;
}

// The first of the usual rivals; without one, the fastest filter of the phase ("none" is not a
// filter).
[[nodiscard]] const guard_row* rival_in(const guard_phase& phase, const guard_row& ours) {
    for (const std::string_view name : rivals) {
        if (const guard_row* row = phase.row(name); row != nullptr && row != &ours) return row;
    }
    const guard_row* best = nullptr;
    for (const guard_row& row : phase.rows) {
        if (&row == &ours || row.filter == "none" || !std::isfinite(row.queries_per_second)) continue;
        if (best == nullptr || row.queries_per_second > best->queries_per_second) best = &row;
    }
    return best;
}

// "at the same memory" only if that is true, otherwise both figures.
[[nodiscard]] std::string memory_words(const guard_row& ours, const guard_row& rival) {
    const double a = ours.bits_per_key, b = rival.bits_per_key;
    if (!(a > 0) || !(b > 0)) return {};
    if (std::max(a, b) / std::min(a, b) <= same_memory) return " at the same memory";
    return " with " + fixed_text(a, 1) + " bits per key against " + fixed_text(b, 1);
}

[[nodiscard]] std::string phase_opening(const guard_phase& phase) {
    const std::string name = phase_words(phase.name);
    return is_attack(phase) ? "Under the " + name + " " : "In the phase “" + name + "” ";
}

[[nodiscard]] std::string first_sentence(const guard_pair& pair) {
    const double speed = pair.speed();
    std::string out = phase_opening(*pair.phase) + "the " + pair.ours->filter + " filter answered ";
    out += ratio_text(speed) + " times the queries per second of " + pair.rival->filter;
    return out + memory_words(*pair.ours, *pair.rival) + ".";
}

[[nodiscard]] std::string reads_sentence(const guard_pair& pair) {
    const guard_row &ours = *pair.ours, &rival = *pair.rival;
    if (!std::isfinite(ours.wasted_reads) || !std::isfinite(rival.wasted_reads)) return {};
    return "There " + ours.filter + " sent " + rounded_text(ours.wasted_reads) +
           " reads for absent keys to the store; " + rival.filter + " sent " + rounded_text(rival.wasted_reads) + ".";
}

// "Elsewhere ... 1.07 times (zipf) and 0.97 times (uniform) those of bloom.", with the rival at
// each phase if they differ.
[[nodiscard]] std::string other_phases(const std::vector<guard_pair>& pairs) {
    std::vector<guard_pair> others;
    for (std::size_t i = 1; i < pairs.size(); ++i) {
        if (std::isfinite(pairs[i].speed())) others.push_back(pairs[i]);
    }
    if (others.empty()) return {};
    const std::string rival = others.front().rival->filter;
    const bool one_rival =
        std::ranges::all_of(others, [&](const guard_pair& one) { return one.rival->filter == rival; });
    std::string out = "Elsewhere its queries per second were ";
    for (std::size_t i = 0; i < others.size(); ++i) {
        if (i > 0) out += i + 1 == others.size() ? " and " : ", ";
        out += ratio_text(others[i].speed()) + " times ";
        if (!one_rival) out += "those of " + others[i].rival->filter + " ";
        out.append("(").append(phase_words(others[i].phase->name)).append(")");
    }
    return one_rival ? out + " those of " + rival + "." : out + ".";
}

[[nodiscard]] double all_false_negatives(const guard_run& run) {
    double sum = 0;
    bool known = false;
    for (const guard_phase& phase : run.phases) {
        for (const guard_row& row : phase.rows) {
            if (!std::isfinite(row.false_negatives)) continue;
            sum += row.false_negatives;
            known = true;
        }
    }
    return known ? sum : unknown;
}

}  // namespace

double guard_pair::speed() const noexcept {
    if (ours == nullptr || rival == nullptr || !(rival->queries_per_second > 0)) return unknown;
    return ours->queries_per_second / rival->queries_per_second;
}

std::string guarded_by(const guard_run& run) {
    for (const guard_phase& phase : run.phases) {
        if (phase.row(hero) != nullptr) return std::string{hero};
    }
    for (const guard_phase& phase : run.phases) {
        for (const guard_row& row : phase.rows) {
            if (row.filter.starts_with(hero)) return row.filter;
        }
    }
    return {};
}

std::vector<guard_pair> pairs_of(const guard_run& run) {
    std::vector<guard_pair> pairs;
    const std::string name = guarded_by(run);
    for (const guard_phase& phase : run.phases) {
        const guard_row* const ours = name.empty() ? nullptr : phase.row(name);
        const guard_row* const rival = ours == nullptr ? nullptr : rival_in(phase, *ours);
        if (rival != nullptr) pairs.push_back({&phase, ours, rival});
    }
    std::stable_partition(pairs.begin(), pairs.end(), [](const guard_pair& pair) { return is_attack(*pair.phase); });
    return pairs;
}

std::string phase_words(std::string_view name) {
    std::string out{name};
    std::ranges::replace(out, '_', ' ');
    return out;
}

std::string headline(const guard_run& run) {
    const std::vector<guard_pair> pairs = pairs_of(run);
    if (pairs.empty() || !std::isfinite(pairs.front().speed())) {
        const std::string count = count_text(run.phases.size());
        return run.phases.empty()
                   ? "This run has no phases: nothing was measured."
                   : "Filters side by side in " + count + (run.phases.size() == 1 ? " phase." : " phases.");
    }
    std::string out = first_sentence(pairs.front());
    std::string rest = reads_sentence(pairs.front());
    const std::string others = other_phases(pairs);
    if (!rest.empty() && !others.empty()) rest += " ";
    rest += others;
    return rest.empty() ? out : out + "\n\n" + rest;
}

std::string lies_in_words(const guard_run& run) {
    std::string out;
    for (const guard_phase& phase : run.phases) {
        for (const guard_row& row : phase.rows) {
            if (!(row.false_negatives > 0)) continue;
            out += (out.empty() ? "" : ", ") + row.filter + " " + rounded_text(row.false_negatives) + " (" +
                   phase_words(phase.name) + ")";
        }
    }
    return out.empty() ? out : "False negatives: keys that were stored and denied. " + out + ".";
}

std::vector<fact> key_figures(const guard_run& run) {
    std::vector<fact> facts;
    const std::vector<guard_pair> pairs = pairs_of(run);
    if (!pairs.empty()) {
        const guard_pair& pair = pairs.front();
        const std::string where = phase_words(pair.phase->name), rival = pair.rival->filter;
        if (std::isfinite(pair.speed()))
            facts.push_back({ratio_text(pair.speed()) + no_break + "×", "queries per second, " + where,
                             pair.ours->filter + " against " + rival});
        if (std::isfinite(pair.ours->queries_per_second))
            facts.push_back({rounded_text(pair.ours->queries_per_second),
                             "queries per second of " + pair.ours->filter + ", " + where,
                             rival + ": " + rounded_text(pair.rival->queries_per_second)});
        if (std::isfinite(pair.ours->wasted_share))
            facts.push_back({share_text(pair.ours->wasted_share), "of absent queries cost a read, " + where,
                             rival + ": " + share_text(pair.rival->wasted_share)});
        if (std::isfinite(pair.ours->bits_per_key))
            facts.push_back({fixed_text(pair.ours->bits_per_key, 2), "bits per key, " + pair.ours->filter,
                             rival + ": " + fixed_text(pair.rival->bits_per_key, 2)});
    }
    if (const double lies = all_false_negatives(run); std::isfinite(lies))
        facts.push_back({rounded_text(lies), "false negatives", "all filters, all phases", lies > 0});
    return facts;
}

}  // namespace genista::lab::report
