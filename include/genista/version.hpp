// The version of genista: macros for the preprocessor, and a function for the library that is
// linked.
//
// The two can differ when headers and library come from different installations; compare them if
// that matters:
//
//     if (genista::library_version() != GENISTA_VERSION) ...
//
// The build reads its version from this file. Before 1.0 a new minor version may change the API.
#pragma once

#include <string_view>

#define GENISTA_VERSION_MAJOR 0
#define GENISTA_VERSION_MINOR 1
#define GENISTA_VERSION_PATCH 0
#define GENISTA_VERSION "0.1.0"

namespace genista {

// The version of the linked library, as in GENISTA_VERSION.
[[nodiscard]] std::string_view library_version() noexcept;

}  // namespace genista
