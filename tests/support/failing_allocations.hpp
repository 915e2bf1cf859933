// failing_allocations chooses which allocation of this thread fails; fail_each_allocation repeats a
// call with each of its allocations failing; owned_blocks determines which heap blocks an object
// owns. The operators new and delete that obey and report are in failing_allocator.hpp, which ONE
// file of the executable includes; all others include this one.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

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

// What became of a call in which one allocation failed.
struct starved_call {
    std::optional<error_code> code{};  // of its error
    bool failed = false;               // it came as far as that allocation

    // Only the lack of memory may have caused the error.
    void expect_no_other_error(const std::string& when) const {
        if (!code) return;
        EXPECT_TRUE(failed) << when << ": an error although nothing failed";
        EXPECT_EQ(*code, error_code::out_of_memory) << when;
    }
};
// `call` returns a result; its allocation number n fails, counted from 0.
template <class Call>
starved_call call_without_memory(std::uint64_t n, Call&& call) {
    starved_call tried;
    const failing_allocations armed{n};
    const auto outcome = call();
    if (!outcome) tried.code = outcome.error().code();
    tried.failed = armed.failed();
    return tried;
}

// Each failed allocation must give out_of_memory. Returns how many there were.
template <class Call>
std::uint64_t fail_each_allocation(Call&& call) {
    for (std::uint64_t n = 0;; ++n) {
        const starved_call tried = call_without_memory(n, call);
        EXPECT_EQ(tried.code.has_value(), tried.failed);
        if (!tried.failed) return n;
        EXPECT_EQ(tried.code, error_code::out_of_memory);
    }
}

// owned_blocks determines which heap blocks an object owns, by destroying it. For tests of exact
// accounting.
//
//     owned_blocks ledger;
//     {
//         const owned_blocks::recording on{ledger};  // blocks allocated here are recorded
//         thing = make();
//     }
//     const std::uint64_t bytes = ledger.freed_by([&] { thing.reset(); });
//
// Other blocks allocated meanwhile (memory that threads keep, for example) do not count, because
// `thing` does not free them.

class owned_blocks {
  public:
    owned_blocks() : blocks_{std::make_unique<std::array<block, places>>()} {}
    owned_blocks(const owned_blocks&) = delete;
    owned_blocks& operator=(const owned_blocks&) = delete;
    ~owned_blocks() = default;

    // While it lives, this thread's allocations and frees are recorded.
    class recording {
      public:
        explicit recording(owned_blocks& in) noexcept { now = &in; }
        recording(const recording&) = delete;
        recording& operator=(const recording&) = delete;
        ~recording() { now = nullptr; }
    };

    template <class Destroy>
    [[nodiscard]] std::uint64_t freed_by(Destroy&& destroy) {
        const std::uint64_t before = live_bytes_;
        const recording on{*this};
        destroy();
        return before - live_bytes_;
    }
    // True if there were more blocks at a time than it has room for.
    [[nodiscard]] bool overflowed() const noexcept { return overflowed_; }

    static void made(const void* at, std::size_t bytes) noexcept {
        if (now != nullptr) now->add(at, bytes);
    }
    static void freed(const void* at) noexcept {
        if (now != nullptr && at != nullptr) now->remove(at);
    }

  private:
    static constexpr std::size_t places = 1u << 12;
    struct block {
        const void* at;
        std::size_t bytes;
    };
    static inline thread_local constinit owned_blocks* now = nullptr;

    void add(const void* at, std::size_t bytes) noexcept {
        for (block& each : *blocks_) {
            if (each.at != nullptr) continue;
            each = {at, bytes};
            live_bytes_ += bytes;
            return;
        }
        overflowed_ = true;
    }
    void remove(const void* at) noexcept {
        for (block& each : *blocks_) {
            if (each.at != at) continue;
            live_bytes_ -= each.bytes;
            each = {};
            return;
        }
    }

    std::unique_ptr<std::array<block, places>> blocks_;
    std::uint64_t live_bytes_ = 0;
    bool overflowed_ = false;
};

}  // namespace genista::test
