// genista inspect: what a snapshot file holds, filter, oracle or model. Everything is verified
// first; the secret hash key is never shown.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "commands.hpp"
#include "filters.hpp"
#include "genista/detail/filters/daisy_broom/core.hpp"
#include "genista/detail/format/snapshot.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/filters/with_oracle.hpp"
#include "genista/format/mapped_file.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/oracles/oracle_model.hpp"
#include "json_target.hpp"
#include "machine.hpp"
#include "table.hpp"

namespace genista::tool {
namespace {

using json = nlohmann::ordered_json;

// Two digits a byte, in their order.
std::string hex_digits(std::span<const std::byte> bytes) {
    std::string digits;
    for (const std::byte b : bytes) digits += fmt::format("{:02x}", std::to_integer<unsigned>(b));
    return digits;
}

// The statistics of any filter.
json stats_json(const filter_stats& stats) {
    return {{"keys", stats.keys},
            {"capacity", stats.capacity},
            {"false_positive_rate", stats.false_positive_rate},
            {"local_bytes", stats.local_bytes},
            {"adaptive_bytes", stats.adaptive_bytes},
            {"adapts", stats.adapts},
            {"renewals", stats.renewals},
            {"remote_reads", stats.remote_reads}};
}

json odds_json(const key_odds& odds) {
    return {{"stored", odds.stored}, {"asked", odds.asked}};
}

json facts_of(const exact_oracle& oracle) {
    return {{"keys", oracle.keys()}, {"unknown_key", odds_json(oracle.unknown())}};
}

// `total`: draws of the log it was filled with. An estimate below the noise has no information
// about a key.
template <class Sketch>
json sketch_json(const Sketch& sketch) {
    return {{"width", sketch.shape().width},
            {"depth", sketch.shape().depth},
            {"total", sketch.total()},
            {"noise", sketch.noise()}};
}
template <class Sketch>
json facts_of(const sketch_oracle<Sketch>& oracle) {
    json facts = {{"inserts", sketch_json(oracle.stored())}, {"queries", sketch_json(oracle.asked())}};
    if constexpr (sketch_oracle<Sketch>::is_count_min) facts["conservative"] = oracle.stored().conservative();
    facts["unseen_key"] = odds_json(oracle.unseen());
    return facts;
}

json facts_of(const score_oracle& oracle) {
    return {{"weights", oracle.weights()},
            {"longest_ngram", oracle.longest_ngram()},
            {"bins", oracle.bins()},
            {"universe", oracle.universe()},
            {"divergence_bits", oracle.divergence_bits()}};
}

template <class... Oracles>
json facts_of_held(const any_oracle& oracle, std::type_identity<std::variant<Oracles...>>) {
    json facts;
    const auto take = [&facts](const auto* held) {
        if (held != nullptr) facts = facts_of(*held);
    };
    (take(oracle.as<Oracles>()), ...);
    return facts;
}

json oracle_json(const any_oracle& oracle) {
    json all = {{"name", oracle.name()}, {"memory_bytes", oracle.memory_bytes()}};
    all.update(facts_of_held(oracle, std::type_identity<any_oracle::alternatives>{}));
    return all;
}

result<json> of_oracle(std::span<const std::byte> bytes) {
    const auto oracle = any_oracle::load(bytes);
    if (!oracle) return oracle.error();
    return json{{"oracle", oracle_json(*oracle)}};
}

result<json> of_model(std::span<const std::byte> bytes) {
    const auto model = oracle_model::load(bytes);
    if (!model) return model.error();
    const model_origin& origin = model->origin();
    const odds_profile& profile = model->profile();
    return json{{"model",
                 {{"insert_draws", origin.insert_draws},
                  {"query_draws", origin.query_draws},
                  {"held_out", origin.is_held_out}}},
                {"profile",
                 {{"entries", profile.entries().size()},
                  {"stored_draws", profile.stored_draws()},
                  {"asked_draws", profile.asked_draws()}}},
                {"oracle", oracle_json(*model->oracle())}};
}

json saved_plan_json(const daisy_plan& plan) {
    return {{"draws", plan.terms.draws},
            {"parameter", plan.terms.rate},
            {"largest_class", plan.largest_class()},
            {"kept_draws", plan.kept_draws()},
            {"lower_bound_bits", plan.lower_bound_bits()},
            {"expected_rate", plan.expected_rate()},
            {"overlap", plan.overlap},
            {"keeps_condition", plan.keeps_condition()}};
}

std::string_view layout_name(daisy_layout layout) {
    switch (layout) {
        case daisy_layout::scattered:
            return "scattered";
        case daisy_layout::octet:
            return "octet";
        case daisy_layout::sixteen:
            return "sixteen";
    }
    return "unknown";
}

result<json> of_daisy_bloom(std::span<const std::byte> bytes) {
    const auto filter = daisy_bloom_filter::load(bytes);
    if (!filter) return filter.error();
    const daisy_bloom_drift drift = filter->drift();
    return json{
        {"filter", daisy_bloom_filter::name},
        {"stats", stats_json(filter->stats())},
        {"plan", saved_plan_json(filter->plan())},
        {"table",
         {{"layout", layout_name(filter->layout())}, {"bits", filter->bits()}, {"bits_set", filter->bits_set()}}},
        {"drift", {{"draws", drift.draws}, {"verdict", to_string(drift.verdict)}}}};
}

result<json> of_daisy_fingerprint(std::span<const std::byte> bytes) {
    const auto filter = daisy_fingerprint_filter::load(bytes);
    if (!filter) return filter.error();
    json tables = json::array();
    for (const daisy_fingerprint_table& each : filter->tables()) {
        tables.push_back({{"class", each.its_class},  // 0: all rare classes
                          {"remainder_bits", each.bits},
                          {"cells", each.cells},
                          {"values", each.values},
                          {"room", each.room}});
    }
    const daisy_fingerprint_drift drift = filter->drift();
    std::uint64_t draws = 0;
    for (const std::uint64_t inserts : drift.inserts) draws += inserts;
    return json{
        {"filter", daisy_fingerprint_filter::name},
        {"stats", stats_json(filter->stats())},
        {"plan", saved_plan_json(filter->plan())},
        {"unknown_size", filter->unknown_size()},
        {"tables", tables},
        {"drift", {{"draws", draws}, {"extra_tables", drift.extra_tables}, {"verdict", to_string(drift.verdict)}}}};
}

// The deferred band: keys of class 0 get it after enough false positives among them.
json deferred_json(const deferred_band* deferred) {
    if (deferred == nullptr) return {{"kept", false}};
    return {{"kept", true}, {"rate_bits", 8}, {"ranges", deferred->ranges()}, {"built", deferred->built()}};
}

// Without the oracle, which is in a file of its own: its memory is not among local_bytes.
result<json> of_daisy_broom(std::span<const std::byte> bytes) {
    const auto loaded = daisy_broom_core::load(bytes);
    if (!loaded) return loaded.error();
    const daisy_broom_core& core = *loaded->core;
    json bands = json::array();
    for (unsigned i = 0; i < core.size(); ++i) {
        const daisy_band& band = core.bands().all()[i];
        const filter_stats of = core.broom(i).stats();
        bands.push_back({{"first_class", band.first_class},
                         {"last_class", band.last_class},
                         {"rate_bits", band.rate_bits},
                         {"keys", of.keys},
                         {"capacity", band.capacity},
                         {"local_bytes", of.local_bytes}});
    }
    const daisy_drift drift = core.drift();
    return json{{"filter", "daisy_broom"},
                {"stats", stats_json(core.stats(0))},
                {"plan", saved_plan_json(core.plan())},
                {"oracle_identity", hex_digits(loaded->oracle.identity.bytes)},
                {"bands", bands},
                {"class_0", deferred_json(core.deferred())},
                {"exceptions", {{"buckets", core.cells().buckets()}, {"cells", core.cells().size()}}},
                {"drift", {{"stored", drift.stored}, {"mistakes", drift.mistakes}, {"notable", drift.is_notable()}}}};
}

result<json> of_with_oracle(std::span<const std::byte> bytes) {
    const auto read = read_marked(bytes);
    if (!read) return read.error();
    const auto inside = open_snapshot(read->filter);
    if (!inside) return inside.error();
    auto details = inside->info.kind == snapshot_kind::daisy_fingerprint ? of_daisy_fingerprint(read->filter)
                                                                         : of_daisy_bloom(read->filter);
    if (details) (*details)["oracle_identity"] = hex_digits(read->oracle.identity.bytes);
    return details;
}

// Objects by name ("oracle", "model", "plan", …) for the kinds that have more than statistics,
// "stats" among them where only this function can load the kind; an empty object for all others. An
// error: the bytes are no sound snapshot of their kind.
result<json> details_of(snapshot_kind kind, std::span<const std::byte> bytes) {
    switch (kind) {
        case snapshot_kind::exact_oracle:
        case snapshot_kind::count_min_oracle:
        case snapshot_kind::count_sketch_oracle:
        case snapshot_kind::score_oracle:
            return of_oracle(bytes);
        case snapshot_kind::oracle_model:
            return of_model(bytes);
        case snapshot_kind::daisy_bloom:
            return of_daisy_bloom(bytes);
        case snapshot_kind::daisy_fingerprint:
            return of_daisy_fingerprint(bytes);
        case snapshot_kind::daisy_broom:
            return of_daisy_broom(bytes);
        case snapshot_kind::with_oracle:
            return of_with_oracle(bytes);
        default:
            return json::object();
    }
}

std::string hash_name(const snapshot_info& info) {
    // These use the bytes of a key, or contain a whole snapshot with the hash (docs/format.md).
    if (info.kind == snapshot_kind::score_oracle || info.kind == snapshot_kind::oracle_model) return "none";
    switch (static_cast<hash_kind>(info.hash_id)) {
        case hash_kind::custom:
            return "custom";
        case hash_kind::keyed:
            return "keyed";
        case hash_kind::trusted:
            return "trusted";
    }
    return "unknown";
}

// The envelope, which is the same for all kinds, supported or not.
json envelope_json(const snapshot_view& view, std::uint64_t file_bytes) {
    const snapshot_info& info = view.info;
    std::vector<std::size_t> section_bytes;
    for (std::size_t s = 0; s < view.section_count; ++s) section_bytes.push_back(view.sections[s].size());
    return {{"kind", to_string(info.kind)},
            {"kind_id", static_cast<unsigned>(info.kind)},
            {"kind_version", info.kind_version},
            {"format_version", view.format_version},
            {"hash", hash_name(info)},
            {"hash_id", info.hash_id},
            {"key_id", fmt::format("{:016x}", info.key_id)},
            {"store_identity", hex_digits(info.store.identity)},
            {"sequence", info.store.sequence},
            {"file_bytes", file_bytes},
            {"parameters_bytes", view.parameters.size()},
            {"section_bytes", section_bytes},
            {"checksums", "ok"}};  // or open_snapshot would have refused
}

std::string cell(const json& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.is_number_unsigned() ? grouped(value.get<std::uint64_t>()) : value.dump();
}

// Objects become rows of their own, "stats.keys"; each object of a list becomes one row.
void add_rows(table& page, const std::string& name, const json& value) {
    if (value.is_object()) {
        for (const auto& [part, of] : value.items()) add_rows(page, fmt::format("{}.{}", name, part), of);
    } else if (value.is_array() && !value.empty() && value.front().is_object()) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            std::string all;
            for (const auto& [part, of] : value[i].items()) {
                all += fmt::format("{}{} {}", all.empty() ? "" : ", ", part, cell(of));
            }
            page.add_row({fmt::format("{}[{}]", name, i), all});
        }
    } else {
        page.add_row({name, cell(value)});
    }
}

