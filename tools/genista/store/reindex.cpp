// genista store reindex: rebuilds the index from the records, and the filter with its snapshot.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "genista/stores/rocksdb/guarded_db.hpp"
#include "genista/stores/rocksdb/maintenance.hpp"
#include "json_target.hpp"
#include "store/commands.hpp"
#include "store/heartbeat.hpp"
#include "table.hpp"

namespace genista::tool {
namespace {

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
    if (asked.as_json) {
        nlohmann::ordered_json document;
        document["path"] = printable(asked.path);
        document["keys"] = done->keys;
        document["filter_bytes"] = done->filter_bytes;
        document["seconds"] = done->seconds;
        const auto written = write_json("-", document);
        return written ? exit_status::ok : complain(exit_status::failed, written.error().message());
    }
    table page{{{"what"}, {"done", align::left, 90}}};
    page.add_row({"store", asked.path});
    page.add_row({"keys in index and filter", grouped(done->keys)});
    page.add_row({"filter", grouped(done->filter_bytes) + " bytes, with a snapshot for the next opening"});
    page.add_row({"seconds", fmt::format("{:.1f}", done->seconds)});
    fmt::print("{}", page.text());
    return exit_status::ok;
}

}  // namespace

command add_store_reindex_command(CLI::App& store) {
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

}  // namespace genista::tool
