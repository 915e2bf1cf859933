// failing_allocations chooses which allocation of this thread fails; fail_each_allocation repeats a
// call with each of its allocations failing. The operators new and delete that obey are in
// failing_allocator.hpp, which ONE file of the executable includes; all others include this one.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "genista/base/result.hpp"

namespace genista::test {

struct allocation_state {
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

    std::uint64_t until_failure = never;
    std::uint64_t failures = 0;
    std::uint64_t allocations = 0;
    std::uint64_t bytes_asked = 0;

    // True if this allocation is the one to fail.
    bool strike(std::size_t size) noexcept {
        if (until_failure != never && until_failure-- == 0) {
            until_failure = never;
            ++failures;
            return true;
        }
        ++allocations;
        bytes_asked += size;
        return false;
    }
};

inline thread_local constinit allocation_state this_thread_allocations{};

class failing_allocations {
  public:
    explicit failing_allocations(std::uint64_t succeed_first) noexcept
        : failures_before_{this_thread_allocations.failures} {
        this_thread_allocations.until_failure = succeed_first;
    }
    failing_allocations(const failing_allocations&) = delete;
    failing_allocations& operator=(const failing_allocations&) = delete;
    ~failing_allocations() { this_thread_allocations.until_failure = allocation_state::never; }

    [[nodiscard]] bool failed() const noexcept { return this_thread_allocations.failures != failures_before_; }

  private:
    std::uint64_t failures_before_;
};

// `call` returns a result; each failed allocation must give out_of_memory. Returns how many there
// were.
template <class Call>
std::uint64_t fail_each_allocation(Call&& call) {
    for (std::uint64_t n = 0;; ++n) {
        std::optional<error_code> code;
        bool failed = false;
        {
            const failing_allocations armed{n};
            const auto outcome = call();
            if (!outcome) code = outcome.error().code();
            failed = armed.failed();
        }
        EXPECT_EQ(code.has_value(), failed);
        if (!failed) return n;
        EXPECT_EQ(code, error_code::out_of_memory);
    }
}

}  // namespace genista::test
