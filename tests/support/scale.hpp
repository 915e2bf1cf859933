// scaled(quick, long): how much of something a test does. `./test` takes the first figure, `./test --long` the second.
//
// The quick figure keeps a whole `./test` within minutes; the long one is what a release is judged by. Both go through the
// same code and the same judgement: only the size of the sample differs.
#pragma once

#include <cstdlib>
#include <string_view>

namespace genista::test {

// GENISTA_LONG set to anything but the empty string or "0".
[[nodiscard]] inline bool long_run() {
    const char* const value = std::getenv("GENISTA_LONG");
    return value != nullptr && std::string_view{value} != "" && std::string_view{value} != "0";
}

template <class T>
[[nodiscard]] T scaled(T quick, T thorough) {
    return long_run() ? thorough : quick;
}

}  // namespace genista::test
