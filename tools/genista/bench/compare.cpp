// Reading reports and dividing them. See compare.hpp. A report is a file from outside: every
// field is checked.
#include "bench/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "bench/figures.hpp"
#include "bench/report.hpp"
#include "table.hpp"

namespace genista::tool::bench {
namespace {

using json = nlohmann::ordered_json;

// Thrown and caught within read_run: a field is missing or of another type.
struct unfit {
    std::string why;
};

const json& field(const json& object, const std::string& name) {
    if (!object.is_object() || !object.contains(name)) throw unfit{fmt::format("'{}' is missing", name)};
    return object.at(name);
}
const json& list(const json& object, const std::string& name) {
    const json& found = field(object, name);
    if (!found.is_array()) throw unfit{fmt::format("'{}' is not a list", name)};
    return found;
}
std::string text(const json& object, const std::string& name) {
    const json& found = field(object, name);
    if (!found.is_string()) throw unfit{fmt::format("'{}' is not a string", name)};
    return found.get<std::string>();
}
double number(const json& object, const std::string& name) {
    const json& found = field(object, name);
    if (!found.is_number()) throw unfit{fmt::format("'{}' is not a number", name)};
    return found.get<double>();
}
std::uint64_t count(const json& object, const std::string& name) {
    const json& found = field(object, name);
    if (!found.is_number_integer() || found < 0) throw unfit{fmt::format("'{}' is not a count", name)};
    return found.get<std::uint64_t>();
}
// A time that is present and not zero.
std::optional<double> median(const json& object, std::string_view name) {
    const std::string full = fmt::format("{}_ns_median", name);
    if (field(object, full).is_null()) return std::nullopt;
    const double ns = number(object, full);
    if (!(ns > 0)) throw unfit{fmt::format("'{}' is not above 0", full)};
    return ns;
}

class run_reader {
  public:
    explicit run_reader(const json& document) : document_{document}, run_{field(field(document, "machine"), "run")} {}

    recorded_run read() {
        made_.error_rate = number(run_, "error_rate");
        made_.hash = text(run_, "hash");
        for (const json& size : list(document_, "sizes")) {
            for (const json& filter : list(size, "filters")) read_filter(size, filter);
        }
        return std::move(made_);
    }

  private:
    void read_filter(const json& size, const json& filter) {
        recorded_figure one;
        one.keys = count(size, "keys");
        one.filter = text(filter, "name");
        one.churn = one.filter.ends_with(churned_suffix) ? number(run_, "churn") : 0;
        const json& floors = list(field(size, "floor"), "threads");
        if (floors.empty()) throw unfit{"'floor' has no times"};
        for (const operation what : alone) add(one, filter, what, floors[0]);
        const json& teams = list(filter, "threads");
        for (std::size_t t = 0; t < teams.size(); ++t) {
            one.threads = count(teams[t], "threads");
            if (t >= floors.size() || count(floors[t], "threads") != one.threads) {
                throw unfit{fmt::format("'floor' has no times for {} threads", one.threads)};
            }
            for (const operation what : in_teams) add(one, teams[t], what, floors[t]);
        }
    }

    void add(recorded_figure one, const json& times, operation what, const json& floor) {
        const auto ns = median(times, name_of(what));
        const auto floor_ns = median(floor, in_batches(what) ? "floor_batch" : "floor");
        if (!ns || !floor_ns) return;
        one.operation = name_of(what);
        if (what == operation::mix) one.operation.append(" ").append(text(run_, "mix"));
        one.ns = *ns;
        one.floor_ns = *floor_ns;
        made_.figures.push_back(std::move(one));
    }

