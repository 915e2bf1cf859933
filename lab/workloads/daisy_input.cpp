// Worlds of known odds, and inputs from them and from traces. See daisy_input.hpp.
#include "lab/workloads/daisy_input.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "lab/experiment.hpp"
#include "lab/workloads/queries.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {
namespace {

// Σ_{i=1..n} i^-s: the first terms one by one, the rest by Euler and Maclaurin, which is exact to
// 10^-12 from there on.
double zipf_sum(std::uint64_t n, double s) {
    constexpr std::uint64_t listed = 10'000;
    double sum = 0;
    const std::uint64_t head = std::min(n, listed);
    for (std::uint64_t i = 1; i <= head; ++i) sum += std::pow(static_cast<double>(i), -s);
    if (n <= listed) return sum;
    const auto a = static_cast<double>(listed), b = static_cast<double>(n);
    const double integral = s == 1 ? std::log(b / a) : (std::pow(b, 1 - s) - std::pow(a, 1 - s)) / (1 - s);
    const auto slope = [s](double x) { return -s * std::pow(x, -s - 1); };
    return sum + integral + (std::pow(b, -s) - std::pow(a, -s)) / 2 + (slope(b) - slope(a)) / 12;
}

// One seed makes a world; what is stored and what is asked must still be independent.
std::uint64_t apart(std::uint64_t seed, std::uint64_t side) {
    return random_stream{seed}() ^ random_stream { ~side }();
}

}  // namespace

double odds_world::side::of(std::uint64_t key, std::uint64_t universe) const noexcept {
    if (first_keys != 0) {
        return key < first_keys ? first_share / static_cast<double>(first_keys)
                                : (1 - first_share) / static_cast<double>(universe - first_keys);
    }
    return exponent == 0 ? 1 / static_cast<double>(universe) : std::pow(static_cast<double>(key + 1), -exponent) / sum;
}

std::function<std::uint64_t()> odds_world::side::draws(std::uint64_t universe, std::uint64_t seed) const {
    if (first_keys != 0) {
        return [chance = random_stream{seed}, keys = first_keys, share = first_share, universe]() mutable {
            if (chance.unit() < share) return chance.below(keys);
            return keys + chance.below(universe - keys);
        };
    }
    if (exponent == 0) return must(uniform_queries::make({0, universe}, seed));
    return must(zipf_queries::make({.exponent = exponent, .over = {0, universe}, .seed = seed}));
}

odds_world::odds_world(std::string name, std::uint64_t universe, side stored, side asked)
    : name_{std::move(name)}, universe_{universe}, stored_{stored}, asked_{asked} {}

odds_world odds_world::zipf_stored(std::uint64_t universe, double exponent) {
    return {"Zipf " + shown(exponent, 2) + " stored",
            universe,
            {.exponent = exponent, .sum = zipf_sum(universe, exponent)},
            {}};
}
odds_world odds_world::zipf_asked(std::uint64_t universe, double exponent) {
    return {"Zipf " + shown(exponent, 2) + " asked",
            universe,
            {},
            {.exponent = exponent, .sum = zipf_sum(universe, exponent)}};
}
odds_world odds_world::two_classes(std::uint64_t universe, std::uint64_t keys, double stored_share,
                                   double asked_share) {
    return {"two classes",
            universe,
            {.first_keys = keys, .first_share = stored_share},
            {.first_keys = keys, .first_share = asked_share}};
}

key_odds odds_world::odds(std::uint64_t key) const noexcept {
    if (key >= universe_) return {};
    return {stored_.of(key, universe_), asked_.of(key, universe_)};
}

key_odds odds_world::odds(key_view key) const noexcept {
    std::uint64_t integer = 0;
    if (key.size != sizeof integer) return {};
    std::memcpy(&integer, key.data, sizeof integer);
    return odds(integer_key{integer}.little);  // its own inverse: little-endian bytes to a number
}

std::function<std::uint64_t()> odds_world::stored_draws(std::uint64_t seed) const {
    return stored_.draws(universe_, apart(seed, 0));
}
std::function<std::uint64_t()> odds_world::asked_draws(std::uint64_t seed) const {
    return asked_.draws(universe_, apart(seed, 1));
}

std::vector<odds_group> odds_world::groups() const {
    std::vector<odds_group> groups;
    constexpr std::uint64_t listed = 4096;
    const std::uint64_t first_keys = std::max(stored_.first_keys, asked_.first_keys);
    if (first_keys != 0) {
        groups.push_back({odds(std::uint64_t{0}), static_cast<double>(first_keys)});
        groups.push_back({odds(first_keys), static_cast<double>(universe_ - first_keys)});
        return groups;
    }
    // A group's odds are its mean: rank^-s is nearly linear over a thousandth.
    for (std::uint64_t first = 0; first < universe_;) {
        const std::uint64_t width = first < listed ? 1 : std::max<std::uint64_t>(1, first / 2048);
        const std::uint64_t end = std::min(universe_, first + width);
        const key_odds low = odds(first), high = odds(end - 1);
        groups.push_back(
            {{(low.stored + high.stored) / 2, (low.asked + high.asked) / 2}, static_cast<double>(end - first)});
        first = end;
    }
    return groups;
}

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
