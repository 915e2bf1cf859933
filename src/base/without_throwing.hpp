// without_throwing: runs code that may throw std::bad_alloc and returns that as an error, because
// public functions do not throw.
#pragma once

#include <new>
#include <string_view>

#include "genista/base/result.hpp"

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
