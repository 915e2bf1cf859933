// What the tool tells its caller: three exit statuses and one way to complain.
//
// Scripts rely on them: 0 the work was done, 1 it was done and found wanting (a broken claim, a
// false negative) or failed halfway, 2 the input was bad and nothing was written. Messages are one
// line on stderr with the value and what is allowed.
#pragma once

#include <cstdio>
#include <string_view>

#include "genista/base/result.hpp"

namespace genista::tool {

enum class exit_status : int { ok = 0, failed = 1, bad_input = 2 };

// Prints "genista: message" on stderr and hands the status back, so that a command can end with
// `return complain(...)`.
inline exit_status complain(exit_status status, std::string_view message) noexcept {
    std::fprintf(stderr, "genista: %.*s\n", static_cast<int>(message.size()), message.data());
    return status;
}

// Whose fault an error of the library is. What the user gave (parameters, files, sizes beyond this
// machine's memory) is bad input; a store that fails or does not answer is failed work.
[[nodiscard]] constexpr exit_status status_of(error_code code) noexcept {
    switch (code) {
        case error_code::invalid_argument:
        case error_code::out_of_memory:
        case error_code::corrupt:
        case error_code::unsupported:
        case error_code::mismatch:
            return exit_status::bad_input;
        case error_code::io:
        case error_code::timeout:
            return exit_status::failed;
    }
    return exit_status::failed;
}

}  // namespace genista::tool
