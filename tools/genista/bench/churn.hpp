// Churn: a filter after many replacements.
//
// A churned filter is a second one beside the measured one. It is filled the same way, and then
// keys are replaced: a present key, drawn at random, is erased, and a new one is inserted, again
// and again. All churned filters of a run get the same replacements.
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

inline constexpr std::string_view churned_suffix = "+churn";

// Fills the filters, replaces keys, and queries every filter for every key that it holds in the
// end. Returns `sample` of these keys, drawn at random with replacement. `into` has one entry a
// filter; `tick` gets the share that is done.
[[nodiscard]] result<std::vector<std::uint64_t>> replace_keys(const plan& what, const key_source& keys,
                                                              std::span<const std::unique_ptr<subject>> churned,
                                                              std::size_t sample, std::span<figures> into,
                                                              const std::function<void(double)>& tick);

}  // namespace genista::tool::bench
