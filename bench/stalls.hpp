// stalls: how long single operations took, of which only the longest matter, and how long the
// machine itself pauses.
//
//     timing     a histogram, the longest time, and the longest one that was not interrupted
//     timeline   the longest time of each millisecond of a run, to see afterwards what a reader met
//                while a writer worked
//
// Each object belongs to one thread while it runs.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "genista/detail/guard/latency_histogram.hpp"

namespace genista::bench {

using stall_clock = std::chrono::steady_clock;

// How often the system interrupted the calling thread.
[[nodiscard]] inline std::uint64_t times_interrupted() noexcept {
    rusage used{};
    return ::getrusage(RUSAGE_THREAD, &used) == 0 ? static_cast<std::uint64_t>(used.ru_nivcsw) : 0;
}

class timing {
  public:
    static constexpr std::uint64_t long_ns = 20'000;  // for longer times the system is asked about interruptions

    void record(std::uint64_t nanoseconds) noexcept {
        all_.record(nanoseconds);
        longest_ = std::max(longest_, nanoseconds);
        if (nanoseconds < long_ns) return;
        // If the thread was interrupted since the last long time, it was most likely during this
        // one: it does not count as undisturbed.
        const std::uint64_t now = times_interrupted();
        if (now == interrupted_) longest_undisturbed_ = std::max(longest_undisturbed_, nanoseconds);
        interrupted_ = now;
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return all_.count(); }
    [[nodiscard]] std::uint64_t longest_ns() const noexcept { return longest_; }
    // The longest time above long_ns without an interruption by the system; 0 if there was none.
    // Pauses of a virtual machine by its host are included.
    [[nodiscard]] std::uint64_t longest_undisturbed_ns() const noexcept { return longest_undisturbed_; }
    // The upper end of a bucket, but at most the longest time.
    [[nodiscard]] std::uint64_t percentile_ns(double share) const noexcept {
        return std::min(all_.percentile(share), longest_);
    }

  private:
    latency_histogram all_;
    std::uint64_t longest_ = 0;
    std::uint64_t longest_undisturbed_ = 0;
    std::uint64_t interrupted_ = 0;
};

class timeline {
  public:
    // Times later than `most` count in the last millisecond. May throw std::bad_alloc: 8 bytes a
    // millisecond.
    timeline(stall_clock::time_point start, std::chrono::milliseconds most)
        : start_{start}, longest_(static_cast<std::size_t>(std::max<std::int64_t>(most.count(), 1))) {}

    // Counts in the millisecond it began and in the one it ended.
    void record(stall_clock::time_point begin, stall_clock::time_point end) noexcept {
        const auto taken = static_cast<std::uint64_t>(std::chrono::nanoseconds{end - begin}.count());
        for (const auto when : {begin, end}) {
            std::uint64_t& longest = longest_[slot_of(when)];
            longest = std::max(longest, taken);
        }
    }
    // Of all operations that began or ended between the two, including the rest of their
    // milliseconds.
    [[nodiscard]] std::uint64_t longest_ns(stall_clock::time_point begin, stall_clock::time_point end) const noexcept {
        const auto first = longest_.begin() + static_cast<std::ptrdiff_t>(slot_of(begin));
        const auto last = longest_.begin() + static_cast<std::ptrdiff_t>(slot_of(end));
        return *std::max_element(first, std::max(first, last) + 1);
    }

  private:
    [[nodiscard]] std::size_t slot_of(stall_clock::time_point when) const noexcept {
        const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(when - start_).count();
        return std::min(static_cast<std::size_t>(std::max<std::int64_t>(passed, 0)), longest_.size() - 1);
    }

    stall_clock::time_point start_;
    std::vector<std::uint64_t> longest_;
};

// The longest time between two readings of the clock by a thread that does nothing else: on this
// machine no operation can be guaranteed to take less.
[[nodiscard]] inline std::uint64_t longest_gap_ns(std::chrono::duration<double> watched) noexcept {
    const auto begin = stall_clock::now();
    stall_clock::duration longest{};
    for (auto last = begin; last - begin < watched;) {
        const auto now = stall_clock::now();
        longest = std::max(longest, now - last);
        last = now;
    }
    return static_cast<std::uint64_t>(std::chrono::nanoseconds{longest}.count());
}

}  // namespace genista::bench
