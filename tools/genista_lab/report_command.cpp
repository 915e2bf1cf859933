// genista lab report: every experiment and the attack matrix, on one page. Finished parts are kept
// (report/parts.hpp): after an interrupt the same command continues where it was.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "genista/version.hpp"
#include "json_target.hpp"
#include "lab/adversaries/adversary.hpp"
#include "lab/games/attack_matrix.hpp"
#include "lab/report/page.hpp"
#include "lab/report/text.hpp"
#include "lab/workloads/data.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report/parts.hpp"
#include "table.hpp"

namespace genista::tool {
namespace {

using json = nlohmann::ordered_json;
using clock = std::chrono::steady_clock;

constexpr std::string_view matrix_name = "matrix";

struct report_request {
    lab::run_options options;
    std::vector<std::string> only;
    std::string html_path = "genista-lab.html";
    std::string json_path;
    std::uint64_t at_a_time = 0;  // 0: a job a core
    bool fresh = false;
};

// One thing to do: an experiment, or an adversary's row of the matrix.
struct task {
    std::string id;  // of its part
    const lab::experiment* experiment = nullptr;
    const lab::adversary* adversary = nullptr;
    double expected_seconds = 1;
    bool alone = false;
};

double seconds_of(const lab::estimate& takes, bool quick) {
    return quick ? takes.quick_seconds : 60 * takes.full_minutes;
}

std::vector<std::string> known_ids() {
    std::vector<std::string> ids;
    for (const lab::experiment& each : lab::all_experiments()) {
        if (each.is_built()) ids.emplace_back(each.id);
    }
    ids.emplace_back(matrix_name);
    return ids;
}

bool asks_for(const report_request& asked, std::string_view id) {
    return asked.only.empty() || std::ranges::find(asked.only, id) != asked.only.end();
}

std::vector<task> tasks_of(const report_request& asked) {
    std::vector<task> tasks;
    for (const lab::experiment& each : lab::all_experiments()) {
        if (!each.is_built() || !asks_for(asked, each.id)) continue;
        tasks.push_back(
            {std::string{each.id}, &each, nullptr, seconds_of(each.takes, asked.options.quick), each.takes.alone});
    }
    if (!asks_for(asked, matrix_name)) return tasks;
    for (const lab::adversary& each : lab::all_adversaries()) {
        tasks.push_back({fmt::format("{}-{}", matrix_name, each.name), nullptr, &each,
                         seconds_of(lab::matrix_row_estimate, asked.options.quick), lab::matrix_row_estimate.alone});
    }
    return tasks;
}

// For a terminal: a page has blanks there that must not break.
std::string duration(double seconds) {
    std::string text = lab::report::duration_text(seconds);
    const std::size_t at = text.find(lab::report::no_break);
    return at == std::string::npos ? text : text.replace(at, lab::report::no_break.size(), " ");
}

json outcome_json(const lab::outcome& made) {
    json figures = json::array();
    for (const lab::report::section& each : made.figures) figures.push_back(to_json(each));
    return {{"promised", made.promised},     {"measured", made.measured},           {"kept", made.kept},
            {"control", json(made.control)}, {"parameters", json(made.parameters)}, {"series", json(made.series)},
            {"figures", std::move(figures)}};
}

lab::outcome outcome_from(const json& from) {
    lab::outcome made;
    made.promised = from.at("promised").get<std::string>();
    made.measured = from.at("measured").get<std::string>();
    made.kept = from.at("kept").get<bool>();
    made.control = from.at("control");
    made.parameters = from.at("parameters");
    made.series = from.at("series");
    for (const json& each : from.at("figures")) made.figures.push_back(lab::report::section_from_json(each));
    return made;
}

class report_run {
  public:
    explicit report_run(const report_request& asked)
        : asked_{asked},
          folder_{asked.html_path + ".parts"},
          tasks_{tasks_of(asked)},
          quiet_{owns_stdout(asked.json_path)} {
        const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
        at_a_time_ = asked.at_a_time == 0 ? std::min(cores, most_by_default) : static_cast<unsigned>(asked.at_a_time);
    }

