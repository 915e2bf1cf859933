// genista inspect: what a snapshot file holds. Everything is verified first; the secret hash key is never shown.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/machine.hpp"
#include "command.hpp"
#include "filters.hpp"
#include "genista/format/mapped_file.hpp"
#include "genista/format/snapshot.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/oracles/oracle_model.hpp"
#include "json_target.hpp"
#include "table.hpp"

namespace genista::tool {
namespace {

using json = nlohmann::ordered_json;

std::string hash_name(std::uint16_t id) {
    switch (static_cast<hash_kind>(id)) {
        case hash_kind::custom:
            return "custom";
        case hash_kind::keyed:
            return "keyed";
        case hash_kind::trusted:
            return "trusted";
    }
    return "unknown";
}

std::string hex(std::span<const std::byte> bytes) {
    std::string digits;
    for (const std::byte b : bytes) digits += fmt::format("{:02x}", std::to_integer<unsigned>(b));
    return digits;
}

// What the envelope says of any kind, known or not.
json envelope_json(const snapshot_view& view, std::uint64_t file_bytes) {
    const snapshot_info& info = view.info;
    std::vector<std::size_t> section_bytes;
    for (std::size_t s = 0; s < view.section_count; ++s) section_bytes.push_back(view.sections[s].size());
    return {{"kind", to_string(info.kind)},
            {"kind_id", static_cast<unsigned>(info.kind)},
            {"kind_version", info.kind_version},
            {"format_version", snapshot_format_version},
            {"hash", hash_name(info.hash_id)},
            {"hash_id", info.hash_id},
            {"key_id", fmt::format("{:016x}", info.key_id)},
            {"store_identity", hex(info.store.identity)},
            {"sequence", info.store.sequence},
            {"file_bytes", file_bytes},
            {"parameters_bytes", view.parameters.size()},
            {"section_bytes", section_bytes},
            {"checksums", "ok"}};  // or open_snapshot would have refused
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

bool is_oracle(snapshot_kind kind) noexcept {
    return kind >= snapshot_kind::exact_oracle && kind <= snapshot_kind::score_oracle;
}

json oracle_json(const any_oracle& oracle) {
    return {{"name", oracle.name()}, {"bytes", oracle.memory_bytes()}};
}

// What an oracle or a model says of itself. Null for other kinds.
result<json> oracle_facts(snapshot_kind kind, std::span<const std::byte> bytes) {
    if (is_oracle(kind)) {
        const auto oracle = any_oracle::load(bytes);
        if (!oracle) return oracle.error();
        return oracle_json(*oracle);
    }
    if (kind != snapshot_kind::oracle_model) return json(nullptr);
    const auto model = oracle_model::load(bytes);
    if (!model) return model.error();
    json facts = oracle_json(*model->oracle());
    facts["insert_draws"] = model->origin().insert_draws;
    facts["query_draws"] = model->origin().query_draws;
    facts["held_out"] = model->origin().is_held_out;
    return facts;
}

std::string to_text(const json& document) {
    table page{{{"field"}, {"value", align::left, 90}}};
    for (const auto& [name, value] : document.items()) {
        if (name == "stats" || value.is_null()) continue;
        if (value.is_object()) {
            for (const auto& [inner, fact] : value.items())
                page.add_row({name + "." + inner, fact.is_string() ? fact.get<std::string>() : fact.dump()});
            continue;
        }
        page.add_row({name, value.is_string() ? value.get<std::string>() : value.dump()});
    }
    if (document["stats"].is_null()) {
        if (!document.contains("oracle"))  // which has none
            page.add_row({"stats", "unknown: this version of genista does not know the kind"});
        return page.text();
    }
    for (const auto& [name, value] : document["stats"].items()) {
        page.add_row(
            {"stats." + name, value.is_number_unsigned() ? grouped(value.get<std::uint64_t>()) : value.dump()});
    }
    return page.text();
}

exit_status inspect(const std::string& path, bool as_json) {
    const auto refuse = [&path](const error& why) {
        const std::string message{why.message()};
        return complain(exit_status::bad_input,
                        message.find(path) == std::string::npos ? fmt::format("'{}': {}", path, message) : message);
    };
    // A copy, not a mapping: whoever cuts the file short meanwhile must not end this process (mapped_file.hpp).
    const std::uint64_t memory = bench::physical_memory_bytes();
    const result<buffer> file = read_file(path, memory == 0 ? UINT64_MAX : memory);
    if (!file) return refuse(file.error());
    const result<snapshot_view> view = open_snapshot(file->bytes());
    if (!view) return refuse(view.error());
    json document = envelope_json(*view, file->bytes().size());
    document["filter"] = nullptr;
    document["stats"] = nullptr;
    result<json> oracle = oracle_facts(view->info.kind, file->bytes());
    if (!oracle) return refuse(oracle.error());
    if (!oracle->is_null()) document["oracle"] = *std::move(oracle);
    if (const filter_entry* known = find_filter(view->info.kind); known != nullptr) {
        const result<saved_filter> saved = known->load(file->bytes());
        if (!saved) return refuse(saved.error());
        document["filter"] = saved->name;
        if (!saved->details.empty()) document["details"] = saved->details;
        document["stats"] = stats_json(saved->stats);
    }
    if (!as_json) {
        fmt::print("{}", to_text(document));
        return exit_status::ok;
    }
    const result<void> written = write_json("-", document);
    return written ? exit_status::ok : complain(exit_status::failed, written.error().message());
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
        "The file is only read. The hash key itself is never printed, only its id.\n"
        "Exit status: 0 a valid snapshot, 2 unreadable or damaged.\n"
        "Example:\n  genista inspect users.snapshot --json");
    app.add_option("SNAPSHOT", asked->path, "file that a filter's save() or genista daisy train wrote")->required();
    app.add_flag("--json", asked->as_json, "print JSON instead of a table");
    return {&app, [asked] { return inspect(asked->path, asked->as_json); }};
}

}  // namespace genista::tool
