// genista daisy train: makes a model of two logs or of two tables of probabilities, and prints what
// a filter gains by it on draws that were not used for training.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "daisy/commands.hpp"
#include "genista/oracles/oracle_model.hpp"
#include "json_target.hpp"
#include "lab/workloads/key_file.hpp"
#include "lab/workloads/key_list.hpp"
#include "lab/workloads/odds_file.hpp"
#include "names.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "table.hpp"

namespace genista::tool {
namespace {

using json = nlohmann::ordered_json;

struct train_request {
    std::string stored_path, asked_path;  // logs, or tables of probabilities
    bool are_odds = false;
    std::string model_path, json_path;
    training_options training;
    score_choice chosen{};          // filled in by training
    double asked_for_inserted = 0;  // likewise: the share of the queries whose key is in the log of inserts

    // Of the filter that the figures are for; 0: unknown, because probabilities do not say how
    // often is drawn.
    [[nodiscard]] std::uint64_t keys(const oracle_model& model) const {
        return are_odds ? training.keys : model.origin().insert_draws;
    }
};

constexpr std::array rates = {0x1p-6, 0x1p-8, 0x1p-10};

// What a filter would need, by the profile.
struct worth {
    double rate = 0;
    daisy_plan plan{};
    double tuned_parameter = 0;  // 0: none reaches the rate
};

result<std::vector<worth>> worth_of(const oracle_model& model, std::uint64_t keys) {
    std::vector<worth> rows;
    if (keys == 0) return rows;
    for (const double rate : rates) {
        const daisy_terms terms{static_cast<double>(keys), rate};
        const auto plan = model.profile().plan(terms);
        if (!plan) return plan.error();
        const auto tuned = model.profile().plan_tuned(terms);
        rows.push_back({rate, *plan, tuned ? tuned->terms.rate : 0});
    }
    return rows;
}

json worth_json(const worth& of) {
    const daisy_plan& plan = of.plan;
    const double draws = plan.terms.draws;
    return {{"rate", of.rate},
            {"plain_bits_a_key", -std::log2(of.rate)},
            {"lower_bound_bits_a_key", plan.lower_bound_bits() / draws},
            {"whole_bits_a_key", plan.whole_bits() / draws},
            {"kept_share", plan.kept_draws() / draws},
            {"queries_in_class_0", plan.asked_share[0]},
            {"expected_rate", plan.expected_rate()},
            {"tuned_parameter", of.tuned_parameter == 0 ? json(nullptr) : json(of.tuned_parameter)},
            {"overlap", plan.overlap},
            {"keeps_condition", plan.keeps_condition()}};
}

json to_json(const train_request& asked, const oracle_model& model, std::uint64_t file_bytes,
             const std::vector<worth>& rows) {
    json plans = json::array();
    for (const worth& each : rows) plans.push_back(worth_json(each));
    json document = {{"model", asked.model_path},
                     {"oracle", model.oracle()->name()},
                     {"oracle_bytes", model.oracle()->memory_bytes()},
                     {"file_bytes", file_bytes},
                     {"insert_draws", model.origin().insert_draws},
                     {"query_draws", model.origin().query_draws},
                     {"held_out", model.origin().is_held_out},
                     {"queries_for_inserted_keys", asked.are_odds ? json(nullptr) : json(asked.asked_for_inserted)},
                     {"profile_stored_draws", model.profile().stored_draws()},
                     {"profile_asked_draws", model.profile().asked_draws()},
                     {"seed", asked.training.seed}};
    if (const auto* score = model.oracle()->as<score_oracle>(); score != nullptr) {
        document["score"] = {{"weights", score->weights()},
                             {"longest_ngram", score->longest_ngram()},
                             {"bins", score->bins()},
                             {"divergence_bits", score->divergence_bits()},
                             {"chosen_by_held_out_keys", asked.chosen.is_judged},
                             {"step", asked.chosen.settings.step},
                             {"shrinkage", asked.chosen.settings.shrinkage},
                             {"epochs", asked.chosen.settings.epochs},
                             {"clipped_of_1024", asked.chosen.settings.clipped}};
    }
    document["plans"] = plans;
    return document;
}

std::string settings_text(const train_request& asked, const score_oracle& score) {
    const score_settings& with = asked.chosen.settings;
    return fmt::format("settings: {} weights, n-grams of up to {} bytes, step {:g}, shrinkage {:g}, {} epochs, {}\n",
                       grouped(score.weights()), with.longest_ngram, with.step, with.shrinkage, with.epochs,
                       asked.chosen.is_judged ? "chosen by other keys" : "the usual ones: too few keys to choose by");
}

// A model that never saw a key takes it for one of 2^64, so that its n sum pq is small whatever the
// logs are. The logs show it.
std::string overlap_text(const train_request& asked) {
    if (asked.are_odds || asked.asked_for_inserted <= rates.back()) return {};
    return fmt::format(
        "\n{:.3g} % of the queries are for keys of the insert log. Where that is more than the rate, n sum pq is "
        "larger "
        "than the model says: the proofs do not hold there, and filters only promise no false negatives\n",
        100 * asked.asked_for_inserted);
}

std::string to_text(const train_request& asked, const oracle_model& model, const std::vector<worth>& rows) {
    const model_origin& origin = model.origin();
    std::string page = fmt::format("{}: oracle {}, {} bytes beside a filter\n", asked.model_path,
                                   model.oracle()->name(), grouped(model.oracle()->memory_bytes()));
    const std::string stored = grouped(model.profile().stored_draws()),
                      queried = grouped(model.profile().asked_draws());
    if (asked.are_odds) {
        page += fmt::format("probabilities of {} keys; {} and {} draws by them are its profile\n",
                            grouped(origin.insert_draws), stored, queried);
    } else {
        page +=
            fmt::format("logs: {} inserts, {} queries; the figures below are of {} and {} of them, {}\n",
                        grouped(origin.insert_draws), grouped(origin.query_draws), stored, queried,
                        origin.is_held_out ? "held out of the training"
                                           : "the same that it was trained on: too few to hold any out, so too kind");
    }
    if (const auto* score = model.oracle()->as<score_oracle>(); score != nullptr) page += settings_text(asked, *score);
    if (rows.empty())
        return page + "How many keys will be stored? --keys N here, or genista daisy size, shows what filters take.\n";
    page += fmt::format("\nfilters of {} keys:\n", grouped(asked.keys(model)));
    table figures{{{"rate", align::right},
                   {"log(1/rate)", align::right},
                   {"LB a key", align::right},
                   {"whole bits", align::right},
                   {"keys kept", align::right},
                   {"queries in class 0", align::right},
                   {"expected rate", align::right},
                   {"n sum pq", align::right}}};
    for (const worth& each : rows) {
        const double draws = each.plan.terms.draws;
        figures.add_row({fmt::format("1/{:g}", 1 / each.rate), fmt::format("{:g}", -std::log2(each.rate)),
                         fmt::format("{:.2f}", each.plan.lower_bound_bits() / draws),
                         fmt::format("{:.2f}", each.plan.whole_bits() / draws),
                         fmt::format("{:.1f} %", 100 * each.plan.kept_draws() / draws),
                         fmt::format("{:.3f} %", 100 * each.plan.asked_share[0]),
                         fmt::format("{:.2f} x rate", each.plan.expected_rate() / each.rate),
                         fmt::format("{:.2g}", each.plan.overlap)});
    }
    page += figures.text();
    for (const worth& each : rows) {
        if (each.plan.keeps_condition()) continue;
        page += fmt::format(
            "\nn sum pq = {:.3g} is larger than the rate 1/{:g}: stored keys are asked for too often; "
            "the proofs do not hold there, and filters only promise no false negatives\n",
            each.plan.overlap, 1 / each.rate);
    }
    return page + overlap_text(asked);
}

double share_of_inserted(const std::vector<key_view>& inserts, const std::vector<key_view>& queries) {
    std::unordered_set<std::string_view> inserted;
    inserted.reserve(inserts.size());
    for (const key_view key : inserts) inserted.insert(key.text());
    const auto met = std::ranges::count_if(queries, [&](key_view key) { return inserted.contains(key.text()); });
    return static_cast<double>(met) / static_cast<double>(queries.size());
}

result<oracle_model> train_on_logs(train_request& asked, progress& bar) {
    const auto inserts = lab::read_key_list(asked.stored_path);
    if (!inserts) return inserts.error();
    const auto queries = lab::read_key_list(asked.asked_path);
    if (!queries) return queries.error();
    training_options with = asked.training;
    with.progress = [&bar](double share) { bar.update(share, "training"); };
    with.chose = [&asked](const score_choice& chosen) { asked.chosen = chosen; };
    const std::vector<key_view> inserted = inserts->views(), queried = queries->views();
    asked.asked_for_inserted = share_of_inserted(inserted, queried);
    return train_model(with, inserted, queried);
}

result<oracle_model> take_odds(const train_request& asked) {
    const auto stored = lab::read_odds_file(asked.stored_path);
    if (!stored) return stored.error();
    const auto queried = lab::read_odds_file(asked.asked_path);
    if (!queried) return queried.error();
    return model_of_odds(stored->column(), queried->column(), asked.training.seed);
}

result<oracle_model> train(train_request& asked) {
    for (const std::string* path : {&asked.stored_path, &asked.asked_path}) {
        if (const auto there = lab::check_key_file(*path); !there) return there.error();
    }
    progress bar{"reading"};
    bar.update(0);
    return asked.are_odds ? take_odds(asked) : train_on_logs(asked, bar);
}

exit_status run_train(train_request& asked) {
    if (asked.stored_path == "-" && asked.asked_path == "-")
        return complain(exit_status::bad_input, "two files are '-': only one of them can be stdin");
    const bool odds = asked.are_odds;
    const auto apart = check_apart({{odds ? "--stored-odds" : "--inserts", asked.stored_path},
                                    {odds ? "--asked-odds" : "--queries", asked.asked_path}},
                                   {{"--out", asked.model_path}, {"--json", asked.json_path}});
    if (!apart) return complain(exit_status::bad_input, apart.error().message());
    const auto model = train(asked);
    // All errors so far are errors of the files or of the options.
    if (!model) return complain(exit_status::bad_input, model.error().message());
    const auto rows = worth_of(*model, asked.keys(*model));
    if (!rows) return complain(status_of(rows.error().code()), rows.error().message());
    vector_sink bytes;
    auto written = model->save(bytes);
    if (written) written = save_file(asked.model_path, [&](sink& out) { return out.write(bytes.bytes()); });
    if (!written) return complain(exit_status::failed, written.error().message());
    if (!owns_stdout(asked.json_path)) fmt::print("{}", to_text(asked, *model, *rows));
    if (asked.json_path.empty()) return exit_status::ok;
    const auto reported = write_json(asked.json_path, to_json(asked, *model, bytes.bytes().size(), *rows));
    return reported ? exit_status::ok : complain(exit_status::failed, reported.error().message());
}

oracle_kind named_oracle(const std::string& name) {
    std::vector<std::string> names;
    for (const oracle_kind kind : all_oracle_kinds) {
        if (name == to_string(kind)) return kind;
        names.emplace_back(to_string(kind));
    }
    throw CLI::ValidationError{"--oracle", unknown_name(name, "oracle", names)};
}

std::uint64_t size_from(const std::string& text) {
    if (text == "auto") return training_options::chosen_bytes;
    const auto value = parse_count(text, {training_options::min_bytes, training_options::max_bytes});
    if (value) return *value;
    throw CLI::ValidationError{"--bytes", fmt::format("{}; or auto", value.error().message())};
}

void add_model_target(CLI::App& app, std::string& target) {
    const auto take = [&target](const std::string& path) {
        if (path == "-") throw CLI::ValidationError{"--out", "'-' is not a file; a model is written to a file"};
        if (const auto usable = check_file_target(path); !usable)
            throw CLI::ValidationError{"--out", std::string{usable.error().message()}};
        target = path;
    };
    app.add_option_function<std::string>("--out", take, "file to write the model to; an old one is replaced")
        ->type_name("MODEL")
        ->required();
}

// --inserts and --queries, or --stored-odds and --asked-odds.
CLI::Option* add_sources(CLI::App& app, const std::shared_ptr<train_request>& asked) {
    const auto add = [&app](const char* name, std::string& target, const char* help) {
        return app.add_option(name, target, help)->type_name("FILE");
    };
    CLI::Option* const inserts =
        add("--inserts", asked->stored_path, "log of the keys that were stored, one a line; - is stdin");
    CLI::Option* const queries =
        add("--queries", asked->asked_path, "log of the keys that were queried, one a line; - is stdin");
    CLI::Option* const stored =
        add("--stored-odds", asked->stored_path, "instead of logs: key, TAB, probability of being stored");
    CLI::Option* const queried =
        add("--asked-odds", asked->asked_path, "the same keys, each with its probability of being queried");
    inserts->needs(queries)->excludes(stored)->excludes(queried);
    queries->needs(inserts)->excludes(stored)->excludes(queried);
    stored->needs(queried);
    queried->needs(stored);
    return stored;
}

// Conditions on several options. Runs when the line has been read.
void check_line(train_request& asked, bool has_logs, bool has_odds, bool has_bytes) {
    const bool is_chosen = asked.training.bytes == training_options::chosen_bytes;
    if (is_chosen && asked.training.kind != oracle_kind::score)
        throw CLI::ValidationError{
            "--bytes", fmt::format("'auto' is for --oracle score, not for {}", to_string(asked.training.kind))};
    if (has_bytes && asked.training.kind == oracle_kind::exact)
        throw CLI::ValidationError{"--bytes", "an exact table has the size of its keys; leave the option out"};
    if (asked.training.keys != 0 && !is_chosen && !has_odds)
        throw CLI::ValidationError{"--keys",
                                   "logs say how many keys there are; only with --bytes auto, or with --stored-odds"};
    asked.are_odds = has_odds;
    if (!has_logs && !has_odds)
        throw CLI::RequiredError{"--inserts FILE and --queries FILE (or --stored-odds and --asked-odds)"};
}

CLI::Option* add_oracle_options(CLI::App& app, const std::shared_ptr<train_request>& asked) {
    CLI::Option* const oracle =
        app.add_option_function<std::string>(
               "--oracle", [asked](const std::string& name) { asked->training.kind = named_oracle(name); },
               "score: by the bytes of a key, for absent keys too; exact, count_min, count_sketch: by its count in the "
               "logs")
            ->type_name("NAME")
            ->default_str("score");
    CLI::Option* const bytes =
        app.add_option_function<std::string>(
               "--bytes", [asked](const std::string& text) { asked->training.bytes = size_from(text); },
               fmt::format("size of the score model's weights or of the sketches, {}..2^{}; auto, for a score "
                           "model: the size at which model and filter together are smallest",
                           training_options::min_bytes, std::countr_zero(training_options::max_bytes)))
            ->type_name("N|auto")
            ->default_str(fmt::to_string(asked->training.bytes));
    add_count(app, "--keys", asked->training.keys, {1, std::uint64_t{1} << 40},
              "keys of the filter: with --bytes auto, if it is not the number of inserts; with --stored-odds, which "
              "do not contain it")
        ->default_str("");
    for (const char* const odds : {"--stored-odds", "--asked-odds"}) {
        oracle->excludes(app.get_option(odds));
        bytes->excludes(app.get_option(odds));
    }
    return bytes;
}

}  // namespace

command add_daisy_train_command(CLI::App& daisy_app) {
    const auto asked = std::make_shared<train_request>();
    CLI::App& app = *daisy_app.add_subcommand("train", "make a model of a log of inserts and a log of queries");
    app.footer(
        "Files are plain or gzip. Repetitions in a log count. Known probabilities become an exact table. The figures\n"
        "are for a filter of as many keys as there were inserts.\n"
        "Columns: LB: no filter needs fewer bits on average, up to a constant a key; whole bits: with whole bits a\n"
        "key; class 0: nothing is kept of such keys, and queries for them are let through; expected rate: the share\n"
        "of the queries that a filter with the parameter `rate` lets through; genista daisy size finds a parameter\n"
        "at which that is at most 1 x rate.\n"
        "Exit status: 0 done, 1 the model or the JSON could not be written, 2 bad input.\n"
        "Example:\n  genista daisy train --inserts blocked.txt.gz --queries asked.txt.gz --out hosts.model "
        "--bytes 2^12");
    const CLI::Option* const stored_odds = add_sources(app, asked);
    add_model_target(app, asked->model_path);
    const CLI::Option* const bytes = add_oracle_options(app, asked);
    const CLI::Option* const inserts = app.get_option("--inserts");
    app.callback([=] { check_line(*asked, inserts->count() > 0, stored_odds->count() > 0, bytes->count() > 0); });
    add_count(app, "--seed", asked->training.seed, {}, "source of all randomness");
    add_json_target(app, asked->json_path);
    return {&app, [asked] { return run_train(*asked); }};
}

}  // namespace genista::tool
