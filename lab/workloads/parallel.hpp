// parallel: independent jobs on all processors, with progress. Chance comes from the number of a
// job, so that the outcome does not depend on the thread that ran it.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace genista::lab {

// job(0), job(1), …, job(count - 1). Throws the first exception when all threads have stopped; jobs
// that had not begun are skipped.
template <class Job>
void parallel(std::size_t count, Job job, const std::function<void(double)>& progress) {
    std::atomic<std::size_t> next{0};
    std::size_t done = 0;
    std::mutex reporting;
    std::exception_ptr failed;
    const auto work = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                job(i);
            } catch (...) {
                const std::lock_guard held{reporting};
                if (!failed) failed = std::current_exception();
                next = count;
                return;
            }
            const std::lock_guard held{reporting};
            progress(static_cast<double>(++done) / static_cast<double>(count));
        }
    };
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) helpers.emplace_back(work);
    work();
    for (std::thread& each : helpers) each.join();
    if (failed) std::rethrow_exception(failed);
}

}  // namespace genista::lab
