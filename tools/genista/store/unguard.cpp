// genista store unguard: removes genista's families and files. The user's data stay, and a program
// without genista can open the database.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "genista/stores/rocksdb/maintenance.hpp"
#include "json_target.hpp"
#include "store/commands.hpp"
#include "table.hpp"

namespace genista::tool {
namespace {

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
    if (asked.as_json) {
        nlohmann::ordered_json document;
        const auto texts = [](const std::vector<std::string>& all) {
            auto list = nlohmann::ordered_json::array();
            for (const std::string& each : all) list.push_back(printable(each));
            return list;
        };
        document["path"] = printable(asked.path);
        document["families_dropped"] = texts(done->families);
        document["files_removed"] = texts(done->files);
        document["files_kept"] = texts(done->kept);
        const auto written = write_json("-", document);
        return written ? exit_status::ok : complain(exit_status::failed, written.error().message());
    }
    table page{{{"what"}, {"done", align::left, 90}}};
    page.add_row({"store", asked.path});
    for (const std::string& each : done->families) page.add_row({"column family dropped", each});
    for (const std::string& each : done->files) page.add_row({"file removed", each});
    for (const std::string& each : done->kept) page.add_row({"not genista's, kept", each});
    const bool nothing = done->families.empty() && done->files.empty();
    page.add_row({"result", nothing ? "nothing to do: there is no guard" : "a plain RocksDB database"});
    fmt::print("{}", page.text());
    return exit_status::ok;
}

}  // namespace

command add_store_unguard_command(CLI::App& store) {
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

}  // namespace genista::tool
