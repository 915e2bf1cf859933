// genista lab matrix: every adversary of the lab against every filter, as a table, JSON or HTML.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "genista/version.hpp"
#include "json_target.hpp"
#include "lab/adversaries/adversary.hpp"
#include "lab/games/attack_matrix.hpp"
#include "lab/games/contenders.hpp"
#include "lab/report/report_page.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report/parts.hpp"
#include "table.hpp"

namespace genista::tool {
namespace {

struct matrix_request {
    lab::matrix_options options;
    std::string json_path;
    std::string html_path;
};

std::vector<std::string> adversary_names() {
    std::vector<std::string> names;
    for (const lab::adversary& each : lab::all_adversaries()) names.emplace_back(each.name);
    return names;
}

// Empty if all are known, else the error.
std::string first_wrong(const std::vector<std::string>& asked, const std::vector<std::string>& known,
                        std::string_view kind) {
    for (const std::string& name : asked) {
        if (std::ranges::find(known, name) == known.end())
            return unknown_name(name, fmt::format("{} of the matrix", kind), known);
        if (std::ranges::count(asked, name) > 1) return named_twice(name);
    }
    return {};
}

std::string shown(const lab::matrix_cell& cell) {
    switch (cell.said) {
        case lab::verdict::cannot_play:
            return "-";
        case lab::verdict::denies:
            return "DENIES";
        case lab::verdict::loses:
        case lab::verdict::holds:
            break;
    }
    const double percent = 100 * cell.rate();
    const std::string rate = percent >= 9.95 ? fmt::format("{:.0f}", percent) : fmt::format("{:.2f}", percent);
    return cell.said == lab::verdict::loses ? rate + "!" : rate;
}

void print_matrix(const std::vector<lab::matrix_cell>& cells) {
    const lab::report::heat_map map = lab::report::matrix_figure(cells);
    std::vector<table::column> columns{{"adversary"}};
    for (const std::string& filter : map.columns) columns.push_back({filter, align::right});
    table page{std::move(columns)};
    for (std::size_t row = 0; row < map.rows.size(); ++row) {
        std::vector<std::string> line{map.rows[row].name};
        for (std::size_t i = 0; i < map.columns.size(); ++i) line.push_back(shown(cells[row * map.columns.size() + i]));
        page.add_row(std::move(line));
    }
    fmt::print(
        "{}\nPercentage of an adversary's claims that were right, or of all its queries if it made none. The "
        "filters promise 0.39.\n! loses: more than chance explains at that rate.  - does not apply.\n\n",
        page.text());
    for (const lab::report::filter_record& each : lab::report::records_of(cells)) {
        fmt::print("{}: {}{}\n", each.filter,
                   each.lost_to.empty() ? "loses to no adversary"
                                        : fmt::format("loses to {} of {}, worst {} ({:.0f} %)", each.lost_to.size(),
                                                      map.rows.size(), each.worst->adversary, 100 * each.worst->rate()),
                   each.denied.empty() ? "" : "; DENIES STORED KEYS against " + lab::report::listed(each.denied));
    }
}

lab::report::page page_of(const matrix_request& asked, const std::vector<lab::matrix_cell>& cells) {
    lab::report::report_content content;
    content.matrix = cells;
    content.run = facts_of_this_run("genista lab matrix", program_digest(), asked.options.seed, asked.options.quick);
    return lab::report::matrix_page(content);
}

exit_status play(const matrix_request& asked) {
    for (const std::string& problem : {first_wrong(asked.options.adversaries, adversary_names(), "adversary"),
                                       first_wrong(asked.options.filters, lab::all_contenders(), "filter")}) {
        if (!problem.empty()) return complain(exit_status::bad_input, problem);
    }
    if (const auto apart = check_apart({}, {{"--json", asked.json_path}, {"--html", asked.html_path}}); !apart)
        return complain(exit_status::bad_input, apart.error().message());
    result<std::vector<lab::matrix_cell>> cells = [&] {
        progress bar{"attack matrix"};
        lab::matrix_options options = asked.options;
        options.progress = [&](double share) { bar.update(share); };
        return lab::play_matrix(options);
    }();
    if (!cells) return complain(status_of(cells.error().code()), cells.error().message());
    if (!owns_stdout(asked.json_path)) print_matrix(*cells);
    if (!asked.html_path.empty()) {
        const result<void> written = lab::report::write_html(asked.html_path, page_of(asked, *cells));
        if (!written) return complain(exit_status::failed, written.error().message());
        if (!owns_stdout(asked.json_path)) fmt::print("\n{}", where_the_report_is(asked.html_path));
    }
    if (!asked.json_path.empty()) {
        const nlohmann::ordered_json document{
            {"seed", asked.options.seed}, {"quick", asked.options.quick}, {"matrix", to_json(*cells)}};
        const result<void> written = write_json(asked.json_path, document);
        if (!written) return complain(exit_status::failed, written.error().message());
    }
    std::uint64_t denied = 0;
    for (const lab::matrix_cell& each : *cells) denied += each.seen.false_negatives;
    if (denied == 0) return exit_status::ok;
    return complain(exit_status::failed,
                    fmt::format("{} times a stored key was denied, which must never happen", denied));
}

}  // namespace

lab::report::run_facts facts_of_this_run(std::string command_line, std::string build, std::uint64_t seed, bool quick) {
    const machine_facts machine = this_machine();
    return {.command = std::move(command_line),
            .version = std::string{library_version()},
            .build = std::move(build),
            .seed = seed,
            .quick = quick,
            .cpu = machine.cpu,
            .cores = machine.cores,
            .instruction_set = machine.isa,
            .compiler = machine.compiler};
}

command add_lab_matrix_command(CLI::App& lab_app) {
    const auto asked = std::make_shared<matrix_request>();
    CLI::App& app = *lab_app.add_subcommand("matrix", "play every adversary against every filter");
    app.footer(
        "A filter that holds has not lost to this adversary within this effort. A loss is not a failure of the run.\n"
        "Exit status: 0 done, 1 a stored key was denied, 2 an unknown adversary or filter.\n"
        "Example:\n  genista lab matrix --quick --html matrix.html\n"
        "  genista lab matrix --filters broom,bloom --adversaries repeat-one,swap --json -");
    app.add_flag("--quick", asked->options.quick, "less effort for each attack, judged by the same rule");
    add_count(app, "--seed", asked->options.seed, {}, "source of all randomness");
    app.add_option("--filters", asked->options.filters, "only these; all are " + lab::contender_names())
        ->delimiter(',')
        ->type_name("NAME,...");
    app.add_option("--adversaries", asked->options.adversaries,
                   fmt::format("only these; all are {}", fmt::join(adversary_names(), ", ")))
        ->delimiter(',')
        ->type_name("NAME,...");
    add_json_target(app, asked->json_path);
    add_report_target(app, asked->html_path, "--html");
    return {&app, [asked] { return play(*asked); }};
}

}  // namespace genista::tool
