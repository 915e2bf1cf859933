// The measurements of one filter in the experiment adaptive-bloom; adaptive_bloom.cpp judges them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "genista/filters/adaptive_bloom.hpp"
#include "lab/experiment.hpp"
#include "lab/games/arena.hpp"

namespace genista::lab {

// One adversary against one filter: all its queries of absent keys, and those on which it staked
// its claim.
struct bloom_game {
    std::string_view adversary;
    score seen;
    std::uint64_t denied = 0;  // stored keys, when the game is over
    std::uint64_t rebuilds = 0;

    [[nodiscard]] bool within(double rate) const noexcept;
    [[nodiscard]] nlohmann::json row(double rate) const;
};
[[nodiscard]] bloom_game play_adaptive_bloom(std::string_view adversary, std::uint64_t n, double rate,
                                             std::uint64_t queries, std::uint64_t seed);
// FIX switched off: a plain Bloom filter.
[[nodiscard]] bloom_game play_plain_bloom(std::string_view adversary, std::uint64_t n, double rate,
                                          std::uint64_t queries, std::uint64_t seed);

// The reads of R, of either half, that operations of one kind cost.
struct read_counts {
    std::uint64_t operations = 0, reads = 0, most = 0;
    void add(std::uint64_t cost) noexcept;
    [[nodiscard]] double mean() const noexcept;
    [[nodiscard]] nlohmann::json json() const;
};

// The levels that look-ups reach.
struct path_counts {
    std::uint64_t looks = 0, cells = 0, dead_entries = 0;
    std::vector<std::uint64_t> reached{};  // at least this level
    void add(const adaptive_bloom_path& path);
    [[nodiscard]] double mean_cells() const noexcept;
    [[nodiscard]] nlohmann::json json() const;
};

// One filter through n different queries, which fill the levels.
struct bloom_anatomy {
    double rate = 0;
    double bits_before = 0, bits_after = 0;  // a key, all that is allocated
    // The same for a filter of a million keys, where pages and the object itself are negligible:
    // with the lists of dead cells, and with a plain bit for each cell; and its levels 1, …, d
    // alone.
    double bits = 0, bits_plainly = 0, bits_of_upper = 0;
    double bits_allowed = 0;
    std::uint64_t rebuilds_within = 0;  // n queries
    std::uint64_t denied = 0;
    std::vector<double> queries{};                          // when the levels were recorded, in n
    std::vector<std::vector<adaptive_bloom_level>> then{};  // the levels at those times
    read_counts inserts, negatives, false_positives, true_positives, rebuilds;
    path_counts absent_keys, members;

    [[nodiscard]] const std::vector<adaptive_bloom_level>& levels() const noexcept { return then.back(); }
    [[nodiscard]] bool space_kept() const noexcept;
    [[nodiscard]] bool levels_kept() const noexcept;
    [[nodiscard]] bool reads_kept() const noexcept;
    [[nodiscard]] nlohmann::json row() const;
};
[[nodiscard]] bloom_anatomy dissect_adaptive_bloom(std::uint64_t n, double rate, std::uint64_t seed);

[[nodiscard]] std::vector<report::section> draw_adaptive_bloom(const std::vector<bloom_anatomy>& all);

}  // namespace genista::lab
