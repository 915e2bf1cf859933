// Inputs of daisy filters. See daisy_input.hpp.
#include "lab/workloads/daisy_input.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "lab/workloads/experiment_run.hpp"
#include "lab/workloads/queries.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {
namespace {

// How often each of the first keys of a trace was seen among its first accesses.
struct frequencies {
    std::vector<std::uint32_t> accesses;
    std::vector<std::uint32_t> of_key;

    frequencies(const trace& from, std::uint64_t most) {
        const std::size_t count = std::min<std::size_t>(from.accesses.size(), most);
        accesses.assign(from.accesses.begin(), from.accesses.begin() + static_cast<std::ptrdiff_t>(count));
        for (const std::uint32_t key : accesses) {
            if (key >= of_key.size()) of_key.resize(key + 1);  // numbers come in the order of first appearance
            ++of_key[key];
        }
    }
    [[nodiscard]] double share(std::uint64_t key) const {
        return key < of_key.size() ? of_key[key] / static_cast<double>(accesses.size()) : 0;
    }
    // Keys that were seen so often.
    [[nodiscard]] std::map<std::uint32_t, double> histogram() const {
        std::map<std::uint32_t, double> keys;
        for (const std::uint32_t count : of_key) keys[count] += 1;
        return keys;
    }
};

std::vector<std::uint64_t> draw(const std::function<std::uint64_t()>& next, double count) {
    std::vector<std::uint64_t> drawn(static_cast<std::size_t>(count));
    for (std::uint64_t& key : drawn) key = next();
    return drawn;
}

}  // namespace

std::uint64_t daisy_input::distinct_stored() const {
    std::vector<std::uint64_t> sorted = stored;
    std::sort(sorted.begin(), sorted.end());
    return static_cast<std::uint64_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
}

std::uint64_t universe_for(const daisy_terms& terms) {
    return static_cast<std::uint64_t>(std::ceil(2 * terms.draws / terms.rate));
}

daisy_input input_of_world(const odds_world& world, const daisy_terms& terms, std::uint64_t seed) {
    const auto shared = std::make_shared<const odds_world>(world);
    return {.name = world.name(),
            .terms = terms,
            .stored = draw(world.stored_draws(seed), terms.draws),
            .odds = [shared](std::uint64_t key) { return shared->odds(key); },
            .groups = world.groups(),
            .asked_draws = [shared](std::uint64_t its_seed) { return shared->asked_draws(its_seed); }};
}

daisy_input input_of_stored_trace(const trace& from, daisy_terms terms) {
    const auto seen = std::make_shared<const frequencies>(from, static_cast<std::uint64_t>(terms.draws));
    terms.draws = static_cast<double>(seen->accesses.size());
    const std::uint64_t universe = universe_for(terms);
    const double alike = 1 / static_cast<double>(universe);
    daisy_input made{.name = from.name + " stored", .terms = terms};
    made.stored.assign(seen->accesses.begin(), seen->accesses.end());
    made.odds = [seen, alike](std::uint64_t key) { return key_odds{seen->share(key), alike}; };
    for (const auto& [count, keys] : seen->histogram()) made.groups.push_back({{count / terms.draws, alike}, keys});
    made.groups.push_back({{0, alike}, static_cast<double>(universe - seen->of_key.size())});
    made.asked_draws = [universe](std::uint64_t seed) {
        return std::function<std::uint64_t()>{must(uniform_queries::make({0, universe}, seed))};
    };
    return made;
}

daisy_input input_of_asked_trace(const trace& from, const daisy_terms& terms, std::uint64_t seed) {
    const auto seen = std::make_shared<const frequencies>(from, from.accesses.size());
    const std::uint64_t universe = std::max<std::uint64_t>(universe_for(terms), 2 * seen->of_key.size());
    const double alike = 1 / static_cast<double>(universe);
    daisy_input made{.name = from.name + " asked", .terms = terms};
    made.stored = draw(must(uniform_queries::make({0, universe}, seed)), terms.draws);
    made.odds = [seen, alike](std::uint64_t key) { return key_odds{alike, seen->share(key)}; };
    const auto accesses = static_cast<double>(seen->accesses.size());
    for (const auto& [count, keys] : seen->histogram()) made.groups.push_back({{alike, count / accesses}, keys});
    made.groups.push_back({{alike, 0}, static_cast<double>(universe - seen->of_key.size())});
    made.asked_draws = [seen](std::uint64_t its_seed) {
        return [seen, chance = random_stream{its_seed}]() mutable -> std::uint64_t {
            return seen->accesses[chance.below(seen->accesses.size())];
        };
    };
    return made;
}

}  // namespace genista::lab
