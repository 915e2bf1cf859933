// How `genista lab report` runs: parts, what it has finished so far, one file a result, beside the
// page; and workers, independent jobs in processes of their own, a few at a time.
//
//     lab.html.parts/broom-words.json     {"part": 1, "id", "stamp", "seconds", "content", "check"}
//
// I1  A file appears whole or not at all (format/sink.hpp): an interrupted run loses only the
//     parts in progress.
// I2  A part is used only if it is whole and of the same program, seed and mode. Else the reason is
//     printed and its work is done again: results of two programs are never on one page.
// I3  One run at a time: a second one would repeat the work of the first and disturb its times.
//
// Processes and not threads: the failure of an experiment does not affect the others, its memory is
// released, and it may use signals (workloads/instruction_counter.hpp). The outcome of a job is on
// disk; only progress and failures are returned here.
//
// I4  No worker outlives run_jobs, nor what it left in the folder for temporary files.
// I5  An interrupt (SIGINT, SIGTERM, SIGHUP) ends all workers; run_jobs returns the signal.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "genista/base/result.hpp"

namespace genista::tool {

// Two results with equal stamps may stand on one page.
struct part_stamp {
    std::string version;
    std::string build;
    std::uint64_t seed = 1;
    bool quick = false;
    std::string data{};  // the folder of traces, for what replays some

    friend bool operator==(const part_stamp&, const part_stamp&) = default;
};

// A digest of the running program, 16 hex digits; "unknown" where the system does not show it.
[[nodiscard]] std::string program_digest();

struct part {
    nlohmann::ordered_json content;
    double seconds = 0;
    bool usable = false;
    std::string why_not{};  // empty if there is simply none
};

class parts_folder {
  public:
    explicit parts_folder(std::string path) : path_{std::move(path)} {}

    parts_folder(const parts_folder&) = delete;
    parts_folder& operator=(const parts_folder&) = delete;
    ~parts_folder();

    // Makes the folder if there is none, and holds it (I3) for as long as this lives.
    [[nodiscard]] result<void> open();
    [[nodiscard]] part read(const std::string& id, const part_stamp& wanted) const;
    [[nodiscard]] result<void> write(const std::string& id, const part_stamp& stamp, double seconds,
                                     const nlohmann::ordered_json& content) const;
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    [[nodiscard]] std::string file(const std::string& id) const { return path_ + "/" + id + ".json"; }

    std::string path_;
    int held_ = -1;
};

struct job {
    std::string name;
    double expected_seconds = 1;  // long ones begin first
    bool alone = false;           // it measures time: nothing runs beside it
    // In the worker. Empty after success, else one line with the error.
    std::function<std::string(const std::function<void(double)>& progress)> work;
};

struct job_events {
    std::function<void(const job& done, const std::string& failure)> finished;
    // The share of all expected seconds that is done, and the names at work. About five times a
    // second.
    std::function<void(double share, const std::vector<std::string>& at_work)> progress;
};

// The signal that ended it early, else 0. Call it before the process has threads.
[[nodiscard]] int run_jobs(const std::vector<job>& jobs, unsigned at_a_time, const job_events& events);

}  // namespace genista::tool