    exit_status go() {
        if (const auto opened = folder_.open(); !opened)
            return complain(exit_status::bad_input, opened.error().message());
        const std::vector<const task*> missing = take_finished();
        tell_plan(missing);
        if (const int signal = run(missing); signal != 0) return interrupted(signal);
        return publish();
    }

  private:
    static constexpr unsigned most_by_default = 4;  // some take a few GB in full

    template <class... T>
    void say(fmt::format_string<T...> text, T&&... values) const {
        if (!quiet_) fmt::print(text, std::forward<T>(values)...);
    }

    [[nodiscard]] part_stamp stamp_of(const task& what) const {
        const bool replays = what.experiment != nullptr && what.experiment->accepts.replays_traces;
        return {.version = std::string{library_version()},
                .build = build_,
                .seed = asked_.options.seed,
                .quick = asked_.options.quick,
                .data = replays ? asked_.options.data_directory : ""};
    }

    // Into the content if the part is there and whole.
    bool take(const task& what, const part& found) {
        try {
            if (what.experiment != nullptr) {
                content_.experiments.push_back({what.id, outcome_from(found.content), found.seconds, ""});
            } else {
                const auto cells = lab::matrix_from_json(found.content);
                content_.matrix.insert(content_.matrix.end(), cells.begin(), cells.end());
                content_.matrix_seconds += found.seconds;
            }
            return true;
        } catch (const json::exception&) {  // whole, but not of the form that this program writes
            return false;
        }
    }

    // Takes the finished parts; the rest is to do. Prints why a part is not used.
    std::vector<const task*> take_finished() {
        std::vector<const task*> missing;
        std::vector<std::pair<std::string, std::vector<std::string>>> refused;
        for (const task& each : tasks_) {
            const part found = asked_.fresh ? part{} : folder_.read(each.id, stamp_of(each));
            if (found.usable) continue;
            missing.push_back(&each);
            if (found.why_not.empty()) continue;
            auto same = std::ranges::find(refused, found.why_not, [](const auto& pair) { return pair.first; });
            if (same == refused.end()) same = refused.insert(refused.end(), {found.why_not, {}});
            same->second.push_back(each.id);
        }
        for (const auto& [why, ids] : refused) {
            for (const std::string& line : wrap(fmt::format("Run again, because what {} holds is {}: {}.",
                                                            folder_.path(), why, fmt::join(ids, ", ")),
                                                page_width))
                say("{}\n", line);
        }
        return missing;
    }

    void tell_plan(const std::vector<const task*>& missing) const {
        const std::size_t finished = tasks_.size() - missing.size();
        if (finished > 0) say("{} of {} parts are finished already ({}).\n", finished, tasks_.size(), folder_.path());
        if (missing.empty()) return;
        say("{} to run, {} at a time: about {} on an idle machine, as an estimate.\n"
            "Ctrl-C ends it, and the same command continues.\n",
            missing.size(), at_a_time_, duration(expected_seconds(missing)));
        if (!quiet_) std::fflush(stdout);
    }

    [[nodiscard]] double expected_seconds(const std::vector<const task*>& missing) const {
        double together = 0, alone = 0, longest = 0;
        for (const task* each : missing) {
            (each->alone ? alone : together) += each->expected_seconds;
            if (!each->alone) longest = std::max(longest, each->expected_seconds);
        }
        return alone + std::max(longest, together / at_a_time_);
    }

