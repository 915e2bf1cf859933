// genista daisy size: the size of a filter that uses a model, as proved and tuned, beside filters
// without a model.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "genista/filters/filter.hpp"
#include "genista/format/mapped_file.hpp"
#include "json_target.hpp"
#include "lab/workloads/daisy_sizes.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "table.hpp"

namespace genista::tool {
namespace {

using json = nlohmann::ordered_json;

struct size_request {
    std::string model_path, json_path;
    std::uint64_t keys = 1'000'000;
    double rate = 1.0 / 256;
};

struct sizes {
    daisy_plan plan{};                // the parameter is the rate: what the theorems are about
    std::optional<daisy_plan> tuned;  // the parameter ε′ ≤ ε at which the expected rate is at most ε
    std::string why_not_tuned;
    std::vector<lab::filter_size> proved, tuned_rows, plain;
};

result<sizes> sizes_of(const oracle_model& model, const daisy_terms& terms) {
    sizes made;
    auto plan = model.profile().plan(terms);
    if (!plan) return plan.error();
    made.plan = *plan;
    made.proved = lab::daisy_sizes(*plan);
    made.plain = lab::plain_sizes(terms);
    const auto tuned = model.profile().plan_tuned(terms);
    if (!tuned) {
        made.why_not_tuned = tuned.error().message();
        return made;
    }
    made.tuned = *tuned;
    made.tuned_rows = lab::daisy_sizes(*tuned);
    return made;
}

json plan_with_classes_json(const daisy_plan& plan) {
    json classes = json::array();
    for (unsigned j = 0; j <= plan.largest_class(); ++j) {
        classes.push_back({{"class", j}, {"stored_share", plan.stored_share[j]}, {"asked_share", plan.asked_share[j]}});
    }
    return {{"parameter", plan.terms.rate},
            {"lower_bound_bits", plan.lower_bound_bits()},
            {"proved_bound_bits", plan.proved_bound_bits()},
            {"kept_draws", plan.kept_draws()},
            {"whole_bits", plan.whole_bits()},
            {"expected_rate", plan.expected_rate()},
            {"overlap", plan.overlap},
            {"keeps_condition", plan.keeps_condition()},
            {"classes", classes}};
}

void add_rows(json& to, const std::vector<lab::filter_size>& rows, const char* how, double keys,
              std::uint64_t oracle_bytes) {
    for (const lab::filter_size& each : rows) {
        json row = {{"filter", each.filter}, {"made", how}, {"parameter", each.parameter}};
        const std::uint64_t beside = each.uses_oracle ? oracle_bytes : 0;
        if (each.why_not.empty()) {
            row["expected_rate"] = each.rate;
            row["bits"] = each.bits;
            row["bits_a_key"] = each.bits_a_key(keys);
            row["oracle_bytes"] = beside;
            row["total_bytes"] = (each.bits + 7) / 8 + beside;
        } else {
            for (const char* const figure : {"expected_rate", "bits", "bits_a_key"}) row[figure] = nullptr;
            row["oracle_bytes"] = beside;
            row["total_bytes"] = nullptr;
            row["why_not"] = each.why_not;
        }
        to.push_back(std::move(row));
    }
}

json filters_json(const sizes& of, double keys, std::uint64_t oracle_bytes) {
    json rows = json::array();
    add_rows(rows, of.tuned_rows, "tuned", keys, oracle_bytes);
    add_rows(rows, of.proved, "as proved", keys, oracle_bytes);
    add_rows(rows, of.plain, "plain", keys, oracle_bytes);
    return rows;
}

json to_json(const size_request& asked, const oracle_model& model, const sizes& of) {
    const std::uint64_t oracle_bytes = model.oracle()->memory_bytes();
    return {{"model", asked.model_path},
            {"oracle", model.oracle()->name()},
            {"oracle_bytes", oracle_bytes},
            {"held_out", model.origin().is_held_out},
            {"keys", asked.keys},
            {"rate", asked.rate},
            {"plan", plan_with_classes_json(of.plan)},
            {"tuned", of.tuned ? plan_with_classes_json(*of.tuned) : json(nullptr)},
            {"filters", filters_json(of, static_cast<double>(asked.keys), oracle_bytes)}};
}

std::string class_table(const daisy_plan& plan) {
    table classes{{{"class", align::right}, {"stored", align::right}, {"keys", align::right}, {"asked", align::right}}};
    for (unsigned j = 0; j <= plan.largest_class(); ++j) {
        classes.add_row(
            {fmt::to_string(j), fmt::format("{:.3f} %", 100 * plan.stored_share[j]),
             grouped(static_cast<unsigned long long>(std::llround(plan.terms.draws * plan.stored_share[j]))),
             fmt::format("{:.3f} %", 100 * plan.asked_share[j])});
    }
    return classes.text();
}

std::string filter_table(const json& rows) {
    table filters{{{"filter"},
                   {"made"},
                   {"expected rate", align::right},
                   {"bits", align::right},
                   {"bits a key", align::right},
                   {"with oracle, bytes", align::right}}};
    std::string without;
    for (const json& each : rows) {
        if (each.contains("why_not")) {
            filters.add_row({each["filter"].get<std::string>(), each["made"].get<std::string>(), "-", "-", "-", "-"});
            without += fmt::format("-: {}\n", each["why_not"].get<std::string>());
            continue;
        }
        filters.add_row({each["filter"].get<std::string>(), each["made"].get<std::string>(),
                         fmt::format("{:.3g}", each["expected_rate"].get<double>()),
                         grouped(each["bits"].get<std::uint64_t>()),
                         fmt::format("{:.2f}", each["bits_a_key"].get<double>()),
                         grouped(each["total_bytes"].get<std::uint64_t>())});
    }
    return filters.text() + (without.empty() ? without : "\n" + without);
}

// Six digits of a parameter just below a power of two are those of the power, whose classes are
// others.
std::string parameter_text(const daisy_plan& tuned, double rate) {
    const std::string digits = fmt::format("{:.6g}", tuned.terms.rate);
    return tuned.terms.rate < rate && digits == fmt::format("{:.6g}", rate) ? "just below " + digits : digits;
}

std::string to_text(const size_request& asked, const oracle_model& model, const sizes& of) {
    const daisy_plan& plan = of.plan;
    const std::uint64_t oracle_bytes = model.oracle()->memory_bytes();
    const auto whole = [](double bits) { return grouped(static_cast<unsigned long long>(std::llround(bits))); };
    std::string page =
        fmt::format("{}: oracle {}, {} bytes{}\n", asked.model_path, model.oracle()->name(), grouped(oracle_bytes),
                    model.origin().is_held_out ? "" : " (its profile is of draws it was trained on)");
    table facts{{{"of " + grouped(asked.keys) + " keys"}, {"", align::right}, {"", align::left, 70}}};
    facts.add_row({"LB", whole(plan.lower_bound_bits()) + " bits", "n sum p k [daisy Thm 6]"});
    facts.add_row({"proved bound", plan.proved_bound_bits() > 0 ? whole(plan.proved_bound_bits()) + " bits" : "none",
                   "LB - 1 - 6n: what every filter needs on average"});
    facts.add_row({"n+", whole(plan.kept_draws()) + " keys", "of which anything is kept"});
    facts.add_row({"n sum pq", fmt::format("{:.2g}", plan.overlap),
                   plan.keeps_condition()
                       ? "by the model; at most the rate: the theorems hold"
                       : "LARGER than the rate: the theorems promise nothing, but no false negatives"});
    facts.add_row(
        {"tuned parameter", of.tuned ? parameter_text(*of.tuned, asked.rate) : "none",
         of.tuned ? "at which at most the rate is expected; the classes are those of this plan" : of.why_not_tuned});
    page += facts.text() + "\n" + class_table(of.tuned ? *of.tuned : plan) + "\n";
    return page + filter_table(filters_json(of, static_cast<double>(asked.keys), oracle_bytes));
}

exit_status run_size(const size_request& asked) {
    if (const auto apart = check_apart({{"--model", asked.model_path}}, {{"--json", asked.json_path}}); !apart)
        return complain(exit_status::bad_input, apart.error().message());
    const auto model = load_model(asked.model_path);
    if (!model) return complain(exit_status::bad_input, model.error().message());
    const auto made = sizes_of(*model, {static_cast<double>(asked.keys), asked.rate});
    if (!made) return complain(status_of(made.error().code()), made.error().message());
    return publish(asked.json_path, to_text(asked, *model, *made), to_json(asked, *model, *made));
}

}  // namespace

result<oracle_model> load_model(const std::string& path) {
    const auto named = [&path](const error& why) {
        const std::string message{why.message()};
        if (message.find(path) != std::string::npos) return why;
        return error::make(why.code(), "'%.120s': %s", path.c_str(), message.c_str());
    };
    const std::uint64_t memory = physical_memory_bytes();
    const auto file = read_file(path, memory == 0 ? UINT64_MAX : memory);
    if (!file) return named(file.error());
    auto model = oracle_model::load(file->bytes());
    if (!model) return named(model.error());
    return model;
}

command add_daisy_size_command(CLI::App& daisy_app) {
    const auto asked = std::make_shared<size_request>();
    CLI::App& app = *daisy_app.add_subcommand("size", "print the size of filters that use a model");
    app.footer(
        "as proved: the parameter is the rate; the proved rates are 6 x rate (daisy_bloom) and 3 x rate\n"
        "(daisy_fingerprint) over queries like those of the log. tuned: with a smaller parameter, so that at most the\n"
        "rate is expected. Classes: whole bits a key; keys of class 0 are always let through. bloom, cuckoo_partial\n"
        "and broom do not use the model.\n"
        "Exit status: 0 done, 1 the JSON could not be written, 2 bad input: no model, a model of another version,\n"
        "numbers out of range.\n"
        "Example:\n  genista daisy size --model hosts.model --keys 1e6 --fpr 1/256 --json -");
    app.add_option("--model", asked->model_path, "file written by genista daisy train")->type_name("MODEL")->required();
    add_count(app, "--keys", asked->keys, {1, max_capacity},
              fmt::format("keys to store, repetitions counted; written as {}", count_syntax));
    add_rate(app, "--fpr", asked->rate, fmt::format("false positive rate in (0, 1/2], as {}", rate_syntax));
    add_json_target(app, asked->json_path);
    return {&app, [asked] { return run_size(*asked); }};
}

}  // namespace genista::tool
