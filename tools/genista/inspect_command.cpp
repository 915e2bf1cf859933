// genista inspect: what a snapshot file holds, filter, oracle or model. Everything is verified
// first; the secret hash key is never shown.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "filters.hpp"
#include "genista/detail/format/snapshot.hpp"
#include "genista/format/mapped_file.hpp"
#include "genista/hash/hasher.hpp"
#include "inspect_details.hpp"
#include "json_target.hpp"
#include "machine.hpp"
#include "table.hpp"

namespace genista::tool {
namespace {

using json = nlohmann::ordered_json;

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
    const result<json> details = inspect_details(view->info.kind, file->bytes());
    if (!details) return refuse(details.error());
    document.update(*details);
    const filter_entry* const known = details->empty() ? find_filter(view->info.kind) : nullptr;
    if (known != nullptr) {
        const result<saved_filter> saved = known->load(file->bytes());
        if (!saved) return refuse(saved.error());
        document["filter"] = saved->name;
        document["stats"] = stats_json(saved->stats);
    }
    if (!as_json) {
        fmt::print("{}", to_text(document, known != nullptr || !details->empty()));
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
        "The file is only read. The hash key is never printed, only its id.\n"
        "Exit status: 0 a valid snapshot, 2 unreadable, damaged, or of a filter whose snapshots are no longer read.\n"
        "Example:\n  genista inspect users.snapshot --json");
    app.add_option("SNAPSHOT", asked->path, "file written by save(): a filter, an oracle or a model")->required();
    app.add_flag("--json", asked->as_json, "print JSON instead of a table");
    return {&app, [asked] { return inspect(asked->path, asked->as_json); }};
}

}  // namespace genista::tool
