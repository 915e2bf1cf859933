// Outputs: checks, and JSON to stdout or to a file. See json_target.hpp.
#include "json_target.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "genista/format/sink.hpp"

namespace genista::tool {
namespace {

error unwritable(const std::string& path, const char* why) {
    return error::make(error_code::io, "'%.120s' cannot be written: %.90s", path.c_str(), why);
}

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

// A pipe, a terminal, /dev/null: it can be written, but not replaced. /dev/stdout is one even if
// the shell has redirected it to a file.
bool is_passage(const std::string& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) return false;
    const bool file = S_ISREG(found.st_mode) && !path.starts_with("/dev/") && !path.starts_with("/proc/");
    return !file && !S_ISDIR(found.st_mode);
}

result<void> write_in_passing(const std::string& path, const std::string& text) {
    std::FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "w");
    if (file == nullptr) return unwritable(path, std::strerror(errno));
    const bool complete = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
    const int why = errno;
    if (file != stdout && std::fclose(file) != 0 && complete) return unwritable(path, std::strerror(errno));
    if (!complete) return unwritable(path, std::strerror(why));
    return {};
}

// save_file creates files for their owner only. Results are not secret: a new file gets the
// permissions of the umask.
result<void> write_whole(const std::string& path, const std::string& text) {
    const bool is_new = ::access(path.c_str(), F_OK) != 0;
    auto saved = save_file(path, [&](sink& out) { return out.write(std::as_bytes(std::span{text})); });
    if (saved && is_new) {
        const mode_t mask = ::umask(0);
        ::umask(mask);
        (void)::chmod(path.c_str(), 0666 & ~mask);
    }
    return saved;
}

result<void> write_text(const std::string& path, std::string text) {
    text += '\n';
    return path == "-" || is_passage(path) ? write_in_passing(path, text) : write_whole(path, text);
}

// Text may hold any bytes: those that are not UTF-8 are replaced, and do not throw.
template <class Json>
std::string dump(const Json& document) {
    return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

// The canonical name of a file; nothing for what an output cannot replace.
std::optional<std::filesystem::path> whole_name(const std::string& path) {
    std::error_code failure;
    if (path.empty() || path == "-" || is_passage(path)) return std::nullopt;
    // Made absolute first: the relative name of a file that does not exist would stay relative.
    auto name = std::filesystem::weakly_canonical(std::filesystem::absolute(path, failure), failure);
    if (failure) return std::nullopt;
    return name;
}

}  // namespace

result<void> check_file_target(const std::string& path) {
    if (path.empty()) return error::make(error_code::io, "'' is not a file name");
    std::string real = path;
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0) {
        if (S_ISDIR(found.st_mode)) return unwritable(path, "it is a folder; name a file");
        if (is_passage(path)) return unwritable(path, "it is not a regular file");
        if (::access(path.c_str(), W_OK) != 0) return unwritable(path, std::strerror(errno));
        std::error_code ignored;
        real = std::filesystem::canonical(path, ignored).string();  // a link stays, what it names is replaced
    } else if (errno != ENOENT) {
        return unwritable(path, std::strerror(errno));
    } else if (::lstat(path.c_str(), &found) == 0) {
        return unwritable(path, "it is a link to nothing");
    }
    if (::access(folder_of(real).c_str(), W_OK | X_OK) != 0) return unwritable(path, std::strerror(errno));
    return {};
}

result<void> check_json_target(const std::string& path) {
    if (path == "-") return {};
    if (path.empty()) return error::make(error_code::io, "'' is neither a file nor - for stdout");
    if (!is_passage(path)) return check_file_target(path);
    return ::access(path.c_str(), W_OK) == 0 ? result<void>{} : unwritable(path, std::strerror(errno));
}

result<void> check_apart(const std::vector<named_path>& inputs, const std::vector<named_path>& outputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const auto target = whole_name(outputs[i].path);
        if (!target) continue;
        std::vector<named_path> others = inputs;
        others.insert(others.end(), outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(i));
        for (const named_path& each : others) {
            const auto other = whole_name(each.path);
            std::error_code ignored;
            if (!other || (*other != *target && !std::filesystem::equivalent(*other, *target, ignored))) continue;
            return error::make(error_code::invalid_argument,
                               "%s '%.100s' is the file of %s and would replace it; name another", outputs[i].option,
                               outputs[i].path.c_str(), each.option);
        }
    }
    return {};
}

result<void> write_json(const std::string& path, const nlohmann::json& document) {
    return write_text(path, dump(document));
}

result<void> write_json(const std::string& path, const nlohmann::ordered_json& document) {
    return write_text(path, dump(document));
}

exit_status publish(const std::string& path, const std::string& text, const nlohmann::ordered_json& document) {
    if (!owns_stdout(path)) fmt::print("{}", text);
    if (path.empty()) return exit_status::ok;
    const result<void> written = write_json(path, document);
    return written ? exit_status::ok : complain(exit_status::failed, written.error().message());
}

std::string where_the_report_is(const std::string& path) {
    std::error_code ignored;
    return std::string{"Report: "}.append(std::filesystem::absolute(path, ignored).string()).append("\n");
}

}  // namespace genista::tool
