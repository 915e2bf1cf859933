// genista compare: the main job. Loads keys into a store, sends queries to each filter before it,
// and reports what they cost. See compare/.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "compare/databases.hpp"
#include "compare/report.hpp"
#include "compare/request.hpp"
#include "compare/run_phase.hpp"
#include "compare/workload.hpp"
#include "genista/filters/broom.hpp"
#include "json_target.hpp"
#include "lab/report/guard_page.hpp"
#include "lab/workloads/key_file.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "scratch.hpp"

namespace genista::tool::compare {
namespace {

constexpr const char* footer =
    R"(Loads keys into a RocksDB database with values of random bytes, and sends the same queries in the same order to each
filter. Each filter has a database and a block cache of its own, and they take turns, slice by slice of the queries.
Key files: one key a line (up to 65536 bytes; any bytes but a line end, which is \n or \r\n; empty lines are left out), plain
or gzip. A key given twice is one key.
Phases: replay (the queries of the file) or, without a file, zipf, uniform (absent keys, each new) and half present. --attack
adds replay attack: an adversary collects --pool absent keys that cost a read and asks for them again and again. It stops
collecting after 134217728 questions (33554432 without arguments).
Filters: none; rocksdb_bloom and rocksdb_ribbon are RocksDB's own, inside its files; bloom and broom stand before it;
broom_static is broom with learning switched off; daisy_bloom and, in the clustered layout only, daisy_broom use the model of
--oracle, whose bytes count as part of their memory. cuckooing, cyclic1 to cyclic3 (selector bits) and swapping are the
adaptive cuckoo filters, cuckoo is one that does not learn; the keys of their slots are in a database beside the store.
Memory: the same for all filters: what the broom filter needs for --error-rate, or --bits-per-key; whole bits for the cuckoo
filters. With --attack it includes what a filter needs to learn.
Columns: bits: bits a key, all local state; wasted: queries for absent keys that the filter let through; repeated: those for a
key that had wasted a read before; share: wasted of absent; times within 6 %; denied: false negatives. Below each table: how
many false positives a filter repaired, and how often it read R to learn: ranges of records (broom) or single slots and
records (the others).
Layouts: clustered keeps the records in the order of a keyed hash, for all filters; indexed keeps them in the order of their
keys, with an index beside them for broom.
Store: without --store the database is in a temporary folder (TMPDIR), which is removed at the end. --store DIR with --keys
creates or fills a store there, with a secret hash key; --store DIR without --keys opens a store and only reads it.
With no arguments: 1000000 generated keys, all phases, and a report in genista-compare.html in the current folder.
Exit status: 0 done, 1 a stored key was denied or the store failed, 2 bad input or too little space on the disk.
Example:
  genista compare --keys users.txt.gz --queries access.txt.gz --attack --report compare.html)";

[[noreturn]] void refuse(const std::string& option, const std::string& why) {
    throw CLI::ValidationError{option, why};
}

std::vector<std::string> all_filter_names() {
    std::vector<std::string> names;
    for (const filter_name& each : filter_names) names.emplace_back(each.name);
    return names;
}

double parse_bits(const std::string& text) {
    if (const auto bits = parse_number(text, 1, most_bits_per_key)) return *bits;
    refuse("--bits-per-key", fmt::format("'{:.40}' is not a number from 1 to {:g}", text, most_bits_per_key));
}

// One bar for the whole run: each stage gets an equal share of it.
class stages {
  public:
    explicit stages(std::size_t all) noexcept : all_{static_cast<double>(all)} {}

    void next(std::string name) {
        name_ = std::move(name);
        begun_ += 1;
        bar_.update((begun_ - 1) / all_, name_);
    }
    [[nodiscard]] tick tell() {
        return [this](double share, std::string_view what) {
            bar_.update((begun_ - 1 + share) / all_, name_ + (name_.empty() ? "" : ": ") + std::string{what});
        };
    }

