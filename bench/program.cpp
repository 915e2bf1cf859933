// program: the command line before a measurement and the report after it. See program.hpp.
#include "program.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string_view>

#include "command.hpp"
#include "genista/filters/broom.hpp"
#include "json_target.hpp"
#include "options.hpp"
#include "table.hpp"

namespace genista::bench {
namespace {

using tool::exit_status;

int complain(const CLI::App& app, exit_status status, std::string message) {
    for (char& c : message) c = c == '\n' ? ' ' : c;
    fmt::print(stderr, "{}: {}\n", app.get_name(), message);
    return static_cast<int>(status);
}

int report(const CLI::App& app, const findings& found, const std::string& json_path) {
    if (!tool::owns_stdout(json_path)) fmt::print("{}", found.text);
    if (!json_path.empty()) {
        if (const auto written = tool::write_json(json_path, found.json); !written)
            return complain(app, exit_status::failed, std::string{written.error().message()});
    }
    if (std::fflush(stdout) != 0) return complain(app, exit_status::failed, "stdout cannot be written");
    for (const std::string& each : found.faults) (void)complain(app, exit_status::failed, "FAILED: " + each);
    return static_cast<int>(found.faults.empty() ? exit_status::ok : exit_status::failed);
}

// The value of a line "name:  12345 kB" in the kernel's status of this process; 0 if there is none.
std::uint64_t bytes_in_status(std::string_view name) {
    std::ifstream file{"/proc/self/status"};
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(name)) return std::strtoull(line.c_str() + name.size(), nullptr, 10) * 1024;
    }
    return 0;
}

}  // namespace

int run_program(CLI::App& app, int argument_count, char** arguments, const std::function<findings()>& work) {
    std::string json_path;
    const auto refuse = [&](const CLI::ParseError& problem) {
        return complain(app, exit_status::bad_input, fmt::format("{} (see {} --help)", problem.what(), app.get_name()));
    };
    app.set_help_flag("-h,--help", "print this help and exit");
    tool::add_json_target(app, json_path);
    app.footer("Exit status: 0 done, 1 a promise was broken or the work failed, 2 bad input.");
    try {
        app.parse(argument_count, arguments);
    } catch (const CLI::ParseError& problem) {
        return problem.get_exit_code() == 0 ? app.exit(problem) : refuse(problem);
    }
    try {
        return report(app, work(), json_path);
    } catch (const CLI::ParseError& problem) {
        return refuse(problem);
    } catch (const std::exception& problem) {
        return complain(app, exit_status::failed, problem.what());
    }
}

void check_broom_rate(double rate) {
    // Sizing refuses the same rates as making a filter.
    if (const auto sized = broom_filter::bits_for(1'000'000, rate); !sized)
        throw CLI::ValidationError{"--rate", std::string{sized.error().message()}};
}

std::string lines_text(const std::vector<line_of_text>& lines) {
    tool::table page{{{"figure"}, {"value", tool::align::right}, {"", tool::align::left, 60}}};
    for (const line_of_text& each : lines) page.add_row({each.name, each.value, each.remark});
    return page.text();
}

std::string shown_time(double nanoseconds) {
    if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
    if (nanoseconds < 1e6) return fmt::format("{:.2f} µs", nanoseconds * 1e-3);
    if (nanoseconds < 1e9) return fmt::format("{:.2f} ms", nanoseconds * 1e-6);
    return fmt::format("{:.2f} s", nanoseconds * 1e-9);
}

std::uint64_t peak_resident_bytes() {
    return bytes_in_status("VmHWM:");
}

std::uint64_t resident_bytes() {
    return bytes_in_status("VmRSS:");
}

void forget_peak() {
    std::ofstream{"/proc/self/clear_refs"} << "5";
}

}  // namespace genista::bench
