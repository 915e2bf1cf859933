// genista lab: the papers' promises as experiments. `list` names them, `run` measures them and
// judges. `matrix` (matrix_command.cpp) plays every adversary against every filter, `report`
// (report_command.cpp) makes one page of everything, `trace` (trace_command.cpp) shows what a trace
// holds.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "json_target.hpp"
#include "lab/experiment.hpp"
#include "lab/report/report_page.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "scratch.hpp"
#include "table.hpp"

namespace genista::tool {
namespace {

using json = nlohmann::ordered_json;

struct run_request {
    std::vector<std::string> ids;
    lab::run_options options;
    std::string json_path;
    std::string report_path;
};

std::vector<std::string> experiment_ids() {
    std::vector<std::string> ids;
    for (const lab::experiment& each : lab::all_experiments()) {
        if (each.is_built()) ids.emplace_back(each.id);
    }
    return ids;
}

std::string_view state_of(const lab::experiment& each) {
    return each.is_built() ? "available" : "not built yet";
}

exit_status list_experiments(bool as_json) {
    if (as_json) {
        json rows = json::array();
        for (const lab::experiment& each : lab::all_experiments()) {
            rows.push_back(
                {{"id", each.id}, {"promise", each.promise}, {"where", each.where}, {"state", state_of(each)}});
        }
        const result<void> written = write_json("-", json{{"experiments", rows}});
        return written ? exit_status::ok : complain(exit_status::failed, written.error().message());
    }
    table page{{{"id"}, {"promise", align::left, 56}, {"where", align::left, 20}, {"state"}}};
    for (const lab::experiment& each : lab::all_experiments()) {
        page.add_row(
            {std::string{each.id}, std::string{each.promise}, std::string{each.where}, std::string{state_of(each)}});
    }
    fmt::print("{}", page.text());
    return exit_status::ok;
}

void print_labelled(std::string_view label, const std::string& text) {
    constexpr std::size_t indent = 12;
    for (const std::string& line : wrap(text, page_width - indent)) {
        fmt::print("  {:<{}}{}\n", label, indent - 2, line);
        label = "";
    }
}

// JSON as one line to read: {"a":1,"b":[2,3]} -> a: 1, b: (2, 3)
std::string prose(const nlohmann::json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_structured()) return value.dump();
    std::string line;
    for (const auto& [key, inner] : value.items()) {
        if (!line.empty()) line += ", ";
        if (value.is_object()) line += key + ": ";
        line += inner.is_structured() ? fmt::format("({})", prose(inner)) : prose(inner);
    }
    return line;
}

void print_outcome(std::string_view id, const lab::outcome& made) {
    fmt::print("{}: {}\n", id, made.kept ? "kept" : "BROKEN");
    print_labelled("promised", made.promised);
    print_labelled("measured", made.measured);
    if (!made.control.is_null()) print_labelled("control", prose(made.control));
    std::fflush(stdout);  // the next one may take minutes, and stdout may be a pipe
}

json outcome_json(std::string_view id, const lab::outcome& made) {
    const auto object = [](const nlohmann::json& value) { return value.is_null() ? json::object() : json(value); };
    return {{"id", id},
            {"promised", made.promised},
            {"measured", made.measured},
            {"kept", made.kept},
            {"control", object(made.control)},
            {"parameters", object(made.parameters)},
            {"series", json(made.series)}};
}

// During its lifetime an experiment writes its files to a folder that Ctrl-C removes too. If no
// folder can be created, an experiment that needs one reports it.
class own_temporary_folder {
  public:
    own_temporary_folder() {
        if (const char* const given = std::getenv("TMPDIR"); given != nullptr) before_ = given;
        if (room_.make()) ::setenv("TMPDIR", room_.path().c_str(), 1);
    }
    own_temporary_folder(const own_temporary_folder&) = delete;
    own_temporary_folder& operator=(const own_temporary_folder&) = delete;
    ~own_temporary_folder() {
        if (before_)
            ::setenv("TMPDIR", before_->c_str(), 1);
        else
            ::unsetenv("TMPDIR");
    }

