// Keys from lines. See key_file.hpp.
#include "lab/workloads/key_file.hpp"

#include "lab/workloads/lines.hpp"

namespace genista::lab {

result<std::uint64_t> read_keys(const std::string& path, const take_key& take) {
    std::uint64_t keys = 0;
    const auto read = read_lines(path, [&](std::string_view line, std::uint64_t) -> result<void> {
        if (line.empty()) return {};
        ++keys;
        return take(line);
    });
    if (!read) return read.error();
    if (keys == 0) return no_key_in(path, "one a line");
    return keys;
}

result<void> check_key_file(const std::string& path) {
    return path == "-" ? result<void>{} : byte_source{path}.open();
}

error no_key_in(const std::string& path, std::string_view expected) noexcept {
    return error::make(error_code::invalid_argument, "%s holds no key: %.*s is expected", shown_path(path).c_str(),
                       static_cast<int>(expected.size()), expected.data());
}

}  // namespace genista::lab
