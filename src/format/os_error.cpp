// os_error: the texts of errors with errno. See os_error.hpp.
#include "format/os_error.hpp"

#include <cstring>

namespace genista::detail {

std::string_view end_of_path(std::string_view path) noexcept {
    constexpr std::size_t shown_bytes = 120;
    return path.size() > shown_bytes ? path.substr(path.size() - shown_bytes) : path;
}

error os_error(const char* what, std::string_view path, int number) noexcept {
    const std::string_view shown = end_of_path(path);
    const char* const text = strerrordesc_np(number);
    return error::make(number == ENOMEM ? error_code::out_of_memory : error_code::io, "%s %s%.*s: %s (errno %d)", what,
                       shown.size() < path.size() ? "..." : "", static_cast<int>(shown.size()), shown.data(),
                       text != nullptr ? text : "unknown error", number);
}

result<std::string> path_string(std::string_view path) noexcept {
    if (path.empty()) return error::make(error_code::invalid_argument, "a path of 0 bytes names no file");
    if (path.find('\0') != std::string_view::npos) {
        return error::make(error_code::invalid_argument, "a path with a zero byte at %zu names no file",
                           path.find('\0'));
    }
    try {
        return std::string{path};
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "no memory for a path of %zu bytes", path.size());
    }
}

}  // namespace genista::detail