    // In a worker: measures and writes the part. Empty, or the error.
    [[nodiscard]] std::string work(const task& what, const std::function<void(double)>& tell) const {
        const auto began = clock::now();
        json content;
        if (what.experiment != nullptr) {
            lab::run_options options = asked_.options;
            options.progress = tell;
            if (!what.experiment->accepts.replays_traces) options.data_directory.clear();
            const result<lab::outcome> made = what.experiment->run(options);
            if (!made) return std::string{made.error().message()};
            content = outcome_json(*made);
        } else {
            const auto cells = lab::play_matrix({.quick = asked_.options.quick,
                                                 .seed = asked_.options.seed,
                                                 .adversaries = {std::string{what.adversary->name}},
                                                 .on_all_processors = false,
                                                 .progress = tell});
            if (!cells) return std::string{cells.error().message()};
            content = to_json(*cells);
        }
        const std::chrono::duration<double> took = clock::now() - began;
        const result<void> written = folder_.write(what.id, stamp_of(what), took.count(), content);
        return written ? "" : std::string{written.error().message()};
    }

    // 0, or the signal that ended it.
    int run(const std::vector<const task*>& missing) {
        std::vector<job> jobs;
        for (const task* each : missing) {
            jobs.push_back({each->id, each->expected_seconds, each->alone,
                            [this, each](const auto& tell) { return work(*each, tell); }});
        }
        std::optional<progress> bar;
        const auto began = clock::now();
        std::size_t finished = tasks_.size() - missing.size();
        job_events events;
        events.finished = [&](const job& done, const std::string& failure) {
            bar.reset();
            ++finished;
            if (!failure.empty()) failures_.emplace_back(done.name, failure);
            say("{:>3}/{}  {}: {}\n", finished, tasks_.size(), done.name,
                failure.empty() ? summary(done.name) : "FAILED: " + failure);
            if (!quiet_) std::fflush(stdout);
        };
        events.progress = [&](double share, const std::vector<std::string>& at_work) {
            if (!bar) bar.emplace("");
            const std::chrono::duration<double> gone = clock::now() - began;
            const std::string left = share > 0.02 ? duration(gone.count() * (1 - share) / share) + " left, " : "";
            bar->update(share, left + fmt::format("{}", fmt::join(at_work, ", ")));
        };
        return run_jobs(jobs, at_a_time_, events);
    }

    // "kept (2.1 s)"
    [[nodiscard]] std::string summary(const std::string& id) const {
        const auto what = std::ranges::find(tasks_, id, &task::id);
        const part found = folder_.read(id, stamp_of(*what));
        if (!found.usable) return "left no result";
        const std::string took = duration(found.seconds);
        if (what->experiment != nullptr)
            return fmt::format("{} ({})", found.content.value("kept", false) ? "kept" : "BROKEN", took);
        std::size_t lost = 0, denied = 0;
        for (const lab::matrix_cell& each : lab::matrix_from_json(found.content)) {
            lost += each.said == lab::verdict::loses ? 1U : 0U;
            denied += each.said == lab::verdict::denies ? 1U : 0U;
        }
        if (denied > 0) return fmt::format("A STORED KEY WAS DENIED by {} filters ({})", denied, took);
        return fmt::format("{} of {} filters lose ({})", lost, found.content.size(), took);
    }

    [[nodiscard]] std::string command_line() const {
        std::string line = "genista lab report";
        if (asked_.options.quick) line += " --quick";
        if (asked_.options.seed != 1) line += fmt::format(" --seed {}", asked_.options.seed);
        if (!asked_.only.empty()) line += fmt::format(" --only {}", fmt::join(asked_.only, ","));
        if (!asked_.options.data_directory.empty()) line += " --data " + asked_.options.data_directory;
        return line + " --html " + asked_.html_path;
    }

    exit_status interrupted(int signal) const {
        std::size_t finished = 0;
        for (const task& each : tasks_) finished += folder_.read(each.id, stamp_of(each)).usable ? 1U : 0U;
        complain(exit_status::failed,
                 fmt::format("interrupted; {} of {} parts are finished and kept in {}. Continue with: {}", finished,
                             tasks_.size(), folder_.path(), command_line()));
        std::fflush(nullptr);
        std::signal(signal, SIG_DFL);
        std::raise(signal);
        return exit_status::failed;
    }

