// Churn: what a filter looks like after a long life.
//
// A twin is filled as its filter was, and then keys are replaced: one of the present keys, drawn at
// random, goes, and one that was never seen before comes, again and again. All twins of a run live
// through the same replacements.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bench/figures.hpp"
#include "bench/keys.hpp"
#include "bench/plan.hpp"
#include "bench/subject.hpp"

namespace genista::tool::bench {

inline constexpr std::string_view twin_suffix = "+churn";

// Fills the twins, replaces keys, and asks every twin for every key that it holds in the end.
// Returns `sample` of these, drawn at random with replacement. `into` has one entry a twin; `tick`
// gets the share that is done.
[[nodiscard]] result<std::vector<std::uint64_t>> live_through(const plan& what, const key_source& keys,
                                                              std::span<const std::unique_ptr<subject>> twins,
                                                              std::size_t sample, std::span<figures> into,
                                                              const std::function<void(double)>& tick);

}  // namespace genista::tool::bench
