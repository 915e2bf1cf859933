// JSON to stdout or to a file. See json_target.hpp.
#include "json_target.hpp"

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace genista::tool {
namespace {

error unwritable(const std::string& path, const char* why) {
    return error::make(error_code::io, "'%.120s' cannot be written: %.60s", path.c_str(), why);
}

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

result<void> write_text(const std::string& path, std::string text) {
    text += '\n';
    std::FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "w");
    if (file == nullptr) return unwritable(path, std::strerror(errno));
    const bool complete = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
    const int why = errno;
    if (file != stdout && std::fclose(file) != 0 && complete) return unwritable(path, std::strerror(errno));
    if (!complete) return unwritable(path, std::strerror(why));
    return {};
}

// Measured text may hold anything; bytes that are no UTF-8 are replaced, not thrown at the user.
template <class Json>
std::string dump(const Json& document) {
    return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

result<void> check_json_target(const std::string& path) {
    if (path == "-") return {};
    if (path.empty()) return error::make(error_code::io, "'' is neither a file nor - for stdout");
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0) {
        if (S_ISDIR(found.st_mode)) return unwritable(path, "it is a folder; name a file, or - for stdout");
        if (::access(path.c_str(), W_OK) != 0) return unwritable(path, std::strerror(errno));
        return {};
    }
    if (errno != ENOENT) return unwritable(path, std::strerror(errno));
    if (::access(folder_of(path).c_str(), W_OK | X_OK) != 0) return unwritable(path, std::strerror(errno));
    return {};
}

result<void> write_json(const std::string& path, const nlohmann::json& document) {
    return write_text(path, dump(document));
}

result<void> write_json(const std::string& path, const nlohmann::ordered_json& document) {
    return write_text(path, dump(document));
}

std::string where_the_report_is(const std::string& path) {
    std::error_code ignored;
    return std::string{"Report: "}.append(std::filesystem::absolute(path, ignored).string()).append("\n");
}

}  // namespace genista::tool
