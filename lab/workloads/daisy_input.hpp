// The input of a daisy filter in a measurement: draws to be stored, the odds of every key, and
// queries; from a world of known odds, or from a trace whose own frequencies are the odds.
//
//     world            n draws of it are stored; queries are drawn from its other side
//     trace, stored    n of its accesses, drawn at random, are stored; queries are uniform over a
//                      universe that the trace's keys begin
//     trace, asked     its accesses, drawn at random, are the queries; n keys of that universe are
//                      stored, all alike
//
// A universe has 2n/ε keys, so that n Σ p q is about ε/2 where one side is uniform.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/workloads/odds_world.hpp"
#include "lab/workloads/trace.hpp"

namespace genista::lab {

struct daisy_input {
    using draws = std::function<std::uint64_t()>;
    std::string name;
    daisy_terms terms{};  // the draws to be stored, and the rate that is asked for
    std::function<key_odds(std::uint64_t)> odds{};
    std::vector<odds_group> groups{};
    std::function<draws(std::uint64_t seed)> stored_draws{}, asked_draws{};
};

[[nodiscard]] std::uint64_t universe_for(const daisy_terms& terms);

[[nodiscard]] daisy_input input_of_world(const odds_world& world, const daisy_terms& terms);
// At most terms.draws draws, and no more than a sixteenth of its accesses.
[[nodiscard]] daisy_input input_of_stored_trace(const trace& from, daisy_terms terms);
[[nodiscard]] daisy_input input_of_asked_trace(const trace& from, const daisy_terms& terms);

}  // namespace genista::lab
