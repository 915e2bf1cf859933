// genista lab trace: what a trace holds, and how its lines become keys. It shows whether a table is
// read as intended.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "json_target.hpp"
#include "lab/workloads/csv.hpp"
#include "lab/workloads/data.hpp"
#include "lab/workloads/lines.hpp"
#include "options.hpp"
#include "table.hpp"

namespace genista::tool {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t keys_shown = 3;

struct trace_request {
    std::vector<std::string> paths;
    lab::run_options options;
    std::string json_path;
};

std::string percent(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

std::vector<std::string> first_keys(const lab::trace& of) {
    std::vector<std::string> keys;
    for (std::uint32_t i = 0; i < std::min(of.keys.size(), keys_shown); ++i) keys.emplace_back(of.keys[i]);
    return keys;
}

json to_json(const std::string& path, const lab::trace& read) {
    const lab::trace_facts facts = lab::facts_of(read);
    return {{"file", path},
            {"name", read.name},
            {"is_network", read.is_network},
            {"accesses", facts.accesses},
            {"keys", facts.keys},
            {"top_percent_share", facts.top_percent_share},
            {"repeat_share", facts.repeat_share},
            {"seen_once_share", facts.seen_once_share},
            {"most_frequent_share", facts.most_frequent_share},
            {"first_keys", first_keys(read)}};
}

exit_status describe(const trace_request& asked) {
    std::vector<named_path> files;
    for (const std::string& path : asked.paths) files.push_back({"FILE", path});
    if (const auto apart = check_apart(files, {{"--json", asked.json_path}}); !apart)
        return complain(exit_status::bad_input, apart.error().message());
    table page{{{"trace"},
                {"accesses", align::right},
                {"keys", align::right},
                {"top 1 %", align::right},
                {"repeats", align::right},
                {"seen once", align::right},
                {"first keys", align::left, 60}}};
    json rows = json::array();
    for (const std::string& path : asked.paths) {
        lab::run_options options = asked.options;
        options.trace_path = path;
        const auto read = lab::read_own_trace(options);
        if (!read) return complain(status_of(read.error().code()), read.error().message());
        const lab::trace_facts facts = lab::facts_of(*read);
        std::string keys;
        for (const std::string& key : first_keys(*read))
            keys.append(keys.empty() ? "" : " | ").append(lab::shown_text(key));
        page.add_row({read->name, grouped(facts.accesses), grouped(facts.keys), percent(facts.top_percent_share),
                      percent(facts.repeat_share), percent(facts.seen_once_share), keys});
        rows.push_back(to_json(path, *read));
    }
    if (!owns_stdout(asked.json_path)) fmt::print("{}", page.text());
    if (!asked.json_path.empty()) {
        const result<void> written = write_json(asked.json_path, json{{"traces", rows}});
        if (!written) return complain(exit_status::failed, written.error().message());
    }
    return exit_status::ok;
}

// CLI11 takes a refusal as an exception; it never leaves the parser.
void refuse_bad(const std::string& option, const lab::csv_choice& chosen) {
    if (const auto good = lab::check(chosen); !good) {
        throw CLI::ValidationError{option, std::string{good.error().message()}};
    }
}

}  // namespace

CLI::Option* add_column_choice(CLI::App& app, lab::run_options& into) {
    const auto take_columns = [&into](const std::string& text) {
        refuse_bad("--columns", {.columns = text, .separator = {}});
        into.columns = text;
    };
    const auto take_separator = [&into](const std::string& text) {
        refuse_bad("--separator", {.columns = "1", .separator = text});
        into.separator = text;
    };
    CLI::Option* const columns =
        app.add_option_function<std::string>(
               "--columns", take_columns,
               "the file is CSV, and its key is these columns: numbers from 1, or names of the first row")
            ->type_name("A,B,..");
    app.add_option_function<std::string>(
           "--separator", take_separator,
           "between columns: , or ; or tab; without it the one most frequent in the first row")
        ->type_name("C")
        ->needs(columns);
    return columns;
}

command add_lab_trace_command(CLI::App& lab_app) {
    const auto asked = std::make_shared<trace_request>();
    CLI::App& app = *lab_app.add_subcommand("trace", "print what a trace holds and how its lines become keys");
    app.footer(
        "A trace has one key a line, or is CSV with --columns (quoted as in RFC 4180); plain or gzip. Empty lines are\n"
        "left out. A row without a chosen column, an open quote and truncated gzip data are errors: no trace is used "
        "in\n"
        "part.\n"
        "Columns: accesses: rows; keys: distinct ones; top 1 %: accesses to the most frequent 1 % of the keys; "
        "repeats:\n"
        "accesses to a key seen before; seen once: keys with one access.\n"
        "Exit status: 0 done, 1 the JSON could not be written, 2 a file that is not a complete trace.\n"
        "Example:\n  genista lab trace connections.csv.gz --columns src,dst,dport");
    app.add_option("FILE", asked->paths, "traces; - is stdin")->required();
    add_column_choice(app, asked->options);
    add_json_target(app, asked->json_path);
    return {&app, [asked] { return describe(*asked); }};
}

}  // namespace genista::tool