  private:
    progress bar_{"compare"};
    double all_;
    double begun_ = 0;
    std::string name_;
};

std::string about(const phase_plan& phase) {
    const std::string absent = fmt::format("{} of {} queries are for {} absent keys", phase.absent,
                                           phase.queries.size(), phase.distinct_absent);
    if (phase.name == "replay") return "the given queries in their order; " + absent;
    if (phase.name == "zipf") return "a few keys are queried often, most of them rarely; " + absent;
    if (phase.name == "uniform") return "absent keys, each queried once";
    return "stored keys and new absent ones, one half each at random; " + absent;
}

std::string about_attack(std::uint64_t wanted, const std::vector<figures>& rows) {
    std::string text = fmt::format("{} absent keys that cost a read when first queried, queried again in turn", wanted);
    for (const figures& row : rows) {
        if (row.pool < wanted)
            text += fmt::format("; {}: only {} found in {} queries", to_string(row.filter), *row.pool, row.pool_asked);
    }
    return text;
}

struct run_state {
    const request& asked;
    workload work;
    contenders field;
    stages steps;
};

// Everything before the first query. Its errors are bad input: a file, a store, a disk that cannot
// be used.
result<void> prepare(run_state& run, setting& where, databases& stores) {
    run.steps.next("");
    if (const auto opened = stores.open(); !opened) return opened;
    if (const auto added = add_stored_keys(run.asked, run.work); !added) return added;
    const auto copies =
        static_cast<std::size_t>(std::count_if(run.asked.filters.begin(), run.asked.filters.end(), is_rocksdbs_own));
    if (const auto room = check_room(where, copies + (run.asked.store_path.empty() ? 1 : 0)); !room) return room;
    where.direct_reads = takes_direct_reads(where.room.probe()) &&
                         (run.asked.store_path.empty() || takes_direct_reads(where.path() + "/CURRENT"));
    if (const auto filled = stores.fill(); !filled) return filled;
    if (const auto added = add_phases(run.asked, run.work); !added) return added;
    run.steps.next("");
    auto field = stores.field();
    if (!field) return field.error();
    run.field = std::move(*field);
    return {};
}

result<phase_result> run_plain(run_state& run, const phase_plan& phase) {
    run.steps.next(phase.name);
    const stream asked{&run.work.keys, run.work.stored, phase.queries};
    const std::vector<stream> streams(run.field.size(), asked);
    auto rows = run_phase(run.field, streams, run.asked.threads, run.work.stored, run.steps.tell());
    if (!rows) return rows.error();
    return phase_result{phase.name, about(phase), std::move(*rows)};
}

result<phase_result> run_attack(run_state& run) {
    std::vector<pool> pools;
    std::vector<std::vector<key_number>> queries;
    std::vector<stream> streams;
    run.steps.next("looking for false positives");
    for (const auto& each : run.field) {
        auto found = find_pool(*each, run.work.keys, run.asked, run.steps.tell());
        if (!found) return found.error();
        pools.push_back(std::move(*found));
        queries.push_back(replay_of(pools.back(), std::max(run.asked.pool, run.asked.own_queries)));
    }
    for (std::size_t i = 0; i < pools.size(); ++i) streams.push_back({&pools[i].keys, 0, queries[i], true});
    run.steps.next("replay attack");
    auto rows = run_phase(run.field, streams, run.asked.threads, run.work.stored, run.steps.tell());
    if (!rows) return rows.error();
    for (std::size_t i = 0; i < pools.size(); ++i) {
        (*rows)[i].pool = pools[i].keys.size();
        (*rows)[i].pool_asked = pools[i].asked;
    }
    std::string text = about_attack(run.asked.pool, *rows);
    return phase_result{"replay attack", std::move(text), std::move(*rows)};
}

result<std::vector<phase_result>> measure(run_state& run) {
    std::vector<key_number> first;  // stored keys, spread evenly
    const std::size_t warm = std::min<std::size_t>(run.work.stored, 2000);
    for (std::size_t i = 0; i < warm; ++i) first.push_back(static_cast<key_number>(i * (run.work.stored / warm)));
    if (const auto done = warm_up(run.field, {&run.work.keys, run.work.stored, first}); !done) return done.error();
    std::vector<phase_result> phases;
    for (const phase_plan& phase : run.work.phases) {
        auto made = run_plain(run, phase);
        if (!made) return made.error();
        phases.push_back(std::move(*made));
    }
    if (run.asked.attack) {
        auto made = run_attack(run);
        if (!made) return made.error();
        phases.push_back(std::move(*made));
    }
    return phases;
}

exit_status publish(const outcome& run) {
    const request& asked = run.asked;
    if (!owns_stdout(asked.json_path)) fmt::print("{}", to_text(run));
    const auto document = to_json(run);
    exit_status status = exit_status::ok;  // if one file cannot be written, the other one still may
    if (!asked.json_path.empty()) {
        if (const auto written = write_json(asked.json_path, document); !written)
            status = complain(exit_status::failed, written.error().message());
    }
    if (!asked.report_path.empty()) {
        const auto written = lab::report::write_html(asked.report_path, lab::report::guard_page(document));
        if (!written)
            status = complain(exit_status::failed, written.error().message());
        else if (!owns_stdout(asked.json_path))
            fmt::print("{}", where_the_report_is(asked.report_path));
    }
    const std::string wrong = faults(run);
    return wrong.empty() ? status : complain(exit_status::failed, wrong);
}

exit_status run_compare(const request& asked) {
    const auto bad = [](const error& why) { return complain(exit_status::bad_input, why.message()); };
    for (const std::string& path : {asked.keys_path, asked.queries_path}) {
        if (path.empty()) continue;
        if (const auto readable = lab::check_key_file(path); !readable) return bad(readable.error());
    }
    std::optional<oracle_model> model;
    if (!asked.oracle_path.empty()) {
        auto loaded = load_model(asked.oracle_path);
        if (!loaded) return bad(loaded.error());
        model.emplace(*std::move(loaded));
    }
    outcome result{.asked = asked, .keys = 0, .sizes = {}, .direct_reads = true, .phases = {}};
    {
        scratch room;
        if (const auto made = room.make(); !made) return bad(made.error());
        const std::size_t phases = (asked.queries_path.empty() ? 3u : 1u) + (asked.attack ? 2u : 0u);
        run_state run{.asked = asked, .work = {}, .field = {}, .steps = stages{2 + phases}};
        setting where{.asked = asked,
                      .room = room,
                      .work = run.work,
                      .tell = run.steps.tell(),
                      .model = model ? &*model : nullptr};
        const auto stores =
            asked.layout == rocks::layout::clustered ? make_clustered_databases(where) : make_indexed_databases(where);
        if (const auto ready = prepare(run, where, *stores); !ready) return bad(ready.error());
        auto phases_done = measure(run);
        if (!phases_done) return complain(exit_status::failed, phases_done.error().message());
        result.keys = run.work.stored;
        result.sizes = stores->sizes();
        result.direct_reads = where.direct_reads;
        result.phases = std::move(*phases_done);
    }
    return publish(result);
}

void add_inputs(CLI::App& app, request& asked) {
    auto* keys = app.add_option("--keys", asked.keys_path, "keys to store, one a line, plain or gzip; - is stdin")
                     ->type_name("FILE|-");
    app.add_option("--queries", asked.queries_path, "keys to query, in this order; the same kinds of file")
        ->type_name("FILE|-");
    auto* store = app.add_option("--store", asked.store_path, "folder of the database; created if --keys is given")
                      ->type_name("DIR");
    add_count(app, "--number-of-keys", asked.own_keys, {1, 1'000'000'000},
              fmt::format("generated keys, instead of --keys and --store; written as {}", count_syntax))
        ->excludes(keys)
        ->excludes(store);
    add_count(app, "--number-of-queries", asked.own_queries, {1, 1'000'000'000},
              "queries of each phase that is not from a file");
    app.add_option_function<std::string>(
           "--layout",
           [&asked](const std::string& name) {
               if (name != "clustered" && name != "indexed")
                   refuse("--layout",
                          fmt::format("'{:.40}' is not a layout; the layouts are clustered and indexed", name));
               asked.layout = name == "clustered" ? rocks::layout::clustered : rocks::layout::indexed;
           },
           "order of the records in the database")
        ->type_name("clustered|indexed")
        ->default_str("clustered");
}

void add_filters(CLI::App& app, request& asked) {
    std::string usual;
    for (const filter_kind kind : asked.filters) usual.append(usual.empty() ? "" : ",").append(to_string(kind));
    const auto take = [&asked](const std::vector<std::size_t>& chosen) {
        asked.filters.clear();
        for (const std::size_t place : chosen) asked.filters.push_back(filter_names[place].kind);
    };
    add_filter_names(app, fmt::format("rows of the table, of {}", fmt::join(all_filter_names(), ",")),
                     all_filter_names(), take)
        ->default_str(usual);
    app.add_option("--oracle", asked.oracle_path, "model for daisy_bloom and daisy_broom, from genista daisy train")
        ->type_name("MODEL");
    auto* rate =
        add_rate(app, "--error-rate", asked.error_rate,
                 fmt::format("false positive rate of broom; the other filters get as much memory. As {}", rate_syntax));
    app.add_option_function<std::string>(
           "--bits-per-key", [&asked](const std::string& text) { asked.bits_per_key = parse_bits(text); },
           fmt::format("memory of every filter, 1..{:g}, instead of --error-rate", most_bits_per_key))
        ->type_name("B")
        ->excludes(rate);
}

// Empty: nothing.
std::string wrong_with_oracle(const request& asked) {
    const auto daisy = std::find_if(asked.filters.begin(), asked.filters.end(), has_oracle);
    if (daisy != asked.filters.end() && asked.oracle_path.empty())
        return fmt::format("--filters {} needs --oracle MODEL, which `genista daisy train` makes", to_string(*daisy));
    if (daisy == asked.filters.end() && !asked.oracle_path.empty())
        return "--oracle is for daisy_bloom and daisy_broom, and --filters names neither";
    const bool broom = std::count(asked.filters.begin(), asked.filters.end(), filter_kind::daisy_broom) != 0;
    if (broom && asked.layout == rocks::layout::indexed)
        return "--filters daisy_broom needs --layout clustered: the index of the other layout supports no oracle";
    return {};
}

// Conditions on several options.
exit_status check_and_run(const CLI::App& app, request& asked) {
    const auto given = app.get_options([](const CLI::Option* each) { return each->count() > 0; });
    constexpr const char* usual_report = "genista-compare.html";
    if (given.empty()) {
        asked.attack = true;
        asked.own_queries = 50'000;
        asked.most_questions = std::uint64_t{1} << 25;
        if (check_json_target(usual_report)) asked.report_path = usual_report;
    }
    if (!asked.queries_path.empty() && asked.makes_keys())
        return complain(exit_status::bad_input, "--queries needs the keys that are stored: --keys FILE or --store DIR");
    if (asked.keys_path == "-" && asked.queries_path == "-")
        return complain(exit_status::bad_input, "--keys and --queries cannot both be standard input (-)");
    if (const std::string wrong = wrong_with_oracle(asked); !wrong.empty())
        return complain(exit_status::bad_input, wrong);
    if (constexpr double least = broom_filter::min_false_positive_rate; asked.error_rate < least)
        return complain(exit_status::bad_input,
                        fmt::format("--error-rate {} is outside the range from {} to 1/2", asked.error_rate, least));
    const auto apart =
        check_apart({{"--keys", asked.keys_path}, {"--queries", asked.queries_path}, {"--oracle", asked.oracle_path}},
                    {{"--json", asked.json_path}, {"--report", asked.report_path}});
    if (!apart) return complain(exit_status::bad_input, apart.error().message());
    return run_compare(asked);
}

}  // namespace
}  // namespace genista::tool::compare

namespace genista::tool {

command add_compare_command(CLI::App& root) {
    const auto asked = std::make_shared<compare::request>();
    CLI::App& app = *root.add_subcommand("compare", "compare filters before a store on disk: what absent keys cost");
    app.footer(compare::footer);
    compare::add_inputs(app, *asked);
    compare::add_filters(app, *asked);
    add_count(app, "--cache-mb", asked->cache_mb, {0, 1 << 20}, "block cache of each database, in MB");
    add_count(app, "--value-bytes", asked->value_bytes, {0, 1 << 20}, "bytes of each value");
    app.add_flag("--attack", asked->attack, "add the replay attack");
    add_count(app, "--pool", asked->pool, {1, 1'000'000}, "false positives that the adversary collects");
    add_count(app, "--threads", asked->threads, {1, 256}, "threads that query at the same time");
    add_count(app, "--seed", asked->seed, {}, "source of all randomness but the hash key of a --store");
    add_json_target(app, asked->json_path);
    add_report_target(app, asked->report_path);
    return {&app, [asked, &app] { return compare::check_and_run(app, *asked); }};
}

}  // namespace genista::tool
