// Arenas by the name of their filter, for all filters that can be attacked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/games/arena.hpp"

namespace genista::lab {

struct contender_plan {
    std::uint64_t keys = 10'000;
    unsigned fingerprint_bits = 8;                  // of the cuckoo family
    std::optional<unsigned> tables = std::nullopt;  // none: the filter's default
    std::optional<unsigned> bin_slots = std::nullopt;
    double load = 0.95;
    double rate = 1.0 / 256;  // of the others
    std::uint64_t seed = 1;
    bool grows = true;  // where the filter can
};

// Filled with the keys 0, 1, …, keys - 1. Throws std::runtime_error if it cannot be made; null for
// an unknown name.
[[nodiscard]] std::unique_ptr<arena> make_contender(std::string_view filter, const contender_plan& plan);

// The same without keys, with room for plan.keys of them.
[[nodiscard]] std::unique_ptr<arena> make_empty_contender(std::string_view filter, const contender_plan& plan);

// True for a filter that takes more keys than it was made for and still promises its rate.
[[nodiscard]] bool takes_more_than_capacity(std::string_view filter) noexcept;

[[nodiscard]] std::vector<std::string> all_contenders();

// "cuckoo, cuckooing, …"
[[nodiscard]] std::string contender_names();

}  // namespace genista::lab
