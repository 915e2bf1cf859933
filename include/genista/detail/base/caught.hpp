// Exceptions that become errors, because the library's functions do not throw:
//
//     caught             a call of R. R is the caller's type, and the filters' calls are noexcept:
//                        what passed through would end the program. Each place where a filter or a
//                        guard calls R does it through here
//     without_throwing   our own code, which may throw std::bad_alloc and nothing else
#pragma once

#include <exception>
#include <new>
#include <string_view>

#include "genista/base/result.hpp"

namespace genista::remote_detail {

// What call() returns, a result; std::bad_alloc is an error of code out_of_memory, anything else of
// code io. Allocates nothing itself.
template <class Call>
[[nodiscard]] auto caught(Call&& call) noexcept -> decltype(call()) {
    try {
        return call();
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "R has no memory");
    } catch (const std::exception& thrown) {
        return error::make(error_code::io, "R threw: %s", thrown.what());
    } catch (...) {
        return error::make(error_code::io, "R threw");
    }
}

}  // namespace genista::remote_detail

namespace genista {

// `who` is named in the error.
template <class Body>
auto without_throwing(std::string_view who, Body body) noexcept -> decltype(body()) {
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "%.*s: no memory", static_cast<int>(who.size()), who.data());
    }
}

}  // namespace genista
