// One line an experiment, in the order of registry.cpp. See estimates.hpp.
#include "lab/experiments/estimates.hpp"

#include <algorithm>
#include <array>

namespace genista::lab {
namespace {

struct known_estimate {
    std::string_view id;
    estimate takes;
};

// Quick: seconds of one processor, measured (`time genista lab run ID --quick`; broom-time is mostly the kernel's, which
// delivers a signal for every instruction counted). Full: docs/benchmarks.md where it tells, else a guess.
constexpr std::array all_estimates{
    known_estimate{"broom-game", {24, 8}},          known_estimate{"broom-invariant", {2, 1}},
    known_estimate{"broom-property10", {2, 1}},     known_estimate{"broom-remote", {2, 1}},
    known_estimate{"broom-space", {5, 3}},          known_estimate{"broom-time", {45, 10}},
    known_estimate{"broom-rotation", {12, 5}},      known_estimate{"local-lower-bound", {105, 20}},
    known_estimate{"broom-overflow", {2, 2}},       known_estimate{"broom-small", {0.4, 2}},
    known_estimate{"broom-large", {1.5, 3}},        known_estimate{"broom-words", {0.7, 0.7}},
    known_estimate{"ppr-reduction", {5.7, 0.7}},    known_estimate{"ppr-counter", {1, 0.1}},
    known_estimate{"ppr-multiset", {30, 3}},        known_estimate{"ppr-filter", {4, 2}},
    known_estimate{"ppr-cleary", {7.3, 0.8}},       known_estimate{"ppr-spectral", {4, 4}},
    known_estimate{"ppr-bloomier", {9, 2}},         known_estimate{"ppr-lossy", {2.5, 3}},
    known_estimate{"daisy-k", {0.1, 0.1}},          known_estimate{"daisy-lb", {2, 0.2}},
    known_estimate{"daisy-bloom", {30, 10}},        known_estimate{"daisy-fingerprint", {16, 3}},
    known_estimate{"daisy-sampling", {5, 1}},       known_estimate{"daisy-robust", {15, 5}},
    known_estimate{"daisy-weighted", {4, 1}},       known_estimate{"acf-support", {6, 1}},
    known_estimate{"acf-not-support", {30, 5}},     known_estimate{"acf-figures", {17, 8}},
    known_estimate{"acf-attack-cyclic", {35, 10}},  known_estimate{"acf-attack-swapping", {20, 10}},
    known_estimate{"acf-attack-birthday", {15, 5}}, known_estimate{"one-line", {1.3, 2}},
    known_estimate{"broom-replay", {1, 2}},         known_estimate{"sustained-guard", {30, 5, true}},
    known_estimate{"daisy-broom", {8, 2}},          known_estimate{"growth", {1.2, 2}},
};

}  // namespace

estimate estimate_of(std::string_view id) noexcept {
    const auto* const found = std::ranges::find(all_estimates, id, &known_estimate::id);
    return found == all_estimates.end() ? estimate{} : found->takes;
}

}  // namespace genista::lab
