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

// Quick: seconds of one processor, the system's included, measured one after the other (`time
// genista lab run ID --quick`); broom-time, ppr-multiset and daisy-sampling are mostly the
// kernel's, which delivers a signal for every instruction counted. Of sustained-guard, which runs
// alone, the seconds that it lasts. Full: docs/benchmarks.md where it tells, else a guess.
constexpr std::array all_estimates{
    known_estimate{"broom-game", {20, 8}},           known_estimate{"broom-gap", {11, 10}},
    known_estimate{"broom-invariant", {1.5, 1}},     known_estimate{"broom-property10", {2, 1}},
    known_estimate{"broom-remote", {1.7, 1}},        known_estimate{"broom-space", {4.8, 3}},
    known_estimate{"broom-time", {40, 10}},          known_estimate{"broom-rotation", {10.5, 5}},
    known_estimate{"broom-overflow", {2, 2}},        known_estimate{"broom-small", {0.4, 2}},
    known_estimate{"broom-large", {1.7, 3}},         known_estimate{"broom-words", {0.6, 0.7}},
    known_estimate{"local-lower-bound", {40, 20}},   known_estimate{"whitelist", {5, 10}},
    known_estimate{"adaptive-bloom", {24, 10}},      known_estimate{"adaptive-cascade", {9, 10}},
    known_estimate{"ppr-reduction", {5.3, 0.7}},     known_estimate{"ppr-counter", {0.6, 0.1}},
    known_estimate{"ppr-multiset", {27, 3}},         known_estimate{"ppr-filter", {1.5, 2}},
    known_estimate{"ppr-cleary", {6.7, 0.8}},        known_estimate{"ppr-spectral", {3, 4}},
    known_estimate{"ppr-bloomier", {7.7, 2}},        known_estimate{"ppr-lossy", {1.8, 3}},
    known_estimate{"daisy-k", {0.02, 0.1}},          known_estimate{"daisy-lb", {3.4, 0.2}},
    known_estimate{"daisy-bloom", {15, 10}},         known_estimate{"daisy-fingerprint", {8.7, 3}},
    known_estimate{"daisy-sampling", {16, 1}},       known_estimate{"daisy-robust", {27, 1.1}},
    known_estimate{"daisy-weighted", {2.2, 1}},      known_estimate{"acf-support", {4.5, 1}},
    known_estimate{"acf-not-support", {30, 5}},      known_estimate{"acf-figures", {15.5, 8}},
    known_estimate{"acf-attack-cyclic", {27, 10}},   known_estimate{"acf-attack-swapping", {13, 10}},
    known_estimate{"acf-attack-birthday", {7.6, 5}}, known_estimate{"one-line", {0.9, 2}},
    known_estimate{"broom-replay", {0.7, 2}},        known_estimate{"sustained-guard", {28, 5, true}},
    known_estimate{"daisy-broom", {4.6, 2}},         known_estimate{"growth", {0.7, 2}},
};

}  // namespace

estimate estimate_of(std::string_view id) noexcept {
    const auto* const found = std::ranges::find(all_estimates, id, &known_estimate::id);
    return found == all_estimates.end() ? estimate{} : found->takes;
}

}  // namespace genista::lab
