// genista store audit: has each key of the index a record, and each record a key?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "genista/stores/rocksdb/maintenance.hpp"
#include "json_target.hpp"
#include "store/commands.hpp"
#include "store/heartbeat.hpp"
#include "table.hpp"

namespace genista::tool {
namespace {

using audit_json = nlohmann::ordered_json;

const char* state_text(const rocks::store_audit& found) {
    if (found.state == rocks::store_state::indexing) return "indexing";
    return found.has_index ? "ready" : "no index";
}

audit_json to_json(const std::string& path, const rocks::store_audit& found) {
    audit_json document;
    document["path"] = printable(path);
    document["layout"] = to_string(found.arrangement);
    document["state"] = state_text(found);
    document["keys"] = found.keys;
    document["records"] = found.records;
    document["keys_without_record"] = found.keys_without_record;
    document["records_without_key"] = found.records_without_key;
    document["bad_records"] = found.bad_records;
    document["examples"] = audit_json::array();
    for (const std::string& each : found.examples) document["examples"].push_back(printable(each));
    document["snapshots"] = audit_json::array();
    for (const auto& each : found.snapshots) {
        audit_json one;
        one["path"] = printable(each.path);
        one["bytes"] = each.size_bytes;
        one["trouble"] = each.trouble.empty() ? audit_json{} : audit_json{each.trouble};
        document["snapshots"].push_back(one);
    }
    document["unreadable"] = found.unreadable.empty() ? audit_json{} : audit_json{found.unreadable};
    document["sound"] = found.is_sound();
    return document;
}

std::string advice(const rocks::store_audit& found) {
    if (found.is_sound()) return "sound: records and index agree";
    if (!found.unreadable.empty()) return "not everything could be read: " + found.unreadable;
    if (found.state == rocks::store_state::indexing || !found.has_index)
        return "the index is incomplete: the next opening by guarded_db builds it, and so does genista store reindex";
    if (found.arrangement == rocks::layout::clustered && found.bad_records > 0)
        return "records that were not written through a guard: a guard never finds them";
    if (found.keys_without_record > 0) return "a guard denies keys: run genista store reindex";
    if (found.bad_records + found.records_without_key > 0)
        return "records without a key cost reads, but no key is denied: run genista store reindex";
    return "a damaged snapshot: the next opening removes it, and rebuilds the filter if there is no other";
}

std::string to_text(const std::string& path, const rocks::store_audit& found) {
    table page{{{"what"}, {"found", align::left, 90}}};
    page.add_row({"store", path});
    page.add_row({"layout", std::string{to_string(found.arrangement)}});
    page.add_row({"index", found.arrangement == rocks::layout::clustered ? "none: the records are in its order"
                                                                         : state_text(found)});
    page.add_row({"keys", grouped(found.keys)});
    page.add_row({"records", grouped(found.records)});
    page.add_row({"keys without a record", grouped(found.keys_without_record)});
    page.add_row({"records without a key", grouped(found.records_without_key)});
    page.add_row({"bad records", grouped(found.bad_records)});
    for (const std::string& each : found.examples) page.add_row({"for example", printable(each)});
    for (const auto& each : found.snapshots)
        page.add_row({"snapshot",
                      fmt::format("{}: {}", each.path,
                                  each.trouble.empty() ? grouped(each.size_bytes) + " bytes, whole" : each.trouble)});
    if (found.snapshots.empty()) page.add_row({"snapshot", "none: the next opening builds the filter"});
    page.add_row({"result", advice(found)});
    return page.text();
}

exit_status audit(const store_request& asked) {
    const auto found = [&] {
        heartbeat alive;
        return rocks::audit_store(asked.path, {.wal_dir = asked.wal_dir,
                                               .progress = [&](std::string_view stage, std::uint64_t done,
                                                               std::uint64_t all) { alive.update(stage, done, all); }});
    }();
    if (!found) return complain_of_store(found.error());
    const exit_status status = found->is_sound() ? exit_status::ok : exit_status::failed;
    if (!asked.as_json) {
        fmt::print("{}", to_text(asked.path, *found));
        return status;
    }
    const auto written = write_json("-", to_json(asked.path, *found));
    return written ? status : complain(exit_status::failed, written.error().message());
}

}  // namespace

command add_store_audit_command(CLI::App& store) {
    CLI::App& app = *store.add_subcommand("audit", "compare the records of a store with its index");
    app.footer(
        "The store is only read. Snapshots of the filter are verified too.\n"
        "Exit status: 0 sound, 1 findings, 2 no guarded store.\n"
        "Example:\n  genista store audit /data/users --json");
    const auto asked = add_store_options(app);
    return {&app, [asked] { return audit(*asked); }};
}

}  // namespace genista::tool
