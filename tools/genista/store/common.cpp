// Options, errors and keys as text, for the commands below `genista store`. See commands.hpp.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "store/commands.hpp"

namespace genista::tool {

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

exit_status complain_of_store(const error& why) {
    std::string message{why.message()};
    if (message.find("/LOCK") != std::string::npos) message += " (is a program using it? stop it first)";
    if (const std::size_t at = message.find("(wal_dir)"); at != std::string::npos)
        message.replace(at, 9, "(--wal-dir)");
    return complain(status_of(why.code()), message);
}

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

}  // namespace genista::tool
