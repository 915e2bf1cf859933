// From records, outcomes and cells to sections. See report_page.hpp.
#include "lab/report/report_page.hpp"

#include <algorithm>
#include <utility>

#include "lab/report/text.hpp"

namespace genista::lab::report {
namespace {

const experiment_record* find_record(const report_content& content, std::string_view id) {
    const auto found = std::ranges::find(content.experiments, id, &experiment_record::id);
    return found == content.experiments.end() ? nullptr : &*found;
}

std::string state_of(const experiment& each, const experiment_record* ran) {
    if (ran == nullptr) return each.is_built() ? "not run" : "not built yet";
    if (!ran->failure.empty()) return "FAILED";
    return ran->made.kept ? "kept" : "BROKEN";
}

struct promise_counts {
    std::size_t kept = 0, broken = 0, failed = 0, not_run = 0, not_built = 0;
};

promise_counts count_promises(const report_content& content) {
    promise_counts all;
    for (const experiment& each : all_experiments()) {
        const std::string state = state_of(each, find_record(content, each.id));
        ++(state == "kept"            ? all.kept
           : state == "BROKEN"        ? all.broken
           : state == "FAILED"        ? all.failed
           : state == "not built yet" ? all.not_built
                                      : all.not_run);
    }
    return all;
}

std::uint64_t denied(const report_content& content) {
    std::uint64_t all = 0;
    for (const matrix_cell& each : content.matrix) all += each.seen.false_negatives;
    return all;
}

std::size_t adversaries_in(const report_content& content) {
    std::vector<std::string> names;
    for (const matrix_cell& each : content.matrix) {
        if (std::ranges::find(names, each.adversary) == names.end()) names.push_back(each.adversary);
    }
    return names.size();
}

std::string count_of(std::size_t number, const std::string& one, const std::string& many) {
    return count_text(number) + " " + (number == 1 ? one : many);
}

std::string finding(const report_content& content) {
    if (content.matrix.empty()) return {};
    std::vector<std::string> unbeaten, beaten;
    for (const filter_record& each : records_of(content.matrix)) {
        (each.unbeaten() ? unbeaten : beaten).push_back(each.filter);
    }
    const std::string all = count_of(adversaries_in(content), "adversary", "adversaries");
    std::string text;
    if (unbeaten.empty()) {
        text = "No filter withstood all " + all + " of the lab.";
    } else {
        text = "Of " + all + " none beat " + listed(unbeaten) + ".";
        if (!beaten.empty()) text += beaten.size() == 1 ? " " + beaten.front() + " lost." : " The others lost to some.";
    }
    return text;
}

std::string lead(const report_content& content, const promise_counts& all) {
    std::string text = finding(content);
    if (!text.empty()) text += "\n\n";
    text += count_of(all.kept, "promise was", "promises were") + " measured and kept";
    if (all.broken > 0) text += ", " + count_text(all.broken) + " broken";
    if (all.failed > 0) text += ", " + count_text(all.failed) + " could not be measured";
    text += ". ";
    if (all.not_run > 0) text += count_of(all.not_run, "was", "were") + " not run. ";
    if (all.not_built > 0) text += count_of(all.not_built, "is", "are") + " not built yet.";
    if (content.run.quick)
        text +=
            "\n\nA quick run: smaller sizes, the same limits. The full run makes far more queries and detects smaller "
            "defects.";
    return text;
}

std::string warning(const report_content& content, const promise_counts& all) {
    std::string text;
    if (const std::uint64_t times = denied(content); times > 0) {
        text += "A STORED KEY WAS DENIED, " + count_text(times) +
                " times. A filter must never do that: see the framed cells of the matrix.\n\n";
    }
    if (all.broken > 0) text += "A promise is broken: see the table of promises.\n\n";
    if (all.failed > 0) text += "An experiment failed before it could judge: see the table of promises.";
    return text;
}

section matrix_section(const report_content& content) {
    section out{
        "Which filter withstands which adversary",
        "Every adversary of the lab plays the adaptivity game against every filter: it chooses all queries, inserts "
        "and erases, sees all answers and their costs, and knows everything but the filter's memory and "
        "its secret hash key. Filters that learn repair their false positives. A filter that cannot "
        "erase keeps its keys: for it, erased keys are false positives.\n\n"
        "A filter that holds has not lost to this adversary within this effort. This is not "
        "a proof.",
        {}};
    out.figures.emplace_back(trust_table(content.matrix));
    out.figures.emplace_back(matrix_figure(content.matrix));
    out.figures.emplace_back(record_table(content.matrix));
    return out;
}

// Promises that were measured, and separately those that were not.
section promise_section(const report_content& content) {
    table measured{"Promised and measured",
                   {{"promise"}, {"state"}, {"promised", false, true}, {"measured", false, true}, {"where"}},
                   {}};
    table others{"Not measured here", {{"promise"}, {"state"}, {"promised", false, true}, {"where"}}, {}};
    for (const experiment& each : all_experiments()) {
        const experiment_record* const ran = find_record(content, each.id);
        std::vector<std::string> row{std::string{each.id}, state_of(each, ran), std::string{each.promise},
                                     std::string{each.where}};
        if (ran == nullptr) {
            others.rows.push_back(std::move(row));
        } else {
            row.insert(row.begin() + 3, ran->failure.empty() ? ran->made.measured : ran->failure);
            measured.rows.push_back(std::move(row));
        }
    }
    section out{
        "The promises",
        "The promises of the papers and our own, with what an experiment measured. Each has a control, which must "
        "fail the same measurement: a promise counts as kept only if its control failed.",
        {}};
    if (!measured.rows.empty()) out.figures.emplace_back(std::move(measured));
    if (!others.rows.empty()) out.figures.emplace_back(std::move(others));
    return out;
}

section method_section(const report_content& content) {
    const run_facts& run = content.run;
    section out{"How it was run", "", {}};
    std::string commands = run.command;
    const std::string options = (run.quick ? " --quick" : "") + std::string{" --seed "} + std::to_string(run.seed);
    commands +=
        "\n\n# one promise alone, or the matrix\ngenista lab run ID" + options + "\ngenista lab matrix" + options;
    out.figures.emplace_back(code_block{"Commands", std::move(commands)});
    out.figures.emplace_back(table{"Program and machine",
                                   {{"what"}, {"value"}},
                                   {{"genista", run.version},
                                    {"build", run.build},
                                    {"mode", run.quick ? "quick" : "full"},
                                    {"seed", std::to_string(run.seed)},
                                    {"processor", run.cpu},
                                    {"cores", std::to_string(run.cores)},
                                    {"instruction set", run.instruction_set},
                                    {"compiler", run.compiler}}});
    table times{"Durations", {{"what"}, {"took", true}}, {}};
    for (const experiment_record& each : content.experiments)
        times.rows.push_back({each.id, duration_text(each.seconds)});
    if (!content.matrix.empty()) times.rows.push_back({"attack matrix", duration_text(content.matrix_seconds)});
    out.figures.emplace_back(std::move(times));
    return out;
}

std::vector<fact> facts_of(const report_content& content, const promise_counts& all) {
    std::vector<fact> facts;
    facts.push_back({count_text(all.kept) + " of " + count_text(all.kept + all.broken + all.failed), "promises kept",
                     "of those that were run", all.broken + all.failed > 0});
    if (content.matrix.empty()) return facts;
    std::uint64_t asked = 0;
    for (const matrix_cell& each : content.matrix) asked += each.seen.negatives;
    const auto records = records_of(content.matrix);
    const auto unbeaten = std::ranges::count_if(records, [](const filter_record& each) { return each.unbeaten(); });
    facts.push_back({count_text(static_cast<std::uint64_t>(unbeaten)) + " of " + count_text(records.size()),
                     "filters unbeaten", "by " + count_of(adversaries_in(content), "adversary", "adversaries"), false});
    facts.push_back(
        {count_text(denied(content)), "stored keys denied", "in the whole matrix; must be 0", denied(content) > 0});
    facts.push_back({amount_text(static_cast<double>(asked) / 1e6) + no_break + "M", "queries of absent keys",
                     "by adversaries", false});
    return facts;
}

nlohmann::ordered_json record_json(const experiment_record& each) {
    if (!each.failure.empty()) return {{"id", each.id}, {"failure", each.failure}, {"seconds", each.seconds}};
    return {{"id", each.id},
            {"promised", each.made.promised},
            {"measured", each.made.measured},
            {"kept", each.made.kept},
            {"control", nlohmann::ordered_json(each.made.control)},
            {"parameters", nlohmann::ordered_json(each.made.parameters)},
            {"series", nlohmann::ordered_json(each.made.series)},
            {"seconds", each.seconds}};
}

}  // namespace

std::string duration_text(double seconds) {
    if (!(seconds >= 0)) return std::string{not_measured};
    if (seconds < 9.95) return fixed_text(seconds, 1) + no_break + "s";
    if (seconds < 119.5) return fixed_text(seconds, 0) + no_break + "s";
    if (seconds < 119.5 * 60) return fixed_text(seconds / 60, 0) + no_break + "min";
    return fixed_text(seconds / 3600, 1) + no_break + "h";
}

bool all_is_well(const report_content& content) noexcept {
    return std::ranges::all_of(content.experiments,
                               [](const experiment_record& each) { return each.failure.empty() && each.made.kept; }) &&
           std::ranges::all_of(content.matrix, [](const matrix_cell& each) { return each.seen.false_negatives == 0; });
}

nlohmann::ordered_json report_json(const report_content& content) {
    const run_facts& run = content.run;
    nlohmann::ordered_json experiments = nlohmann::ordered_json::array();
    for (const experiment_record& each : content.experiments) experiments.push_back(record_json(each));
    return {
        {"command", run.command},
        {"version", run.version},
        {"build", run.build},
        {"seed", run.seed},
        {"quick", run.quick},
        {"machine", {{"cpu", run.cpu}, {"cores", run.cores}, {"isa", run.instruction_set}, {"compiler", run.compiler}}},
        {"experiments", std::move(experiments)},
        {"matrix", to_json(content.matrix)},
        {"matrix_seconds", content.matrix_seconds}};
}

page report_page(const report_content& content) {
    const promise_counts all = count_promises(content);
    page made;
    made.title = "Genista lab report";
    made.lead = lead(content, all);
    made.warning = warning(content, all);
    made.highlight = "cuckooing";
    made.facts = facts_of(content, all);
    if (!content.matrix.empty()) made.sections.push_back(matrix_section(content));
    made.sections.push_back(promise_section(content));
    for (const experiment_record& each : content.experiments) {
        for (section figures : each.made.figures) {
            figures.heading = each.id + ": " + figures.heading;
            made.sections.push_back(std::move(figures));
        }
    }
    made.sections.push_back(method_section(content));
    made.data = report_json(content);
    return made;
}

page matrix_page(const report_content& content) {
    page made;
    made.title = "Genista attack matrix";
    made.lead = finding(content);
    made.warning = warning(content, {});
    made.facts = facts_of(content, {});
    made.facts.erase(made.facts.begin());  // of promises
    made.sections.push_back(matrix_section(content));
    made.sections.push_back(method_section(content));
    made.data = report_json(content);
    return made;
}

page lab_page(std::span<const named_outcome> outcomes, nlohmann::ordered_json data) {
    page made;
    made.title = outcomes.size() == 1 ? outcomes.front().id : "Promises and measurements";
    made.highlight = "cuckooing";
    const auto kept = std::count_if(outcomes.begin(), outcomes.end(), [](const auto& each) { return each.made.kept; });
    made.lead = std::to_string(kept)
                    .append(" of ")
                    .append(std::to_string(outcomes.size()))
                    .append(outcomes.size() == 1 ? " promise" : " promises")
                    .append(" kept.");
    if (static_cast<std::size_t>(kept) != outcomes.size()) made.warning = "A promise is broken.";
    for (const auto& [id, each] : outcomes) {
        made.sections.push_back({std::string{id}.append(each.kept ? ": kept" : ": BROKEN"),
                                 std::string{"Promised: "}
                                     .append(each.promised)
                                     .append(".\n\nMeasured: ")
                                     .append(each.measured)
                                     .append("."),
                                 {}});
        for (section figures : each.figures) {
            figures.heading = std::string{id}.append(": ").append(figures.heading);
            made.sections.push_back(std::move(figures));
        }
    }
    made.data = std::move(data);
    return made;
}

}  // namespace genista::lab::report
