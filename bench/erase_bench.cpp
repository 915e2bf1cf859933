// erase_bench: what an insert and an erase of optimal_filter cost, in the thread's own time: other
// processes do not count.
//
//     build/release/bin/erase_bench --keys 1e8
//
// n keys are inserted, with a figure for each eighth; then three times 2^20 of them, spread over
// all, are erased, again with a figure for each eighth, and inserted again. Each figure has the
// page faults and the bytes in use, so that work that is done only now and then (blocks that move
// together, memory given back) shows where it happens. `genista bench` times whole passes by the
// wall clock: on a busy machine a pass of a second says little.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <ctime>

#include "bench/keys.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "lab/experiment.hpp"

namespace {

using namespace genista;

double thread_nanoseconds() {
    std::timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}
long page_faults() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt;
}

// Calls step(i) for all i below count and prints a line for each eighth.
template <class Step>
void timed(const char* what, const optimal_filter& filter, std::uint64_t count, Step step) {
    constexpr std::uint64_t parts = 8;
    for (std::uint64_t part = 0; part < parts; ++part) {
        const std::uint64_t first = part * count / parts, last = (part + 1) * count / parts;
        const long faults = page_faults();
        const double begin = thread_nanoseconds();
        for (std::uint64_t i = first; i < last; ++i) step(i);
        const double each =
            (thread_nanoseconds() - begin) / static_cast<double>(std::max<std::uint64_t>(1, last - first));
        fmt::print("{:<8} {:>6.0f} ns {:>8} page faults {:>8.2f} MB\n", what, each, page_faults() - faults,
                   static_cast<double>(filter.stats().local_bytes) / 1e6);
    }
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"inserts and erases of optimal_filter in the thread's own time"};
    double keys = 1e6;
    app.add_option("--keys", keys, "how many")->check(CLI::Range(16.0, 1e10))->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    const auto count = static_cast<std::uint64_t>(keys);
    const tool::bench::key_source source{1};
    const auto key = [&](std::uint64_t i) { return source(tool::bench::key_use::stored, i); };
    auto filter = lab::must(optimal_filter::make({count, 1.0 / 256, hasher{hash_key::from_seed(1)}}));
    std::uint64_t refused = 0, lost = 0;
    timed("insert", filter, count, [&](std::uint64_t i) { refused += filter.insert(key(i)) == insert_outcome::full; });
    const std::uint64_t some = std::min<std::uint64_t>(count / 2, std::uint64_t{1} << 20), step = count / some;
    for (int pass = 0; pass < 3; ++pass) {
        timed("erase", filter, some,
              [&](std::uint64_t i) { lost += filter.erase(key(i * step)) == erase_outcome::absent; });
        timed("again", filter, some,
              [&](std::uint64_t i) { refused += filter.insert(key(i * step)) == insert_outcome::full; });
    }
    if (refused + lost != 0) fmt::print("{} keys refused, {} lost\n", refused, lost);
    return refused + lost == 0 ? 0 : 1;
}
