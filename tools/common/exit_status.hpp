// Exit statuses and error messages.
//
// Scripts rely on the statuses: 0 the work was done, 1 the result is bad (a broken promise, a false
// negative) or the work failed, 2 the input was bad and nothing was written. A message is one line
// on stderr with the value and what is allowed.
#pragma once

#include <cstdio>
#include <string_view>

#include "genista/base/result.hpp"

namespace genista::tool {

enum class exit_status : int { ok = 0, failed = 1, bad_input = 2 };

// Prints "genista: message" on stderr and returns the status, so that a command can end with
// `return complain(...)`.
inline exit_status complain(exit_status status, std::string_view message) noexcept {
    std::fprintf(stderr, "genista: %.*s\n", static_cast<int>(message.size()), message.data());
    return status;
}

// The status for an error of the library. Errors in what the user gave (parameters, files, sizes
// beyond this machine's memory) are bad input; a store that fails or does not answer is failed
// work.
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
