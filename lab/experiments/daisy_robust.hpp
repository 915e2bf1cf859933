// One oracle, however wrong, and a daisy filter over it, brought to a rate: what daisy-robust
// measures again and again.
//
// The plan is made through the wrong oracle, from samples of both distributions [daisy §4.3]. Its
// parameter ε′ is the largest for which absent keys pass at the wanted rate ε, expected over a
// sample of queries for absent keys: wrong odds make it smaller or larger than the exact ones do.
// Classes are whole, and at a power of two ε′ all keys that are asked for often change theirs
// together: a plan may expect up to half the rate. daisy_bloom is told the rate besides, and is no
// longer than it needs (daisy_bloom_options::rate); daisy_fingerprint pays the bit. Then a filter
// is made, filled with n draws, and asked. If it is above the rate after all (a sample is a
// sample), once more with a smaller ε′.
//
// *A query* draws a key and asks for it under a digest drawn for this query. The promise is over
// the filter's hash function [daisy Def. 1]: of an absent key a filter has the digest alone, so a
// new digest is a new hash function for it. Asked under its own, the hottest key of a Zipf world
// would be one trial counted a hundred thousand times.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "genista/filters/filter.hpp"
#include "genista/oracles/daisy_plan.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/experiment_run.hpp"
#include "lab/workloads/odds_world.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {

// A world at work: what was inserted and what is asked, the same for every oracle and filter.
struct robust_stage {
    odds_world world;
    double rate = 0x1p-8;                                    // ε
    std::vector<std::uint64_t> inserts;                      // n draws
    std::uint64_t distinct = 0;                              // of them
    std::vector<std::uint64_t> stored_sample, asked_sample;  // for plans; the asked are absent
    std::vector<std::uint64_t> queries;                      // for absent keys
};

[[nodiscard]] robust_stage make_stage(odds_world world, std::uint64_t draws, double rate, std::uint64_t seed);

// Whoever tells odds, and how many bytes he takes for it.
struct teller {
    std::string name;
    std::function<key_odds(std::uint64_t)> odds;
    std::uint64_t bytes = 0;
};

// A teller's odds of everything on the stage, asked for once.
struct told {
    std::vector<key_odds> inserts, stored_sample, asked_sample, queries;
};
[[nodiscard]] told ask_all(const robust_stage& stage, const teller& who);

struct robust_seen {
    bool reached = false;    // the rate is to be had, and was kept
    double parameter = 0;    // ε′
    double bits = 0;         // all that the filter allocates
    double kept_draws = 0;   // n₊ of its plan
    double lower_bound = 0;  // LB(ε′)
    unsigned largest_class = 0;
    std::uint64_t queries = 0, hits = 0, denied = 0;
    unsigned tries = 0;
    [[nodiscard]] double measured_rate() const {
        return queries == 0 ? 1 : static_cast<double>(hits) / static_cast<double>(queries);
    }
};

// The plan of the largest ε′ at which the sample of absent keys passes at `target`; that of the
// smallest ε′ if none does.
struct tuned_plan {
    daisy_plan plan{};
    bool reaches = false;
};
[[nodiscard]] tuned_plan tune(const robust_stage& stage, const told& odds, double target);

template <class Filter>
Filter made_for(const daisy_plan& plan, double rate, const hasher& hash) {
    if constexpr (requires { Filter::make({.plan = plan, .hash = hash, .rate = rate}); }) {
        return must(Filter::make({.plan = plan, .hash = hash, .rate = rate}));
    } else {
        return must(Filter::make({.plan = plan, .hash = hash}));
    }
}

// Inserts all, looks for all by asking the oracle anew, and counts absent keys let through.
template <class Filter>
robust_seen fill_and_ask(const robust_stage& stage, const teller& who, const told& odds, const daisy_plan& plan,
                         double rate, std::uint64_t seed) {
    robust_seen seen{.parameter = plan.terms.rate,
                     .kept_draws = plan.kept_draws(),
                     .lower_bound = plan.lower_bound_bits(),
                     .largest_class = plan.largest_class(),
                     .queries = stage.queries.size()};
    // A key of its own: oracles hash by `seed`, and classes that follow from a key's place in the
    // table would crowd there.
    auto filter = made_for<Filter>(plan, rate, hasher{hash_key::from_seed(seed + 0x5eed)});
    for (std::size_t i = 0; i < stage.inserts.size(); ++i) {
        const unsigned its_class = daisy_class(odds.inserts[i], plan.terms);
        if (filter.insert(stage.inserts[i], its_class) == insert_outcome::full)
            throw workload_error{"the filter is full"};
    }
    for (const std::uint64_t key : stage.inserts)
        seen.denied += filter.may_contain(key, daisy_class(who.odds(key), plan.terms)) ? 0u : 1u;
    random_stream chance{~seed};  // not one of the streams of the draws
    for (const key_odds& each : odds.queries) {
        const digest drawn{chance(), chance()};
        seen.hits += filter.may_contain(drawn, daisy_class(each, plan.terms)) ? 1u : 0u;
    }
    seen.bits = 8 * static_cast<double>(filter.stats().local_bytes);
    return seen;
}

template <class Filter>
robust_seen bring_to_rate(const robust_stage& stage, const teller& who, const told& odds, std::uint64_t seed) {
    double target = stage.rate;
    robust_seen seen;
    for (unsigned tries = 1; tries <= 5; ++tries) {
        const tuned_plan tuned = tune(stage, odds, target);
        seen = fill_and_ask<Filter>(stage, who, odds, tuned.plan, target, seed);
        seen.tries = tries;
        seen.reached = tuned.reaches && seen.hits <= most_plausible_hits(seen.queries, stage.rate);
        if (seen.reached || !tuned.reaches) break;
        target *= 0.99 * stage.rate / seen.measured_rate();
    }
    return seen;
}

}  // namespace genista::lab
