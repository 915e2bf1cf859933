// Where the keys of daisy filters come from in a measurement, with the odds of each.
//
// odds_world: a world whose odds are known; two distributions over the keys 0 .. universe - 1, one
// of the stored keys, one of the queries.
//
//     zipf_stored   key i is stored in proportion to (i + 1)^-s, asked like any other
//     zipf_asked    the other way round
//     two_classes   a first part of the keys with these shares of both, alike within it, and the
//                   rest
//
// It is its own exact oracle (odds() computes and stores nothing), draws from both distributions,
// and gives its groups for a plan: Zipf's ranks one by one up to 4,096, then so that the odds
// within a group differ by less than a thousandth.
//
// daisy_input: draws to be stored, the odds of every key, and queries; from such a world, or from a
// trace whose own frequencies are the odds.
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

#include "genista/oracles/daisy_plan.hpp"
#include "lab/workloads/trace.hpp"

namespace genista::lab {

class odds_world {
  public:
    [[nodiscard]] static odds_world zipf_stored(std::uint64_t universe, double exponent);
    [[nodiscard]] static odds_world zipf_asked(std::uint64_t universe, double exponent);
    // The first `keys` keys have these shares of the stored and of the asked.
    [[nodiscard]] static odds_world two_classes(std::uint64_t universe, std::uint64_t keys, double stored_share,
                                                double asked_share);

    [[nodiscard]] key_odds odds(std::uint64_t key) const noexcept;
    // For the eight bytes of an integer key; any other key is neither stored nor asked.
    [[nodiscard]] key_odds odds(key_view key) const noexcept;
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return sizeof *this; }

    [[nodiscard]] std::function<std::uint64_t()> stored_draws(std::uint64_t seed) const;
    [[nodiscard]] std::function<std::uint64_t()> asked_draws(std::uint64_t seed) const;

    [[nodiscard]] std::vector<odds_group> groups() const;
    [[nodiscard]] std::uint64_t universe() const noexcept { return universe_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

  private:
    // One of the two distributions.
    struct side {
        double exponent = 0;           // of Zipf's law; 0 is uniform
        double sum = 1;                // of all (i + 1)^-exponent
        std::uint64_t first_keys = 0;  // of the first part, where there are two
        double first_share = 0;
        [[nodiscard]] double of(std::uint64_t key, std::uint64_t universe) const noexcept;
        [[nodiscard]] std::function<std::uint64_t()> draws(std::uint64_t universe, std::uint64_t seed) const;
    };
    odds_world(std::string name, std::uint64_t universe, side stored, side asked);

    std::string name_;
    std::uint64_t universe_;
    side stored_, asked_;
};

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
