// Reading a log. See key_list.hpp.
#include "lab/workloads/key_list.hpp"

#include "lab/workloads/key_file.hpp"

namespace genista::lab {

result<key_list> read_key_list(const std::string& path) {
    key_list keys;
    const auto read = read_keys(path, [&keys](std::string_view key) -> result<void> {
        keys.add(key);
        return {};
    });
    if (!read) return read.error();
    return keys;
}

}  // namespace genista::lab
