// caught: a call of R, with what it throws turned into the error of a call that failed.
//
// R is the caller's type, and the filters' calls are noexcept: what passed through would end the
// program. Each place where a filter or a guard calls R does it through here.
#pragma once

#include <exception>
#include <new>

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
