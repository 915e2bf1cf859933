// What one size of a run was asked to do, and the sizes that follow from it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "genista/hash/hasher.hpp"

namespace genista::tool::bench {

struct plan {
    std::uint64_t keys = 1'000'000;
    double error_rate = 1.0 / 256;
    std::vector<std::uint64_t> threads{1};  // look-ups and mixes are timed with each of these
    std::uint64_t rounds = 9;
    std::uint64_t seed = 1;
    std::uint64_t lookups_asked = 0;       // a thread and round; 0: by the rule below
    std::uint64_t rate_queries_asked = 0;  // 0: by the rule below
    std::uint64_t mix_update_percent = 0;  // 0: no mix
    double churn = 0;                      // replacements a key in churned filters; 0: no such filters
    hash_kind hash = hash_kind::keyed;

    [[nodiscard]] std::uint64_t most_threads() const { return *std::max_element(threads.begin(), threads.end()); }

    // A thread: as many as there are keys, at least 2^20 so that a round takes 10 ms even in cache,
    // at most 2^22 a round.
    [[nodiscard]] std::uint64_t lookups(std::uint64_t team) const {
        constexpr std::uint64_t least = std::uint64_t{1} << 20, most = std::uint64_t{1} << 22;
        return lookups_asked != 0 ? lookups_asked : std::clamp(keys, least, std::max(least, most / team));
    }
    // The longest list of keys that any team of threads is given.
    [[nodiscard]] std::uint64_t most_lookups() const {
        std::uint64_t most = 0;
        for (const std::uint64_t team : threads) most = std::max(most, lookups(team) * team);
        return most;
    }

    // 10^4/ε trials show a rate 10 % too high with 99.9 % (docs/papers.md, "Rates"); the default
    // stops at 10^8.
    [[nodiscard]] std::uint64_t rate_queries() const {
        constexpr double limit = 1e8;
        if (rate_queries_asked != 0) return rate_queries_asked;
        return static_cast<std::uint64_t>(std::min(std::ceil(1e4 / error_rate), limit));
    }

    // Rounds in which the filters are rebuilt: all of them while that is cheap.
    [[nodiscard]] std::uint64_t build_rounds() const {
        if (keys <= 2'000'000) return rounds;
        return std::min<std::uint64_t>(rounds, keys <= 20'000'000 ? 3 : 2);
    }

    // Different stored keys that one pass of the erase loop takes out and puts back.
    [[nodiscard]] std::size_t erase_sample() const {
        return static_cast<std::size_t>(std::clamp<std::uint64_t>(keys / 2, 1, std::uint64_t{1} << 20));
    }

    // How often a short loop over `size` keys is repeated within one round, so that the clock can
    // measure it.
    [[nodiscard]] std::uint64_t repeats(std::uint64_t size) const {
        const std::uint64_t enough = std::min(lookups(threads.front()), std::uint64_t{1} << 18);
        return std::clamp<std::uint64_t>(enough / size, 1, 256);
    }

    // Keys of its own that a thread of a mix has in the filter when the clock starts. It erases the
    // oldest of them, so that many updates lie between a key's insert and its erase. 0, and no mix,
    // where the set is too small for that.
    [[nodiscard]] std::uint64_t mix_backlog(std::uint64_t team) const {
        return std::min(std::uint64_t{1} << 14, keys / (4 * team));
    }
    // Keys that a thread of a mix inserts in one round; all of them are new.
    [[nodiscard]] std::uint64_t mix_inserts(std::uint64_t team) const {
        return mix_backlog(team) + (lookups(team) * mix_update_percent / 100 + 1) / 2;
    }
    // Of all threads, teams and rounds together.
    [[nodiscard]] std::uint64_t mix_keys() const {
        if (mix_update_percent == 0) return 0;
        std::uint64_t in_a_round = 0;
        for (const std::uint64_t team : threads) in_a_round += team * mix_inserts(team);
        return rounds * in_a_round;
    }

    [[nodiscard]] std::uint64_t replacements() const {
        return static_cast<std::uint64_t>(std::llround(churn * static_cast<double>(keys)));
    }
};

}  // namespace genista::tool::bench