std::string to_text(const json& document, bool is_known) {
    table page{{{"field"}, {"value", align::left, 90}}};
    for (const auto& [name, value] : document.items()) {
        if (value.is_null()) continue;
        // Numbers of the envelope are identifiers: they get no separators.
        if (value.is_number())
            page.add_row({name, value.dump()});
        else
            add_rows(page, name, value);
    }
    if (!is_known) page.add_row({"stats", "unknown: this version of genista does not support the kind"});
    return page.text();
}

exit_status inspect(const std::string& path, bool as_json) {
    const auto refuse = [&path](const error& why) {
        const std::string message{why.message()};
        return complain(exit_status::bad_input,
                        message.find(path) == std::string::npos ? fmt::format("'{}': {}", path, message) : message);
    };
    // A copy, not a mapping: this process must survive if another one truncates the file
    // (mapped_file.hpp).
    const std::uint64_t memory = physical_memory_bytes();
    const result<buffer> file = read_file(path, memory == 0 ? UINT64_MAX : memory);
    if (!file) return refuse(file.error());
    const result<snapshot_view> view = open_snapshot(file->bytes());
    if (!view) return refuse(view.error());
    json document = envelope_json(*view, file->bytes().size());
    document["filter"] = nullptr;
    document["stats"] = nullptr;
    const result<json> details = details_of(view->info.kind, file->bytes());
    if (!details) return refuse(details.error());
    document.update(*details);
    const filter_entry* const known = details->empty() ? find_filter(view->info.kind) : nullptr;
    if (known != nullptr) {
        const result<saved_filter> saved = known->load(file->bytes());
        if (!saved) return refuse(saved.error());
        document["filter"] = saved->name;
        document["stats"] = stats_json(saved->stats);
    }
    return publish(as_json ? "-" : "", to_text(document, known != nullptr || !details->empty()), document);
}

}  // namespace

command add_inspect_command(CLI::App& root) {
    struct request {
        std::string path;
        bool as_json = false;
    };
    const auto asked = std::make_shared<request>();
    CLI::App& app = *root.add_subcommand("inspect", "verify a snapshot file and print what it holds");
    app.footer(
        "The file is only read. The hash key is never printed, only its id.\n"
        "Exit status: 0 a valid snapshot, 2 unreadable, damaged, or of a filter whose snapshots are no longer read.\n"
        "Example:\n  genista inspect users.snapshot --json");
    app.add_option("SNAPSHOT", asked->path, "file written by save(): a filter, an oracle or a model")->required();
    app.add_flag("--json", asked->as_json, "print JSON instead of a table");
    return {&app, [asked] { return inspect(asked->path, asked->as_json); }};
}

}  // namespace genista::tool
