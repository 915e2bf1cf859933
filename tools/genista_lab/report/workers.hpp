// workers: independent jobs in processes of their own, a few at a time.
//
// Processes and not threads: the failure of an experiment does not affect the others, its memory is
// released, and it may use signals (workloads/instruction_counter.hpp). The outcome of a job is on
// disk; only progress and failures are returned here.
//
// I1  No worker outlives run_jobs, nor what it left in the folder for temporary files.
// I2  An interrupt (SIGINT, SIGTERM, SIGHUP) ends all workers; run_jobs returns the
//     signal.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace genista::tool {

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
