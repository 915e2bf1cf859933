// Facts from /proc and /sys; what is missing there is "unknown", never an error. See machine.hpp.
#include "machine.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "base/cpu.hpp"

namespace genista::tool {
namespace {

std::string first_line(const std::string& path) {
    std::ifstream file{path};
    std::string line;
    std::getline(file, line);
    return line;
}

std::string cpu_model() {
    std::ifstream file{"/proc/cpuinfo"};
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("model name")) continue;
        const auto colon = line.find(": ");
        if (colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown";
}

unsigned usable_cores() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<unsigned>(CPU_COUNT(&allowed));
    return std::thread::hardware_concurrency();
}

std::vector<std::string> caches_of_first_core() {
    std::vector<std::string> caches;
    for (int index = 0;; ++index) {
        const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
        const std::string level = first_line(folder + "level"), type = first_line(folder + "type");
        if (level.empty()) return caches;
        const std::string_view suffix = type == "Data" ? "d" : type == "Instruction" ? "i" : "";
        caches.push_back(fmt::format("L{}{} {}", level, suffix, first_line(folder + "size")));
    }
}

// "always [madvise] never" -> "madvise"
std::string huge_page_setting() {
    const std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
    const auto open = line.find('['), close = line.find(']');
    if (open == std::string::npos || close == std::string::npos || close < open) return "unknown";
    return line.substr(open + 1, close - open - 1);
}

std::string compiler_name() {
#if defined(__clang__)
    return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
    return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
    return "unknown";
#endif
}

}  // namespace

machine_facts this_machine() {
    return {.cpu = cpu_model(),
            .cores = usable_cores(),
            .isa = std::string{to_string(active_isa())},
            .compiler = compiler_name(),
            .caches = caches_of_first_core(),
            .huge_pages = huge_page_setting()};
}

nlohmann::ordered_json to_json(const machine_facts& facts) {
    return {{"cpu", facts.cpu},           {"cores", facts.cores},   {"isa", facts.isa},
            {"compiler", facts.compiler}, {"caches", facts.caches}, {"huge_pages", facts.huge_pages}};
}

std::uint64_t physical_memory_bytes() {
    const long pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page_bytes <= 0) return 0;
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

std::uint64_t free_bytes(const std::string& path) noexcept {
    struct statvfs found {};
    if (::statvfs(path.c_str(), &found) != 0) return 0;
    return std::uint64_t{found.f_bavail} * found.f_frsize;
}

bool takes_direct_reads(const std::string& file) noexcept {
    const int opened = ::open(file.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (opened >= 0) ::close(opened);
    return opened >= 0;
}

}  // namespace genista::tool
