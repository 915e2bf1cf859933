// The machine of a run: what is needed to judge its times (no names, no dates), and how much memory
// and disk there is.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace genista::tool {

struct machine_facts {
    std::string cpu;                  // as the kernel calls it
    unsigned cores = 0;               // hardware threads this process may use
    std::string isa;                  // what the library's kernels use
    std::string compiler;             // that built this tool
    std::vector<std::string> caches;  // "L1d 48K", "L2 2048K", "L3 32768K"
    std::string huge_pages;           // the kernel's setting: always, madvise, never or unknown
};

[[nodiscard]] machine_facts this_machine();
[[nodiscard]] nlohmann::ordered_json to_json(const machine_facts& facts);

// Bytes of RAM, 0 if the system does not say.
[[nodiscard]] std::uint64_t physical_memory_bytes();

// Bytes that may still be written where `path` is; 0 if the system does not say.
[[nodiscard]] std::uint64_t free_bytes(const std::string& path) noexcept;

// Does the file system of this file take reads past the page cache? Tries it.
[[nodiscard]] bool takes_direct_reads(const std::string& file) noexcept;

}  // namespace genista::tool
