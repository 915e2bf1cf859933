// One oracle, right or wrong, and a daisy filter over it, tuned to a rate. daisy-robust measures it
// for each oracle.
//
// The plan is made through the wrong oracle, from samples of both distributions [daisy §4.3]. Its
// parameter ε′ is the largest for which absent keys pass at the wanted rate ε, expected over a
// sample of queries for absent keys: wrong odds make it smaller or larger than the exact ones do.
// Classes are whole, and at a power of two ε′ all keys that are asked for often change class
// together: a plan may expect up to half the rate. daisy_bloom also gets the rate, and is no longer
// than needed (daisy_bloom_options::rate); daisy_fingerprint pays the bit. Then a filter is made,
// filled with n draws, and asked. If its rate is still too high (it was tuned on a sample), it is
// made again with a smaller ε′.
//
// *A query* draws a key and asks for it under a digest drawn for this query. The promise is over
// the filter's hash function [daisy Def. 1]: a filter has nothing but the digest of an absent key,
// so a new digest is a new hash function for it. Under its own digest the hottest key of a Zipf
// world would be one trial counted a hundred thousand times.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "genista/filters/filter.hpp"
#include "genista/oracles/daisy_plan.hpp"
#include "lab/experiment.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/daisy_input.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {

// Inserts and queries of a world, the same for every oracle and filter.
struct robust_stage {
    odds_world world;
    double rate = 0x1p-8;                                    // ε
    std::vector<std::uint64_t> inserts;                      // n draws
    std::uint64_t distinct = 0;                              // of them
    std::vector<std::uint64_t> stored_sample, asked_sample;  // for plans; asked_sample holds absent keys
    std::vector<std::uint64_t> queries;                      // for absent keys
};

[[nodiscard]] robust_stage make_stage(odds_world world, std::uint64_t draws, double rate, std::uint64_t seed);

// A source of odds, and its bytes.
struct odds_source {
    std::string name;
    std::function<key_odds(std::uint64_t)> odds;
    std::uint64_t bytes = 0;
};

// The source's odds of all keys of the stage, computed once.
struct odds_table {
    std::vector<key_odds> inserts, stored_sample, asked_sample, queries;
};
[[nodiscard]] odds_table ask_all(const robust_stage& stage, const odds_source& source);

struct robust_seen {
    bool reached = false;    // the rate can be reached, and was kept
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
[[nodiscard]] tuned_plan tune(const robust_stage& stage, const odds_table& odds, double target);

template <class Filter>
Filter made_for(const daisy_plan& plan, double rate, const hasher& hash) {
    if constexpr (requires { Filter::make({.plan = plan, .hash = hash, .rate = rate}); }) {
        return must(Filter::make({.plan = plan, .hash = hash, .rate = rate}));
    } else {
        return must(Filter::make({.plan = plan, .hash = hash}));
    }
}

// Inserts all, queries all by asking the oracle again, and counts false positives.
template <class Filter>
robust_seen fill_and_ask(const robust_stage& stage, const odds_source& source, const odds_table& odds,
                         const daisy_plan& plan, double rate, std::uint64_t seed) {
    robust_seen seen{.parameter = plan.terms.rate,
                     .kept_draws = plan.kept_draws(),
                     .lower_bound = plan.lower_bound_bits(),
                     .largest_class = plan.largest_class(),
                     .queries = stage.queries.size()};
    // A key of its own: oracles hash by `seed`, and classes that follow from a key's place in the
    // table would fill a part of it.
    auto filter = made_for<Filter>(plan, rate, hasher{hash_key::from_seed(seed + 0x5eed)});
    for (std::size_t i = 0; i < stage.inserts.size(); ++i) {
        const unsigned its_class = daisy_class(odds.inserts[i], plan.terms);
        if (filter.insert(stage.inserts[i], its_class) == insert_outcome::full)
            throw workload_error{"the filter is full"};
    }
    for (const std::uint64_t key : stage.inserts)
        seen.denied += filter.may_contain(key, daisy_class(source.odds(key), plan.terms)) ? 0u : 1u;
    random_stream chance{~seed};  // not one of the streams of the draws
    for (const key_odds& each : odds.queries) {
        const digest drawn{chance(), chance()};
        seen.hits += filter.may_contain(drawn, daisy_class(each, plan.terms)) ? 1u : 0u;
    }
    seen.bits = 8 * static_cast<double>(filter.stats().local_bytes);
    return seen;
}

template <class Filter>
robust_seen bring_to_rate(const robust_stage& stage, const odds_source& source, const odds_table& odds,
                          std::uint64_t seed) {
    double target = stage.rate;
    robust_seen seen;
    for (unsigned tries = 1; tries <= 5; ++tries) {
        const tuned_plan tuned = tune(stage, odds, target);
        seen = fill_and_ask<Filter>(stage, source, odds, tuned.plan, target, seed);
        seen.tries = tries;
        seen.reached = tuned.reaches && seen.hits <= most_plausible_hits(seen.queries, stage.rate);
        if (seen.reached || !tuned.reaches) break;
        target *= 0.99 * stage.rate / seen.measured_rate();
    }
    return seen;
}

}  // namespace genista::lab
