// One line an experiment, in the order of registry.cpp. See estimates.hpp.
#include "lab/experiments/estimates.hpp"

#include <algorithm>
#include <array>

namespace genista::lab {
namespace {

struct known {
    std::string_view id;
    estimate takes;
};

// Quick: seconds of one processor, `genista lab run ID --quick`. Full: docs/benchmarks.md where it tells, else guessed from
// the quick run.
constexpr std::array all{
    known{"broom-game", {22, 8}},
    known{"broom-invariant", {2, 1}},
    known{"broom-property10", {2, 1}},
    known{"broom-remote", {2, 1}},
    known{"broom-space", {4, 3}},
    known{"broom-time", {90, 6}},
    known{"broom-overflow", {2, 2}},
    known{"broom-small", {1, 2}},
    known{"broom-large", {2, 3}},
    known{"broom-words", {1, 0.7}},
    known{"ppr-reduction", {5, 0.7}},
    known{"acf-support", {5, 4}},
    known{"acf-not-support", {30, 5}},
    known{"acf-figures", {15, 8}},
    known{"acf-attack-cyclic", {60, 10}},
    known{"acf-attack-swapping", {60, 10}},
    known{"acf-attack-birthday", {30, 5}},
    known{"one-line", {5, 2}},
    known{"broom-replay", {5, 2}},
    known{"sustained-guard", {20, 5, true}},
    known{"growth", {5, 2}},
};

}  // namespace

estimate estimate_of(std::string_view id) noexcept {
    const auto* const found = std::ranges::find(all, id, &known::id);
    return found == all.end() ? estimate{} : found->takes;
}

}  // namespace genista::lab
