#include "genista/version.hpp"

namespace genista {

std::string_view library_version() noexcept {
    return GENISTA_VERSION;
}

}  // namespace genista
