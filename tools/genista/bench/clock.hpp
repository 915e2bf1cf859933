// The clock: nanoseconds a look-up, on one thread or on several at once, and teams of threads that
// start together.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "bench/subject.hpp"

namespace genista::tool::bench {

using clock = std::chrono::steady_clock;

[[nodiscard]] inline double nanoseconds(clock::duration span) {
    return std::chrono::duration<double, std::nano>(span).count();
}

// Of a call, without what this thread spent in a remote map meanwhile.
template <class Call>
[[nodiscard]] clock::duration time_of(const subject& each, const Call& call) {
    const clock::duration remote_before = each.remote_time();
    const auto begin = clock::now();
    call();
    const clock::duration all = clock::now() - begin;
    return all - (each.remote_time() - remote_before);
}

// work(0) … work(threads - 1), started together; a single one on the caller's thread. Throws if the
// system refuses a thread; then no work was done.
void run_team(std::size_t threads, const std::function<void(std::size_t)>& work);

struct timed_lookups {
    double ns = 0;  // wall time from the first thread's start to the last one's end, a look-up of one thread
    std::uint64_t positives = 0;
};

using lookup_loop = std::uint64_t (reader::*)(std::span<const std::uint64_t>) const;

// Each of `threads` runs the loop over its own slice of the keys; keys.size() is a multiple of
// `threads`. With perfect scaling the ns stay what they are for one thread; together they do
// `threads` / ns look-ups a nanosecond.
[[nodiscard]] timed_lookups time_lookups(const reader& of, lookup_loop loop, std::span<const std::uint64_t> keys,
                                         std::size_t threads);

}  // namespace genista::tool::bench
