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
#include <string_view>

#include "genista/base/result.hpp"
#include "genista/oracles/oracle.hpp"

namespace genista {

// How many bits a key gets: k_x of [daisy §1.1], from its odds, the number of draws n
// and the rate ε.
//
//   regime          when                       k_x              why
//   hardly_asked    q ≤ ε p                    0                "maybe" costs less than ε of p
//   nearly_certain  p > 1/n                    0                it is stored anyway
//   by_ratio        ε p < q ≤ min(p, ε/n)      log(q / (ε p))   between hardly_asked and in_full
//   in_full         q > p, p ≤ ε/n             log(1/ε)         an ordinary filter's bits
//   by_likelihood   q > ε/n, ε/n < p ≤ 1/n     log(1/(n p))     between in_full and nearly_certain
//
// in the paper's order of U_0 .. U_4 [daisy §2]; every pair of odds is in exactly one of them. A
// key's class is ⌈k_x⌉: 0 means "always maybe", and nothing is kept of such a key. Logarithms are
// to base 2.

struct daisy_terms {
    double draws = 1'000'000;  // n: draws of the input, repetitions counted
    double rate = 1.0 / 256;   // ε
};

enum class daisy_regime : std::uint8_t { hardly_asked, nearly_certain, by_ratio, in_full, by_likelihood };

inline constexpr unsigned max_daisy_class = 64;
inline constexpr double min_daisy_rate = 0x1p-64, max_daisy_rate = 0.5;

[[nodiscard]] daisy_regime regime_of(const key_odds& odds, const daisy_terms& terms) noexcept;
// k_x, in 0 .. log(1/ε). Odds that are NaN, which I2 of oracle.hpp excludes, get log(1/ε): safe.
[[nodiscard]] double daisy_bits(const key_odds& odds, const daisy_terms& terms) noexcept;
// ⌈k_x⌉, in 0 .. ⌈log(1/ε)⌉; the same on every machine for the same odds.
[[nodiscard]] unsigned daisy_class(const key_odds& odds, const daisy_terms& terms) noexcept;

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

// Whether keys and queries still match the plan by which a daisy filter was made. Each filter's
// header says where it draws the line: a Bloom filter compares the probes of all keys together, a
// table for each class compares the class.
//
// Whatever the verdict, no key is lost. The remedy is a new filter by a new plan.
enum class drift_verdict : std::uint8_t {
    as_planned,
    fuller_than_planned,  // more keys than planned
    classes_differ,       // keys of other classes than planned
};

[[nodiscard]] constexpr std::string_view to_string(drift_verdict verdict) noexcept {
    switch (verdict) {
        case drift_verdict::as_planned:
            return "as_planned";
        case drift_verdict::fuller_than_planned:
            return "fuller_than_planned";
        case drift_verdict::classes_differ:
            return "classes_differ";
    }
    return "unknown";
}

}  // namespace genista
