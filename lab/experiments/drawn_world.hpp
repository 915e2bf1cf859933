// Inputs of the daisy filters: worlds with known odds, draws from them, and the count of a rate
// over the queries. For daisy-fingerprint and daisy-sampling.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "genista/filters/filter.hpp"
#include "genista/oracles/daisy_plan.hpp"
#include "lab/experiment.hpp"
#include "lab/workloads/number_set.hpp"
#include "lab/workloads/odds_world.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {

// Universes large enough that n Σ p q ≤ ε, with room for a parameter ε′ down to ε/4: 4n/ε keys
// where one side is uniform, in two classes two halves of as many.
[[nodiscard]] std::vector<odds_world> daisy_worlds(std::uint64_t draws, double rate);

struct drawn_world {
    odds_world world;
    daisy_terms terms;
    std::vector<odds_group> groups;
    std::vector<std::uint64_t> draws{};  // with repetitions, in their order
    number_set stored{};

    drawn_world(odds_world from, const daisy_terms& asked, std::uint64_t seed);
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
    [[nodiscard]] bool keeps(double promised) const;  // by the rule, and with as many queries as it requires
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

}  // namespace genista::lab