    exit_status publish() {
        for (const task& each : tasks_) {
            const auto failed = std::ranges::find(failures_, each.id, [](const auto& pair) { return pair.first; });
            const part found = folder_.read(each.id, stamp_of(each));
            const bool ran_now_and_failed = failed != failures_.end();
            if (!ran_now_and_failed && found.usable && take(each, found)) continue;
            const std::string why =
                ran_now_and_failed ? failed->second : "its part in " + folder_.path() + " is gone or damaged";
            if (each.experiment != nullptr) content_.experiments.push_back({each.id, {}, 0, why});
            all_done_ = false;
            (void)complain(exit_status::failed, fmt::format("{}: {}", each.id, why));
        }
        content_.run = facts_of_this_run(command_line(), build_, asked_.options.seed, asked_.options.quick);
        const result<void> page = lab::report::write_html(asked_.html_path, lab::report::report_page(content_));
        if (!page) return complain(exit_status::failed, page.error().message());
        say("{}", where_the_report_is(asked_.html_path));
        if (!asked_.json_path.empty()) {
            const result<void> written = write_json(asked_.json_path, lab::report::report_json(content_));
            if (!written) return complain(exit_status::failed, written.error().message());
        }
        if (!all_done_) return exit_status::failed;
        if (lab::report::all_is_well(content_)) return exit_status::ok;
        return complain(exit_status::failed, "a promise is broken or a stored key was denied: see the report");
    }

    const report_request& asked_;
    parts_folder folder_;
    std::vector<task> tasks_;
    const bool quiet_;
    const std::string build_ = program_digest();
    unsigned at_a_time_ = 1;
    lab::report::report_content content_;
    std::vector<std::pair<std::string, std::string>> failures_;
    bool all_done_ = true;
};

exit_status make_report(const report_request& asked) {
    for (const std::string& id : asked.only) {
        if (id == matrix_name || lab::find_experiment(id) != nullptr) continue;
        return complain(exit_status::bad_input, unknown_name(id, "experiment", known_ids()));
    }
    // Here, and not in a worker an hour later.
    if (const auto folder = lab::find_data_folder(asked.options.data_directory); !folder)
        return complain(exit_status::bad_input, folder.error().message());
    const named_path parts{"the finished parts", asked.html_path + ".parts"};
    if (const auto apart = check_apart({parts}, {{"--json", asked.json_path}, {"--html", asked.html_path}}); !apart)
        return complain(exit_status::bad_input, apart.error().message());
    return report_run{asked}.go();
}

}  // namespace

command add_lab_report_command(CLI::App& lab_app) {
    const auto asked = std::make_shared<report_request>();
    CLI::App& app = *lab_app.add_subcommand("report", "run all experiments and the attack matrix, and write one page");
    app.footer(
        "Each finished part is kept in FILE.html.parts: after an interrupt the same command continues where it was, "
        "and\n"
        "once all parts are finished it runs nothing. Parts of another build, seed or mode are run again. The folder "
        "may\n"
        "be deleted at any time.\n"
        "Exit status: 0 all promises kept, 1 one broken, a stored key denied or failed work, 2 bad input.\n"
        "Example:\n  genista lab report --quick --html lab.html\n"
        "  genista lab report --only broom-game,matrix --html broom.html");
    app.add_flag("--quick", asked->options.quick,
                 "smaller sizes, judged by the same rule; minutes instead of an hour or two");
    add_report_target(app, asked->html_path, "--html")->default_str(asked->html_path);
    add_json_target(app, asked->json_path);
    add_count(app, "--seed", asked->options.seed, {}, "source of all randomness");
    app.add_option("--only", asked->only, "only these experiments (genista lab list), and matrix")
        ->delimiter(',')
        ->type_name("ID,...");
    app.add_option("--data", asked->options.data_directory, "folder with traces/*.keys.gz to replay")->type_name("DIR");
    add_count(app, "--jobs", asked->at_a_time, {0, 64}, "how many run at the same time; 0 is one a core, at most 4");
    app.add_flag("--fresh", asked->fresh, "run all parts again, finished ones too");
    return {&app, [asked] { return make_report(*asked); }};
}

}  // namespace genista::tool
