// The workload: which keys are stored, and the queries of each phase. Every filter gets the same.
//
//     replay        the queries of the given file, in its order
//     zipf          Zipf's law with exponent 1 over as many absent keys as stored ones, mixed
//     uniform       absent keys, each new
//     half present  stored keys, drawn evenly, and new absent ones, one half each at random
//
// The replay attack is no list of queries: it depends on the filter (find_pool).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/request.hpp"
#include "lab/workloads/key_table.hpp"

namespace genista::tool::compare {

using lab::key_number;
using lab::key_table;

struct phase_plan {
    std::string name;
    std::vector<key_number> queries;
    std::uint64_t absent = 0;           // queries
    std::uint64_t distinct_absent = 0;  // keys
};

struct workload {
    key_table keys;          // the stored ones first, then absent ones that are queried
    std::size_t stored = 0;  // numbers below it are stored
    std::vector<phase_plan> phases;

    [[nodiscard]] bool is_stored(key_number number) const noexcept { return number < stored; }
};

struct fresh_key {
    std::array<char, 16> digits{};
    [[nodiscard]] std::string_view text() const noexcept { return {digits.data(), digits.size()}; }
};

// Generated keys: texts of 16 hexadecimal digits. Different places and streams give different keys.
// A user's keys may be equal to some of them, so code that needs an absent key looks it up in the
// table.
class fresh_keys {
  public:
    enum class stream : std::uint64_t { stored = 0, zipf, uniform, half_present, attack };

    fresh_keys(std::uint64_t seed, stream which) noexcept : seed_{seed}, which_{which} {}

    [[nodiscard]] fresh_key at(std::uint64_t place) const noexcept;

  private:
    std::uint64_t seed_;
    stream which_;
};

// Adds the keys that are to be stored: those of the file, or generated ones.
[[nodiscard]] result<void> add_stored_keys(const request& asked, workload& into);

// Adds the phases. REQUIRES: all stored keys were added.
[[nodiscard]] result<void> add_phases(const request& asked, workload& into);

}  // namespace genista::tool::compare
