// fail_each_allocation: a call with its first, second, ... allocation failing, until it needs no more of them.
//
// Includes failing_allocator.hpp, so the same holds: in ONE test file of an executable.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "genista/base/result.hpp"
#include "support/failing_allocator.hpp"

namespace genista::test {

// `call` returns a result; each failed allocation must come back as out_of_memory. Gives how many there were.
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
