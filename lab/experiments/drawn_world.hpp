// Inputs of the daisy filters: worlds with known odds, draws from them, and the count of a rate
// over the queries. For daisy-fingerprint and daisy-sampling.
//
// And the limit of daisy-sampling for a filter of unknown size, judged at every moment, here so
// that a test can plant a defect.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "genista/filters/filter.hpp"
#include "genista/oracles/daisy_plan.hpp"
#include "lab/experiment.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/daisy_input.hpp"
#include "lab/workloads/number_set.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {

// Universes large enough that n Σ p q ≤ ε, with room for a parameter ε′ down to ε/4: 4n/ε keys
// where one side is uniform, in two classes two halves of as many.
[[nodiscard]] inline std::vector<odds_world> daisy_worlds(std::uint64_t draws, double rate) {
    const auto universe = static_cast<std::uint64_t>(std::ceil(4 * static_cast<double>(draws) / rate));
    return {odds_world::zipf_stored(universe, 1.0), odds_world::zipf_stored(universe, 1.2),
            odds_world::zipf_asked(universe, 1.0), odds_world::two_classes(2 * universe, universe, 0.9, 0.1)};
}

struct drawn_world {
    odds_world world;
    daisy_terms terms;
    std::vector<odds_group> groups;
    std::vector<std::uint64_t> draws{};  // with repetitions, in their order
    number_set stored{};

    drawn_world(odds_world from, const daisy_terms& asked, std::uint64_t seed)
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
    [[nodiscard]] daisy_plan plan() const { return must(plan_for_groups(terms, groups)); }
    [[nodiscard]] daisy_plan tuned() const {
        return must(plan_tuned(terms, [&](const daisy_terms& at) { return plan_for_groups(at, groups); }));
    }
    [[nodiscard]] std::uint64_t distinct() const { return stored.size(); }
};

// Queries from Q. Each is asked under a name of its own: its class is that of the key drawn, its
// digest is new. So repetitions of one hot key are trials of their own, as if each met a filter of
// its own, and the count of false positives is binomial, as the rule for rates requires. A query
// for a stored key cannot err. `classes` are by these terms, those of the filter's plan.
struct rate_seen {
    std::uint64_t queries = 0, false_positives = 0;
    [[nodiscard]] double rate() const { return static_cast<double>(false_positives) / static_cast<double>(queries); }
    // By the rule, and with as many queries as it requires.
    [[nodiscard]] bool keeps(double promised) const {
        return queries >= trials_for(promised) && false_positives <= most_plausible_hits(queries, promised);
    }
};

template <class Filter>
rate_seen ask_under_new_names(const Filter& filter, const drawn_world& input, std::uint64_t queries,
                              std::uint64_t seed) {
    rate_seen seen{.queries = queries};
    const auto next = input.world.asked_draws(seed);
    for (std::uint64_t i = 0; i < queries; ++i) {
        const std::uint64_t key = next();
        if (input.stored.contains(key)) continue;
        const unsigned its_class = daisy_class(input.world.odds(key), filter.terms());
        // Beyond the keys of every world.
        const digest fresh = filter.hash()((std::uint64_t{1} << 62) + i);
        seen.false_positives += filter.may_contain(fresh, its_class) ? 1u : 0u;
    }
    return seen;
}

// The same queries under their own digests, as a user asks them; one hot key can dominate the
// count.
template <class Filter>
rate_seen ask_plainly(const Filter& filter, const drawn_world& input, std::uint64_t queries, std::uint64_t seed) {
    rate_seen seen{.queries = queries};
    const auto next = input.world.asked_draws(seed);
    for (std::uint64_t i = 0; i < queries; ++i) {
        const std::uint64_t key = next();
        if (!filter.may_contain(key, daisy_class(input.world.odds(key), filter.terms()))) continue;
        seen.false_positives += input.stored.contains(key) ? 0u : 1u;
    }
    return seen;
}

template <class Filter>
void insert_all(Filter& filter, const drawn_world& input) {
    for (const std::uint64_t key : input.draws) {
        const unsigned its_class = daisy_class(input.world.odds(key), filter.terms());
        if (filter.insert(key, its_class) == insert_outcome::full) throw workload_error{"a daisy filter refused a key"};
    }
}

template <class Filter>
[[nodiscard]] std::uint64_t false_negatives(const Filter& filter, const drawn_world& input) {
    std::uint64_t lost = 0;
    input.stored.for_each([&](std::uint64_t key) {
        lost += filter.may_contain(key, daisy_class(input.world.odds(key), filter.terms())) ? 0u : 1u;
    });
    return lost;
}

inline constexpr double unknown_constant = 4, object_bits = 8.0 * 1536;

// Bits a draw beyond j + 2 + 2/15, the bits of a planned cell of class j, over all moments that
// were recorded from 1,000 draws on.
struct unknown_bits {
    unsigned its_class;
    double worst = -1e9, worst_excess = -1e9, worst_share = 0;

    explicit unknown_bits(unsigned of_class) noexcept : its_class{of_class} {}

    [[nodiscard]] static double allowed(double draws) noexcept {
        return 2 * std::log2(std::log2(draws)) + unknown_constant;
    }
    void see(std::uint64_t draws, std::uint64_t bytes) noexcept {
        if (draws < 1'000) return;
        const auto n = static_cast<double>(draws);
        const double needed = its_class + 2 + 2.0 / 15, bits = (8 * static_cast<double>(bytes) - object_bits) / n;
        worst = std::max(worst, bits - needed);
        worst_excess = std::max(worst_excess, bits - needed - allowed(n));
        worst_share = std::max(worst_share, bits / (needed + allowed(n)));
    }
    [[nodiscard]] bool kept() const noexcept { return worst_excess <= 0; }
    // So many percent more bits would break it.
    [[nodiscard]] double sees_percent() const noexcept { return 100 * (1 / worst_share - 1); }
};

}  // namespace genista::lab
