// Timed loops on one or more threads. See clock.hpp.
#include "bench/clock.hpp"

#include <algorithm>
#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace genista::tool::bench {
namespace {

struct slice_result {
    clock::time_point begin, end;
    std::uint64_t positives = 0;
};

slice_result run_slice(const reader& of, lookup_loop loop, std::span<const std::uint64_t> keys) {
    slice_result made;
    made.begin = clock::now();
    made.positives = (of.*loop)(keys);
    made.end = clock::now();
    return made;
}

}  // namespace

// Starting a thread takes longer than many look-ups, so all of them wait at a gate until the last
// one is ready. If the system refuses a thread, the others end without work and the call fails.
void run_team(std::size_t threads, const std::function<void(std::size_t)>& work) {
    if (threads == 1) return work(0);
    enum : int { closed, open, cancelled };
    std::atomic<int> gate{closed};
    std::latch ready{static_cast<std::ptrdiff_t>(threads)};
    std::vector<std::jthread> team;  // joins in its destructor, before that of the gate
    const auto move_gate = [&](int to) {
        gate.store(to);
        gate.notify_all();
    };
    try {
        for (std::size_t t = 0; t < threads; ++t) {
            team.emplace_back([&, t] {
                ready.count_down();
                gate.wait(closed);
                if (gate.load() == open) work(t);
            });
        }
    } catch (...) {
        move_gate(cancelled);
        throw;
    }
    ready.wait();
    move_gate(open);
}

timed_lookups time_lookups(const reader& of, lookup_loop loop, std::span<const std::uint64_t> keys,
                           std::size_t threads) {
    const std::size_t slice = keys.size() / threads;
    std::vector<slice_result> results(threads);
    run_team(threads, [&](std::size_t t) { results[t] = run_slice(of, loop, keys.subspan(t * slice, slice)); });
    timed_lookups sum;
    auto begin = results[0].begin, end = results[0].end;
    for (const slice_result& each : results) {
        begin = std::min(begin, each.begin);
        end = std::max(end, each.end);
        sum.positives += each.positives;
    }
    sum.ns = nanoseconds(end - begin) / static_cast<double>(slice);
    return sum;
}

}  // namespace genista::tool::bench
