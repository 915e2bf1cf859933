// workers: independent jobs in processes of their own, a few at a time.
//
// Processes and not threads: an experiment that fails takes nothing with it, gives back all its
// memory, and may use signals (workloads/instruction_counter.hpp). A job's outcome is what it
// leaves on disk; here only progress and failures come back.
//
// I1  No worker outlives run_jobs, nor what it left in the folder for temporary files.
// I2  An interrupt (SIGINT, SIGTERM, SIGHUP) ends all workers; run_jobs returns and says which
//     signal it was.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace genista::tool {

struct job {
    std::string name;
    double expected_seconds = 1;  // long ones begin first
    bool alone = false;           // it measures time: nothing runs beside it
    // In the worker. Empty if it went well, else one line that says why not.
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
