// Options with checked values. See options.hpp.
#include "options.hpp"

#include <fmt/format.h>

#include "json_target.hpp"

namespace genista::tool {
namespace {

// CLI11 takes a refusal as an exception; it never leaves the parser.
[[noreturn]] void refuse(const std::string& option, const error& why) {
    throw CLI::ValidationError{option, std::string{why.message()}};
}

}  // namespace

CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t& target, count_range allowed,
                       const std::string& help) {
    const auto take = [&target, allowed, name](const std::string& text) {
        const result<std::uint64_t> value = parse_count(text, allowed);
        if (!value) refuse(name, value.error());
        target = *value;
    };
    return app.add_option_function<std::string>(name, take, help)->type_name("N")->default_str(fmt::to_string(target));
}

CLI::Option* add_rate(CLI::App& app, const std::string& name, double& target, const std::string& help) {
    const auto take = [&target, name](const std::string& text) {
        const result<double> value = parse_rate(text);
        if (!value) refuse(name, value.error());
        target = *value;
    };
    return app.add_option_function<std::string>(name, take, help)->type_name("E")->default_str(fmt::to_string(target));
}

CLI::Option* add_json_target(CLI::App& app, std::string& target) {
    const auto take = [&target](const std::string& path) {
        if (const result<void> usable = check_json_target(path); !usable) refuse("--json", usable.error());
        target = path;
    };
    return app
        .add_option_function<std::string>("--json", take,
                                          "write the results as JSON; - is stdout, which then has nothing else")
        ->type_name("FILE|-");
}

CLI::Option* add_report_target(CLI::App& app, std::string& target, const std::string& name) {
    const auto take = [&target, name](const std::string& path) {
        if (path == "-") throw CLI::ValidationError{name, "'-' is not a file; the report is HTML for a browser"};
        if (const result<void> usable = check_file_target(path); !usable) refuse(name, usable.error());
        target = path;
    };
    return app.add_option_function<std::string>(name, take, "write an HTML page with charts")->type_name("FILE.html");
}

}  // namespace genista::tool
