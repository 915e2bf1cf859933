// What a run of `genista guard` shows, in words: computed sentences, not slogans. guard_page.hpp
// puts them on top.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/report/guard_run.hpp"
#include "lab/report/page.hpp"

namespace genista::lab::report {

// The filter a report is about, and the one it is measured against.
struct guard_pair {
    const guard_phase* phase = nullptr;
    const guard_row* ours = nullptr;
    const guard_row* rival = nullptr;

    // Queries per second of ours for one of the rival's; NaN if not both were measured.
    [[nodiscard]] double speed() const noexcept;
};

// "broom", or the first filter whose name starts with it; empty if there is none.
[[nodiscard]] std::string guarded_by(const guard_run& run);

// One pair for each phase that has both; an attack is first, because a guard is made for attacks.
[[nodiscard]] std::vector<guard_pair> pairs_of(const guard_run& run);

// "rocksdb_bloom" as it is, "replay_attack" as "replay attack".
[[nodiscard]] std::string phase_words(std::string_view name);

// The finding of the first pair in a sentence, then one for each other phase.
[[nodiscard]] std::string headline(const guard_run& run);

// Filters that denied a key they held, by name and count; empty if there was none.
[[nodiscard]] std::string lies_in_words(const guard_run& run);

[[nodiscard]] std::vector<fact> key_figures(const guard_run& run);

}  // namespace genista::lab::report
