// Inputs of daisy filters. See daisy_input.hpp.
#include "lab/workloads/daisy_input.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "lab/experiment.hpp"
#include "lab/workloads/queries.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {
namespace {

// Of a stored trace. With one each the odds would be the input itself: every key that is inserted
// would be nearly certain.
constexpr double accesses_a_draw = 16;

// How often each key of a trace was seen.
struct frequencies {
    std::vector<std::uint32_t> accesses;
    std::vector<std::uint32_t> of_key;

    explicit frequencies(const trace& from) : accesses{from.accesses} {
        for (const std::uint32_t key : accesses) {
            if (key >= of_key.size()) of_key.resize(key + 1);  // numbers come in the order of first appearance
            ++of_key[key];
        }
    }
    [[nodiscard]] double share(std::uint64_t key) const {
        return key < of_key.size() ? of_key[key] / static_cast<double>(accesses.size()) : 0;
    }
    // A uniform access: a draw from the trace's own distribution.
    [[nodiscard]] static std::function<std::uint64_t()> draws(std::shared_ptr<const frequencies> from,
                                                              std::uint64_t seed) {
        return [from = std::move(from), chance = random_stream{seed}]() mutable -> std::uint64_t {
            return from->accesses[chance.below(from->accesses.size())];
        };
    }
    // Keys that were seen this many times.
    [[nodiscard]] std::map<std::uint32_t, double> histogram() const {
        std::map<std::uint32_t, double> keys;
        for (const std::uint32_t count : of_key) keys[count] += 1;
        return keys;
    }
};

daisy_input::draws uniform_draws(std::uint64_t universe, std::uint64_t seed) {
    return must(uniform_queries::make({0, universe}, seed));
}

}  // namespace

std::uint64_t universe_for(const daisy_terms& terms) {
    return static_cast<std::uint64_t>(std::ceil(2 * terms.draws / terms.rate));
}

daisy_input input_of_world(const odds_world& world, const daisy_terms& terms) {
    const auto shared = std::make_shared<const odds_world>(world);
    return {.name = world.name(),
            .terms = terms,
            .odds = [shared](std::uint64_t key) { return shared->odds(key); },
            .groups = world.groups(),
            .stored_draws = [shared](std::uint64_t seed) { return shared->stored_draws(seed); },
            .asked_draws = [shared](std::uint64_t seed) { return shared->asked_draws(seed); }};
}

daisy_input input_of_stored_trace(const trace& from, daisy_terms terms) {
    const auto seen = std::make_shared<const frequencies>(from);
    terms.draws = std::min(terms.draws, std::ceil(static_cast<double>(seen->accesses.size()) / accesses_a_draw));
    const std::uint64_t universe = std::max<std::uint64_t>(universe_for(terms), 2 * seen->of_key.size());
    const double alike = 1 / static_cast<double>(universe);
    daisy_input made{.name = from.name + " stored", .terms = terms};
    made.stored_draws = [seen](std::uint64_t seed) { return frequencies::draws(seen, seed); };
    made.odds = [seen, alike](std::uint64_t key) { return key_odds{seen->share(key), alike}; };
    const auto accesses = static_cast<double>(seen->accesses.size());
    for (const auto& [count, keys] : seen->histogram()) made.groups.push_back({{count / accesses, alike}, keys});
    made.groups.push_back({{0, alike}, static_cast<double>(universe - seen->of_key.size())});
    made.asked_draws = [universe](std::uint64_t seed) { return uniform_draws(universe, seed); };
    return made;
}

daisy_input input_of_asked_trace(const trace& from, const daisy_terms& terms) {
    const auto seen = std::make_shared<const frequencies>(from);
    const std::uint64_t universe = std::max<std::uint64_t>(universe_for(terms), 2 * seen->of_key.size());
    const double alike = 1 / static_cast<double>(universe);
    daisy_input made{.name = from.name + " asked", .terms = terms};
    made.stored_draws = [universe](std::uint64_t seed) { return uniform_draws(universe, seed); };
    made.odds = [seen, alike](std::uint64_t key) { return key_odds{alike, seen->share(key)}; };
    const auto accesses = static_cast<double>(seen->accesses.size());
    for (const auto& [count, keys] : seen->histogram()) made.groups.push_back({{alike, count / accesses}, keys});
    made.groups.push_back({{alike, 0}, static_cast<double>(universe - seen->of_key.size())});
    made.asked_draws = [seen](std::uint64_t seed) { return frequencies::draws(seen, seed); };
    return made;
}

}  // namespace genista::lab