  private:
    scratch room_;
    std::optional<std::string> before_;
};

result<lab::outcome> run_one(const lab::experiment& what, lab::run_options options, double done, double all) {
    const own_temporary_folder temporary;
    progress bar{std::string{what.id}};
    options.progress = [&bar, done, all](double share) { bar.update((done + share) / all); };
    options.progress(0);
    return what.run(options);
}

exit_status run_experiments(const run_request& asked) {
    std::vector<const lab::experiment*> chosen;
    for (const std::string& id : asked.ids) {
        chosen.push_back(lab::find_experiment(id));
        if (chosen.back() != nullptr) continue;
        return complain(exit_status::bad_input, unknown_name(id, "experiment", experiment_ids()));
    }
    for (const lab::experiment* each : chosen) {
        const auto fitting = lab::refuse_traces(*each, asked.options);
        if (!fitting) return complain(exit_status::bad_input, fitting.error().message());
    }
    const auto apart = check_apart({{"--trace", asked.options.trace_path}},
                                   {{"--json", asked.json_path}, {"--report", asked.report_path}});
    if (!apart) return complain(exit_status::bad_input, apart.error().message());
    json rows = json::array();
    std::vector<lab::report::named_outcome> outcomes;
    bool all_kept = true;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const auto made =
            run_one(*chosen[i], asked.options, static_cast<double>(i), static_cast<double>(chosen.size()));
        if (!made) {
            return complain(status_of(made.error().code()),
                            fmt::format("{}: {}", chosen[i]->id, made.error().message()));
        }
        all_kept = all_kept && made->kept;
        if (!owns_stdout(asked.json_path)) print_outcome(chosen[i]->id, *made);
        rows.push_back(outcome_json(chosen[i]->id, *made));
        outcomes.push_back({std::string{chosen[i]->id}, *made});
    }
    exit_status status = all_kept ? exit_status::ok : exit_status::failed;
    if (!asked.report_path.empty()) {
        const auto page = lab::report::lab_page(outcomes, json{{"experiments", rows}});
        const result<void> written = lab::report::write_html(asked.report_path, page);
        if (!written)
            status = complain(exit_status::failed, written.error().message());
        else if (!owns_stdout(asked.json_path))
            fmt::print("{}", where_the_report_is(asked.report_path));
    }
    if (!asked.json_path.empty()) {
        const result<void> written = write_json(asked.json_path, json{{"experiments", rows}});
        if (!written) status = complain(exit_status::failed, written.error().message());
    }
    return status;
}

command add_list(CLI::App& lab_app) {
    const auto as_json = std::make_shared<bool>(false);
    CLI::App& app =
        *lab_app.add_subcommand("list", "list the promises of the papers, and which of them have an experiment");
    app.footer("Example:\n  genista lab list");
    app.add_flag("--json", *as_json, "print JSON instead of a table");
    return {&app, [as_json] { return list_experiments(*as_json); }};
}

command add_run(CLI::App& lab_app) {
    const auto asked = std::make_shared<run_request>();
    CLI::App& app =
        *lab_app.add_subcommand("run", "run experiments and print the measured value beside the promised one");
    app.footer(
        "Traces: those of --data DIR, else of the folder in GENISTA_DATA, else of ../shared/data, else generated "
        "ones.\n"
        "An experiment that replays no trace refuses one. genista lab trace shows how a file is read.\n"
        "Exit status: 0 every promise kept, 1 one broken, 2 an unknown experiment or filter, or an incomplete trace.\n"
        "Example:\n  genista lab run broom-words ppr-reduction --quick --json -\n"
        "  genista lab run acf-figures --trace flows.csv --columns src,dst,sport,dport --report figures.html");
    app.add_option("ID", asked->ids, "experiments, by the names of genista lab list")->required();
    app.add_option("--filter", asked->options.filter, "filter to test instead of the one that the promise is about")
        ->type_name("NAME");
    app.add_flag("--quick", asked->options.quick, "smaller sizes, the same judgement");
    add_count(app, "--seed", asked->options.seed, {}, "source of all randomness");
    CLI::Option* const data =
        app.add_option("--data", asked->options.data_directory, "folder with traces/*.keys.gz to replay")
            ->type_name("DIR");
    CLI::Option* const trace =
        app.add_option("--trace", asked->options.trace_path,
                       "trace to replay: one key a line, or CSV with --columns; plain or gzip; - is stdin")
            ->type_name("FILE")
            ->excludes(data);
    add_column_choice(app, asked->options)->needs(trace);
    add_json_target(app, asked->json_path);
    add_report_target(app, asked->report_path);
    return {&app, [asked] { return run_experiments(*asked); }};
}

}  // namespace

std::vector<command> add_lab_commands(CLI::App& root) {
    CLI::App& app = *root.add_subcommand(lab_command_name, lab_command_help);
    app.require_subcommand(0, 1);
    app.footer("Example:\n  genista lab run broom-words --quick\n  genista lab report --quick --html lab.html");
    return {add_list(app), add_run(app), add_lab_matrix_command(app), add_lab_report_command(app),
            add_lab_trace_command(app)};
}

}  // namespace genista::tool
