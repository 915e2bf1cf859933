// daisy_plan: all that a daisy filter has to know of the distributions before it is made: how many
// keys of each class to expect, and what that must cost at least.
//
//     P_j     stored_share[j]   of the draws, those of class j                       [daisy §4.1]
//             asked_share[j]    of the queries, those for absent keys of class j
//     LB      n Σ p_x k_x       no filter does with fewer bits than LB - 1 - 6n      [daisy Thm 6]
//     n₊      draws of keys that anything is kept of (class 1 and up)
//     n Σ p_x q_x               must be at most ε for the filters' rates to be proved [daisy Thms
//                               7, 12]
//
// From a whole universe, or from keys drawn from both distributions [daisy §4.3]: there n Σ p_x q_x
// is n times the mean q of the keys stored, and a share is what it is among the draws.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "genista/base/result.hpp"
#include "genista/detail/oracles/daisy_class.hpp"

namespace genista {

struct daisy_plan {
    daisy_terms terms{};
    std::array<double, max_daisy_class + 1> stored_share{};  // sums to 1
    std::array<double, max_daisy_class + 1> asked_share{};   // sums to the share of queries for absent keys
    double mean_bits = 0;                                    // Σ p_x k_x
    double overlap = 0;                                      // n Σ p_x q_x

    // LB, the bound without what the theorem takes off it again.
    [[nodiscard]] double lower_bound_bits() const noexcept { return terms.draws * mean_bits; }
    // [daisy Thm 6]: that many bits every filter needs on average, or none if this is negative.
    [[nodiscard]] double proved_bound_bits() const noexcept { return lower_bound_bits() - 1 - 6 * terms.draws; }
    [[nodiscard]] double kept_draws() const noexcept { return terms.draws * std::max(0.0, 1 - stored_share[0]); }  // n₊
    // n Σ p_x ⌈k_x⌉: what LB becomes when bits are whole.
    [[nodiscard]] double whole_bits() const noexcept;
    [[nodiscard]] unsigned largest_class() const noexcept;  // ⌈log(1/ε)⌉
    // The rate to expect of a filter that lets an absent key of class j through with probability
    // 2^-j.
    [[nodiscard]] double expected_rate() const noexcept;
    [[nodiscard]] bool keeps_condition() const noexcept { return overlap <= terms.rate; }
};

[[nodiscard]] result<void> check_terms(const daisy_terms& terms) noexcept;

// An error that names the value unless every probability is finite and not negative, and each of
// the two sums is within 1 % of one.
[[nodiscard]] result<void> check_odds(std::span<const key_odds> universe) noexcept;

// Every key of the universe, once.
[[nodiscard]] result<daisy_plan> plan_for_universe(const daisy_terms& terms,
                                                   std::span<const key_odds> universe) noexcept;

// A universe too large to list: so many keys of the same odds each.
struct odds_group {
    key_odds each{};
    double keys = 1;
};
[[nodiscard]] result<daisy_plan> plan_for_groups(const daisy_terms& terms, std::span<const odds_group> groups) noexcept;

// The odds of keys drawn from P, and of keys drawn from Q. Neither may be empty.
[[nodiscard]] result<daisy_plan> plan_from_samples(const daisy_terms& terms, std::span<const key_odds> stored,
                                                   std::span<const key_odds> asked) noexcept;

// The largest parameter ε′ ≤ ε whose plan expects at most ε: the theorems promise 3 ε and 6 ε, a
// caller that wants ε itself asks for less. An error where no ε′ does: keys that are nearly
// certainly stored are always let through, and may be asked for too often.
template <class PlanFor>
[[nodiscard]] result<daisy_plan> plan_tuned(const daisy_terms& wanted, PlanFor plan_for) {
    auto fits = plan_for(wanted);
    if (!fits || fits->expected_rate() <= wanted.rate) return fits;
    double high = wanted.rate, low = wanted.rate / 1024;  // too large; small enough, if any is
    low = low < min_daisy_rate ? min_daisy_rate : low;
    fits = plan_for(daisy_terms{wanted.draws, low});
    if (!fits) return fits;
    if (fits->expected_rate() > wanted.rate) {
        return error::make(
            error_code::invalid_argument,
            "daisy: rate %g is not to be had: keys that are nearly always stored are asked for that often "
            "when they are not (expected %g at the parameter %g)",
            wanted.rate, fits->expected_rate(), low);
    }
    for (int step = 0; step < 40; ++step) {
        const double middle = (low + high) / 2;
        auto tried = plan_for(daisy_terms{wanted.draws, middle});
        if (!tried) return tried;
        if (tried->expected_rate() <= wanted.rate) {
            fits = tried;
            low = middle;
        } else {
            high = middle;
        }
    }
    return fits;
}

}  // namespace genista
