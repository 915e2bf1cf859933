// Worlds and draws for the daisy experiments. See daisy_inputs.hpp.
#include "lab/experiments/daisy_inputs.hpp"

#include <cmath>

#include "lab/statistics/binomial.hpp"

namespace genista::lab {

std::vector<odds_world> daisy_worlds(std::uint64_t draws, double rate) {
    const auto universe = static_cast<std::uint64_t>(std::ceil(4 * static_cast<double>(draws) / rate));
    return {odds_world::zipf_stored(universe, 1.0), odds_world::zipf_stored(universe, 1.2),
            odds_world::zipf_asked(universe, 1.0), odds_world::two_classes(2 * universe, universe, 0.9, 0.1)};
}

drawn_input::drawn_input(odds_world from, const daisy_terms& asked, std::uint64_t seed)
    : world{std::move(from)}, terms{asked}, groups{world.groups()} {
    const auto count = static_cast<std::uint64_t>(asked.draws);
    const auto next = world.stored_draws(seed);
    draws.reserve(count);
    stored.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        draws.push_back(next());
        stored.insert(draws.back());
    }
}

bool rate_seen::keeps(double promised) const {
    return queries >= trials_for(promised) && false_positives <= most_plausible_hits(queries, promised);
}

}  // namespace genista::lab
