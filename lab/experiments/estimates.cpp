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

// Quick: seconds of one processor, measured (`time genista lab run ID --quick`; broom-time is mostly the kernel's, which
// delivers a signal for every instruction counted). Full: docs/benchmarks.md where it tells, else a guess.
constexpr std::array all{
    known{"broom-game", {24, 8}},          known{"broom-invariant", {2, 1}},
    known{"broom-property10", {2, 1}},     known{"broom-remote", {2, 1}},
    known{"broom-space", {4, 3}},          known{"broom-time", {150, 6}},
    known{"broom-overflow", {2, 2}},       known{"broom-small", {0.4, 2}},
    known{"broom-large", {1.5, 3}},        known{"broom-words", {0.7, 0.7}},
    known{"ppr-reduction", {5.7, 0.7}},    known{"ppr-counter", {1, 0.1}},
    known{"ppr-multiset", {2.5, 1.5}},     known{"ppr-filter", {4, 2}},
    known{"ppr-cleary", {7.3, 0.8}},       known{"ppr-spectral", {4, 4}},
    known{"ppr-bloomier", {9, 2}},         known{"ppr-lossy", {2.5, 3}},
    known{"daisy-k", {0.1, 0.1}},          known{"daisy-lb", {2, 0.2}},
    known{"daisy-bloom", {30, 10}},        known{"daisy-fingerprint", {16, 3}},
    known{"daisy-sampling", {5, 1}},       known{"daisy-robust", {15, 5}},
    known{"daisy-weighted", {4, 1}},       known{"acf-support", {5, 4}},
    known{"acf-not-support", {30, 5}},     known{"acf-figures", {17, 8}},
    known{"acf-attack-cyclic", {35, 10}},  known{"acf-attack-swapping", {20, 10}},
    known{"acf-attack-birthday", {15, 5}}, known{"one-line", {1.3, 2}},
    known{"broom-replay", {1, 2}},         known{"sustained-guard", {30, 5, true}},
    known{"daisy-broom", {8, 2}},          known{"growth", {1.2, 2}},
};

}  // namespace

estimate estimate_of(std::string_view id) noexcept {
    const auto* const found = std::ranges::find(all, id, &known::id);
    return found == all.end() ? estimate{} : found->takes;
}

}  // namespace genista::lab
