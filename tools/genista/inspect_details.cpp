// One function a kind. See inspect_details.hpp.
#include "inspect_details.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "genista/detail/filters/daisy_broom/core.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/filters/with_oracle.hpp"
#include "genista/oracles/oracle_model.hpp"

namespace genista::tool {
namespace {

using json = nlohmann::ordered_json;

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

}  // namespace

std::string hex_digits(std::span<const std::byte> bytes) {
    std::string digits;
    for (const std::byte b : bytes) digits += fmt::format("{:02x}", std::to_integer<unsigned>(b));
    return digits;
}

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

result<json> inspect_details(snapshot_kind kind, std::span<const std::byte> bytes) {
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

}  // namespace genista::tool
