// library_version: compiled into the library, so that a program can compare it with its headers.
#include "genista/version.hpp"

namespace genista {

std::string_view library_version() noexcept {
    return GENISTA_VERSION;
}

}  // namespace genista
