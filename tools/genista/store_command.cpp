// genista store: work on a guarded store that no program has open. `audit` compares data and index,
// `reindex` rebuilds the index, `unguard` removes the guard. docs/guard.md explains when.
#include <unistd.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "genista/stores/rocksdb/guarded_db.hpp"
#include "genista/stores/rocksdb/maintenance.hpp"
#include "json_target.hpp"
#include "progress.hpp"
#include "table.hpp"

namespace genista::tool {
namespace {

using json = nlohmann::ordered_json;

struct store_request {
    std::string path;
    std::string wal_dir;
    bool as_json = false;
    bool yes = false;

    [[nodiscard]] std::string json_path() const { return as_json ? "-" : ""; }
};

// DIR, --wal-dir and --json.
std::shared_ptr<store_request> add_store_options(CLI::App& app) {
    auto asked = std::make_shared<store_request>();
    app.add_option("DIR", asked->path, "directory of a guarded RocksDB database that no program has open")->required();
    app.add_option(
           "--wal-dir", asked->wal_dir,
           "directory of its log if that is not DIR; required if the OPTIONS file in DIR names one outside of DIR")
        ->type_name("DIR");
    app.add_flag("--json", asked->as_json, "print JSON instead of a table");
    return asked;
}

// Prints one line for an error of a store, with advice if another process has it open.
exit_status complain_of_store(const error& why) {
    std::string message{why.message()};
    if (message.find("/LOCK") != std::string::npos) message += " (is a program using it? stop it first)";
    if (const std::size_t at = message.find("(wal_dir)"); at != std::string::npos)
        message.replace(at, 9, "(--wal-dir)");
    return complain(status_of(why.code()), message);
}

// A key as a line of text: bytes that are not printable ASCII as \xNN, the rest of a long one as
// its length.
std::string printable(std::string_view key) {
    constexpr std::size_t longest = 60;
    std::string text;
    for (const char c : key.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte > 0x7e || c == '\\')
            text += fmt::format("\\x{:02x}", byte);
        else
            text += c;
    }
    return key.size() > longest ? fmt::format("{}... ({} bytes)", text, key.size()) : text;
}

// audit: has each key of the index a record, and each record a key?

const char* state_text(const rocks::store_audit& found) {
    if (found.state == rocks::store_state::indexing) return "indexing";
    return found.has_index ? "ready" : "no index";
}

json to_json(const std::string& path, const rocks::store_audit& found) {
    json document;
    document["path"] = printable(path);
    document["layout"] = to_string(found.arrangement);
    document["state"] = state_text(found);
    document["keys"] = found.keys;
    document["records"] = found.records;
    document["keys_without_record"] = found.keys_without_record;
    document["records_without_key"] = found.records_without_key;
    document["bad_records"] = found.bad_records;
    document["examples"] = json::array();
    for (const std::string& each : found.examples) document["examples"].push_back(printable(each));
    document["snapshots"] = json::array();
    for (const auto& each : found.snapshots) {
        json one;
        one["path"] = printable(each.path);
        one["bytes"] = each.size_bytes;
        one["trouble"] = each.trouble.empty() ? json{} : json{each.trouble};
        document["snapshots"].push_back(one);
    }
    document["unreadable"] = found.unreadable.empty() ? json{} : json{found.unreadable};
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
    const exit_status shown = publish(asked.json_path(), to_text(asked.path, *found), to_json(asked.path, *found));
    return found->is_sound() ? shown : exit_status::failed;
}

// reindex: rebuilds the index from the records, and the filter with its snapshot.

struct reindexed {
    std::uint64_t keys = 0;
    std::uint64_t filter_bytes = 0;
    double seconds = 0;
};

result<reindexed> reindex_store(const store_request& asked) {
    auto settings = rocks::settings_of(asked.path, nullptr, asked.wal_dir);
    if (!settings) return settings.error();
    rocks::guarded_db_options options;
    options.rocksdb = settings->rocksdb;
    options.families = settings->families;
    options.index = settings->index;
    options.create_if_missing = options.index_existing = false;
    options.rebuild_index = true;
    options.snapshotter = {.every = std::chrono::milliseconds{0}, .on_close = true};
    heartbeat alive;
    options.progress = [&](rocks::opening_stage stage, std::uint64_t done, std::uint64_t all) {
        alive.update(stage == rocks::opening_stage::indexing ? "building the index" : "building the filter", done, all);
    };
    const auto begin = std::chrono::steady_clock::now();
    auto opened = rocks::guarded_db::open(asked.path, options);
    if (!opened) return opened.error();
    const guard_counters counters = (*opened)->counters();
    if (const auto closed = (*opened)->Close(); !closed.ok())
        return rocks::to_error(closed, "save the filter and close the database");
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    return reindexed{
        .keys = counters.filter.keys, .filter_bytes = counters.filter.local_bytes, .seconds = taken.count()};
}

exit_status reindex(const store_request& asked) {
    // Refused before anything is written.
    if (const auto can = rocks::can_reindex(asked.path, {.wal_dir = asked.wal_dir}); !can)
        return complain_of_store(can.error());
    const auto done = reindex_store(asked);
    if (!done) return complain_of_store(done.error());
    table page{{{"what"}, {"done", align::left, 90}}};
    page.add_row({"store", asked.path});
    page.add_row({"keys in index and filter", grouped(done->keys)});
    page.add_row({"filter", grouped(done->filter_bytes) + " bytes, with a snapshot for the next opening"});
    page.add_row({"seconds", fmt::format("{:.1f}", done->seconds)});
    return publish(asked.json_path(), page.text(),
                   {{"path", printable(asked.path)},
                    {"keys", done->keys},
                    {"filter_bytes", done->filter_bytes},
                    {"seconds", done->seconds}});
}

// unguard: removes genista's families and files. The user's data stay, and a program without
// genista can open the database.

bool is_wanted(const std::string& path) {
    fmt::print(stderr,
               "Remove the guard of {}: the column families genista.* and the files in genista/. Your data stay.\n"
               "Type yes to continue: ",
               path);
    std::fflush(stderr);
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "yes";
}

exit_status unguard(const store_request& asked) {
    if (!asked.yes) {
        if (::isatty(STDIN_FILENO) != 1)
            return complain(exit_status::bad_input,
                            fmt::format("unguard changes '{}': give --yes, or run it on a terminal", asked.path));
        if (!is_wanted(asked.path))
            return complain(exit_status::bad_input, "nothing was changed: the answer was not yes");
    }
    const auto done = rocks::unguard_store(asked.path, {.wal_dir = asked.wal_dir});
    if (!done) return complain_of_store(done.error());
    table page{{{"what"}, {"done", align::left, 90}}};
    page.add_row({"store", asked.path});
    for (const std::string& each : done->families) page.add_row({"column family dropped", each});
    for (const std::string& each : done->files) page.add_row({"file removed", each});
    for (const std::string& each : done->kept) page.add_row({"not genista's, kept", each});
    const bool nothing = done->families.empty() && done->files.empty();
    page.add_row({"result", nothing ? "nothing to do: there is no guard" : "a plain RocksDB database"});
    const auto texts = [](const std::vector<std::string>& all) {
        json list = json::array();
        for (const std::string& each : all) list.push_back(printable(each));
        return list;
    };
    return publish(asked.json_path(), page.text(),
                   {{"path", printable(asked.path)},
                    {"families_dropped", texts(done->families)},
                    {"files_removed", texts(done->files)},
                    {"files_kept", texts(done->kept)}});
}

command add_audit_command(CLI::App& store) {
    CLI::App& app = *store.add_subcommand("audit", "compare the records of a store with its index");
    app.footer(
        "The store is only read. Snapshots of the filter are verified too.\n"
        "Exit status: 0 sound, 1 findings, 2 no guarded store.\n"
        "Example:\n  genista store audit /data/users --json");
    const auto asked = add_store_options(app);
    return {&app, [asked] { return audit(*asked); }};
}

command add_reindex_command(CLI::App& store) {
    CLI::App& app = *store.add_subcommand("reindex", "rebuild the index of a store from its records");
    app.footer(
        "The user's data are only read. The filter is rebuilt too, in RAM, and saved for the next opening. After an\n"
        "interrupt the next opening or the next reindex starts over.\n"
        "Progress on stderr: a bar on a terminal, else a line every ten seconds.\n"
        "Exit status: 0 done, 1 failed, 2 no guarded store, or one of the clustered layout, which has no index.\n"
        "Example:\n  genista store reindex /data/users");
    const auto asked = add_store_options(app);
    return {&app, [asked] { return reindex(*asked); }};
}

command add_unguard_command(CLI::App& store) {
    CLI::App& app = *store.add_subcommand("unguard", "remove genista's column families and files from a database");
    app.footer(
        "Your data do not change, and a program without genista can open the database afterwards. After an interrupt\n"
        "run the command again: it continues. The clustered layout cannot be unguarded: its values are stored under\n"
        "hashed keys.\n"
        "Exit status: 0 done, or nothing to do; 1 failed; 2 no database, the clustered layout, or no --yes.\n"
        "Example:\n  genista store unguard /data/users --yes");
    const auto asked = add_store_options(app);
    app.add_flag("--yes", asked->yes, "do not ask for confirmation");
    return {&app, [asked] { return unguard(*asked); }};
}

}  // namespace

std::vector<command> add_store_commands(CLI::App& root) {
    CLI::App& app = *root.add_subcommand("store", "audit, reindex or unguard a guarded RocksDB database");
    app.require_subcommand(0, 1);
    app.footer(
        "Example:\n  genista store audit /data/users --json\n"
        "  genista store reindex /data/users\n"
        "  genista store unguard /data/users --yes");
    return {add_audit_command(app), add_reindex_command(app), add_unguard_command(app)};
}

}  // namespace genista::tool
