// growth_watch: when a broom filter began to grow and when it finished, from its stats after each
// insert.
//
// A growth ends with a larger capacity and begins with a read of R. So a caller that checks after
// every insert that read R, and after every insert during a growth, finds both ends exactly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "genista/filters/filter.hpp"
#include "stalls.hpp"

namespace genista::bench {

struct timed_insert {
    stall_clock::time_point begin{};
    stall_clock::time_point end{};
    std::uint64_t own_ns = 0;  // without the time in R
    std::uint64_t number = 0;  // keys before it
};

struct growth {
    stall_clock::time_point begin{};  // of the insert that began it
    stall_clock::time_point end{};    // of the last insert that was seen
    bool ended = false;
    std::uint64_t keys_at_begin = 0;
    std::uint64_t inserts = 0;
    std::uint64_t first_own_ns = 0;  // it makes the new table
    std::uint64_t last_own_ns = 0;   // it gives the old one back
    std::uint64_t longest_own_ns = 0;
    std::uint64_t longest_query_ns = 0;  // by the thread that queries meanwhile
};

class growth_watch {
  public:
    growth_watch(std::uint64_t made_for, const filter_stats& empty) : made_for_{made_for}, last_{empty} {}

    [[nodiscard]] std::uint64_t made_for() const noexcept { return made_for_; }
    [[nodiscard]] bool growing() const noexcept { return !seen_.empty() && !seen_.back().ended; }
    [[nodiscard]] const std::vector<growth>& seen() const noexcept { return seen_; }

    // May throw std::bad_alloc.
    void after(const timed_insert& took, const filter_stats& now, bool grows_now) {
        const bool larger = now.capacity != last_.capacity;
        if (!growing() && (larger || grows_now)) {
            seen_.push_back({.begin = took.begin, .keys_at_begin = took.number, .first_own_ns = took.own_ns});
        }
        if (growing()) {
            growth& at_work = seen_.back();
            at_work.end = took.end;
            at_work.inserts += 1;
            at_work.last_own_ns = took.own_ns;
            at_work.longest_own_ns = std::max(at_work.longest_own_ns, took.own_ns);
            at_work.ended = larger;
        }
        last_ = now;
    }

  private:
    std::uint64_t made_for_;
    filter_stats last_;
    std::vector<growth> seen_;
};

}  // namespace genista::bench