    const json& document_;
    const json& run_;
    recorded_run made_;
};

// Throws if the document is not a report of a version that this program reads.
void check_version(const json& document) {
    if (!document.is_object()) throw unfit{"it is not a JSON object"};
    if (!document.contains("format")) {
        const bool old = document.contains("filters") && document.contains("floor") && document.contains("machine");
        throw unfit{old ? fmt::format("it is of version 1, which had one size and no floor for each number of threads; "
                                      "measure again, version {} is allowed",
                                      report_version)
                        : std::string{"'format' is missing"}};
    }
    if (text(document, "format") != report_format) throw unfit{fmt::format("'format' is not '{}'", report_format)};
    if (const auto version = count(document, "version"); version != report_version) {
        throw unfit{fmt::format("it is of version {}; version {} is allowed", version, report_version)};
    }
}

// Nothing, and errno, if it cannot be read: a stream would throw at a folder.
std::optional<std::string> contents_of(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "rb"), &std::fclose};
    if (file == nullptr) return std::nullopt;
    std::string bytes;
    char part[4096];
    while (const std::size_t read = std::fread(part, 1, sizeof part, file.get())) bytes.append(part, read);
    if (std::ferror(file.get()) != 0) return std::nullopt;
    return bytes;
}

error unreadable(const std::string& path, const std::string& why) {
    return error::make(error_code::invalid_argument, "'%.80s' is not a report of genista bench --json: %.120s",
                       path.c_str(), why.c_str());
}

}  // namespace

bool recorded_figure::same_thing(const recorded_figure& other) const {
    return keys == other.keys && filter == other.filter && threads == other.threads && operation == other.operation &&
           churn == other.churn;
}

result<recorded_run> read_run(const nlohmann::ordered_json& document) {
    try {
        check_version(document);
        return run_reader{document}.read();
    } catch (const unfit& problem) {
        return error::make(error_code::invalid_argument, "%s", problem.why.c_str());
    }
}

result<recorded_run> load_run(const std::string& path) {
    const std::optional<std::string> bytes = contents_of(path);
    if (!bytes) {
        return error::make(error_code::invalid_argument, "'%.120s' cannot be read: %.60s", path.c_str(),
                           std::strerror(errno));
    }
    const json document = json::parse(*bytes, nullptr, false);
    if (document.is_discarded()) return unreadable(path, "it is not JSON");
    result<recorded_run> run = read_run(document);
    if (!run) return unreadable(path, std::string{run.error().message()});
    return run;
}

std::vector<comparison> compare(const recorded_run& before, const recorded_run& now) {
    std::vector<comparison> compared;
    for (const recorded_figure& one : now.figures) {
        const auto found =
            std::ranges::find_if(before.figures, [&](const recorded_figure& other) { return one.same_thing(other); });
        if (found != before.figures.end()) compared.push_back({*found, one});
    }
    return compared;
}

nlohmann::ordered_json to_json(const std::vector<comparison>& compared) {
    json rows = json::array();
    for (const comparison& each : compared) {
        rows.push_back({{"keys", each.now.keys},
                        {"filter", each.now.filter},
                        {"threads", each.now.threads},
                        {"operation", each.now.operation},
                        {"old_ns_median", each.before.ns},
                        {"new_ns_median", each.now.ns},
                        {"ratio", each.ratio()},
                        {"ratio_over_floor", each.ratio_over_floor()}});
    }
    return rows;
}

std::string to_text(const std::string& name, const recorded_run& before, const recorded_run& now) {
    const std::vector<comparison> compared = compare(before, now);
    if (compared.empty()) return fmt::format("\nThis run and {} have no figure in common.\n", name);
    std::string page =
        fmt::format("\nThis run against {}, medians. over floor: each divided by its own run's floor.\n", name);
    if (before.error_rate != now.error_rate) {
        page +=
            fmt::format("Mind: the old error rate is {:.4g}, the new one {:.4g}.\n", before.error_rate, now.error_rate);
    }
    if (before.hash != now.hash)
        page += fmt::format("Mind: the old hash is {}, the new one {}.\n", before.hash, now.hash);
    table rows{{{"keys", align::right},
                {"filter"},
                {"threads", align::right},
                {"operation"},
                {"old ns", align::right},
                {"new ns", align::right},
                {"new/old", align::right},
                {"over floor", align::right}}};
    for (const comparison& each : compared) {
        rows.add_row({grouped(each.now.keys), each.now.filter, std::to_string(each.now.threads), each.now.operation,
                      rounded(each.before.ns), rounded(each.now.ns), fmt::format("{:.3f}", each.ratio()),
                      fmt::format("{:.3f}", each.ratio_over_floor())});
    }
    return page + rows.text();
}

}  // namespace genista::tool::bench
