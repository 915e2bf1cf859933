// Files, stamps and checks. See parts.hpp.
#include "report/parts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>

#include "genista/format/sink.hpp"
#include "genista/hash/hasher.hpp"

namespace genista::tool {
namespace {

using json = nlohmann::ordered_json;

constexpr int part_format = 1;

// Not a defence against forgery: it finds files that were truncated, edited or mixed up.
std::string digest_of(std::string_view bytes) {
    const hasher hash{hash_key::from_seed(1), hash_kind::trusted};
    return fmt::format("{:016x}", hash(key_view{bytes}).seed);
}

std::string text_of(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json to_json(const part_stamp& stamp) {
    return {{"version", stamp.version},
            {"build", stamp.build},
            {"seed", stamp.seed},
            {"quick", stamp.quick},
            {"data", stamp.data}};
}

part_stamp stamp_from(const json& from) {
    return {.version = from.at("version").get<std::string>(),
            .build = from.at("build").get<std::string>(),
            .seed = from.at("seed").get<std::uint64_t>(),
            .quick = from.at("quick").get<bool>(),
            .data = from.at("data").get<std::string>()};
}

std::string difference(const part_stamp& found, const part_stamp& wanted) {
    if (found.seed != wanted.seed) return fmt::format("of another seed ({})", found.seed);
    if (found.quick != wanted.quick) return found.quick ? "of a quick run" : "of a full run";
    if (found.data != wanted.data) return "of other traces";
    return fmt::format("of another build ({} {})", found.version, found.build);
}

}  // namespace

std::string program_digest() {
    std::ifstream file{"/proc/self/exe", std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    return bytes.empty() ? "unknown" : digest_of(bytes);
}

parts_folder::~parts_folder() {
    if (held_ >= 0) ::close(held_);
}

result<void> parts_folder::open() {
    std::error_code failure;
    std::filesystem::create_directories(path_, failure);
    if (failure || !std::filesystem::is_directory(path_, failure)) {
        return error::make(error_code::invalid_argument, "'%.150s' cannot be made a folder: %.60s", path_.c_str(),
                           failure ? failure.message().c_str() : "it is a file");
    }
    // Workers inherit it: the folder is held until the last of them has ended. On a file system
    // without locks it is not held.
    held_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (held_ >= 0 && ::flock(held_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return error::make(error_code::invalid_argument,
                           "another run is at work in '%.150s'; wait for it, or name another page", path_.c_str());
    }
    return {};
}

part parts_folder::read(const std::string& id, const part_stamp& wanted) const {
    std::ifstream stream{file(id), std::ios::binary};
    if (!stream) return {};
    part found;
    try {
        const json whole = json::parse(std::string{std::istreambuf_iterator<char>{stream}, {}});
        if (whole.at("part").get<int>() != part_format || whole.at("id").get<std::string>() != id) {
            found.why_not = "of another kind";
            return found;
        }
        const part_stamp stamp = stamp_from(whole.at("stamp"));
        found.seconds = whole.at("seconds").get<double>();
        found.content = whole.at("content");
        if (whole.at("check").get<std::string>() != digest_of(text_of(found.content))) {
            found.why_not = "damaged";
        } else if (!(stamp == wanted)) {
            found.why_not = difference(stamp, wanted);
        } else {
            found.usable = true;
        }
    } catch (const json::exception&) {
        found.why_not = "damaged";
    }
    return found;
}

result<void> parts_folder::write(const std::string& id, const part_stamp& stamp, double seconds,
                                 const json& content) const {
    // Text that is no UTF-8 is replaced while writing; what is read back must give the same digest.
    const std::string kept = text_of(content);
    const json whole{{"part", part_format},          {"id", id},
                     {"stamp", to_json(stamp)},      {"seconds", seconds},
                     {"content", json::parse(kept)}, {"check", digest_of(kept)}};
    const std::string text = text_of(whole) + "\n";
    return save_file(file(id), [&](sink& out) { return out.write(std::as_bytes(std::span{text})); });
}

}  // namespace genista::tool
