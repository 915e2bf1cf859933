// daisy_plan: classes, and plans from universes and from samples. See daisy_plan.hpp.
#include "genista/oracles/daisy_plan.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace genista {
namespace {

constexpr double largest_number_of_draws = 0x1p40;  // max_capacity of the filters

result<void> check_one(const key_odds& odds, std::size_t index) noexcept {
    for (const auto& [name, value] : {std::pair{"stored", odds.stored}, std::pair{"asked", odds.asked}}) {
        if (!(value >= 0 && value <= 1)) {
            return error::make(error_code::invalid_argument, "key %zu: the probability %g of being %s is not in 0..1",
                               index, value, name);
        }
    }
    return {};
}

// The probability that none of the draws is this key.
double absent_chance(const key_odds& odds, double draws) noexcept {
    return std::exp(draws * std::log1p(-odds.stored));
}

}  // namespace

double daisy_plan::whole_bits() const noexcept {
    double sum = 0;
    for (std::size_t j = 0; j < stored_share.size(); ++j) sum += static_cast<double>(j) * stored_share[j];
    return terms.draws * sum;
}

unsigned daisy_plan::largest_class() const noexcept {
    return daisy_class({.stored = 0, .asked = 1}, terms);
}

double daisy_plan::expected_rate() const noexcept {
    double sum = 0;
    for (std::size_t j = 0; j < asked_share.size(); ++j) sum += std::ldexp(asked_share[j], -static_cast<int>(j));
    return sum;
}

result<void> check_terms(const daisy_terms& terms) noexcept {
    if (!(terms.draws >= 1 && terms.draws <= largest_number_of_draws)) {
        return error::make(error_code::invalid_argument, "daisy: %g draws are not in 1..%.0f", terms.draws,
                           largest_number_of_draws);
    }
    if (!(terms.rate >= min_daisy_rate && terms.rate <= max_daisy_rate)) {
        return error::make(error_code::invalid_argument, "daisy: the rate %g is not in %g..%g", terms.rate,
                           min_daisy_rate, max_daisy_rate);
    }
    return {};
}

namespace {

// A universe is a list of keys, or of groups of keys.
double keys_of(const key_odds&) noexcept {
    return 1;
}
double keys_of(const odds_group& group) noexcept {
    return group.keys;
}
const key_odds& odds_of(const key_odds& odds) noexcept {
    return odds;
}
const key_odds& odds_of(const odds_group& group) noexcept {
    return group.each;
}

template <class Entry>
result<void> check_entries(std::span<const Entry> universe) noexcept {
    if (universe.empty()) return error::make(error_code::invalid_argument, "daisy: the universe has no keys");
    double stored = 0, asked = 0;
    for (std::size_t i = 0; i < universe.size(); ++i) {
        const key_odds& odds = odds_of(universe[i]);
        if (const auto fine = check_one(odds, i); !fine) return fine;
        stored += keys_of(universe[i]) * odds.stored;
        asked += keys_of(universe[i]) * odds.asked;
    }
    for (const auto& [name, sum] : {std::pair{"stored", stored}, std::pair{"asked", asked}}) {
        if (!(std::abs(sum - 1) <= 0.01)) {
            return error::make(error_code::invalid_argument,
                               "daisy: the probabilities of being %s sum to %g, which is not within 1%% of one", name,
                               sum);
        }
    }
    return {};
}

template <class Entry>
result<daisy_plan> plan_of(const daisy_terms& terms, std::span<const Entry> universe) noexcept {
    if (const auto fine = check_terms(terms); !fine) return fine.error();
    if (const auto fine = check_entries(universe); !fine) return fine.error();
    daisy_plan plan{.terms = terms};
    for (const Entry& entry : universe) {
        const key_odds& odds = odds_of(entry);
        const double keys = keys_of(entry);
        const unsigned its_class = daisy_class(odds, terms);
        plan.stored_share[its_class] += keys * odds.stored;
        plan.asked_share[its_class] += keys * odds.asked * absent_chance(odds, terms.draws);
        plan.mean_bits += keys * odds.stored * daisy_bits(odds, terms);
        plan.overlap += keys * terms.draws * odds.stored * odds.asked;
    }
    return plan;
}

}  // namespace

result<void> check_odds(std::span<const key_odds> universe) noexcept {
    return check_entries(universe);
}

result<daisy_plan> plan_for_universe(const daisy_terms& terms, std::span<const key_odds> universe) noexcept {
    return plan_of(terms, universe);
}

result<daisy_plan> plan_for_groups(const daisy_terms& terms, std::span<const odds_group> groups) noexcept {
    return plan_of(terms, groups);
}

result<daisy_plan> plan_from_samples(const daisy_terms& terms, std::span<const key_odds> stored,
                                     std::span<const key_odds> asked) noexcept {
    if (const auto fine = check_terms(terms); !fine) return fine.error();
    for (const auto& [name, sample] : {std::pair{"stored", stored}, std::pair{"asked", asked}}) {
        if (sample.empty())
            return error::make(error_code::invalid_argument, "daisy: the sample of keys %s is empty", name);
        for (std::size_t i = 0; i < sample.size(); ++i) {
            if (const auto fine = check_one(sample[i], i); !fine) return fine.error();
        }
    }
    daisy_plan plan{.terms = terms};
    const double each_stored = 1 / static_cast<double>(stored.size());
    for (const key_odds& odds : stored) {
        plan.stored_share[daisy_class(odds, terms)] += each_stored;
        plan.mean_bits += each_stored * daisy_bits(odds, terms);
        plan.overlap += each_stored * terms.draws * odds.asked;
    }
    const double each_asked = 1 / static_cast<double>(asked.size());
    for (const key_odds& odds : asked)
        plan.asked_share[daisy_class(odds, terms)] += each_asked * absent_chance(odds, terms.draws);
    return plan;
}

// ---- Classes: regimes and bits of a key
namespace {

// ⌈log2(ratio)⌉, at least 0, without a logarithm: a filter that is loaded on another machine must
// compute the classes in which its keys were stored, and libraries differ in a logarithm's last
// bit, while IEEE products and quotients are the same everywhere. A ratio just above a power of two
// gets that power's value: rounding must not cost a probe.
unsigned whole_log(double ratio) noexcept {
    if (!std::isfinite(ratio)) return max_daisy_class;  // odds so small that a product of them is 0
    constexpr double rounding = 1 - 0x1p-30;
    int exponent = 0;
    const double fraction = std::frexp(ratio * rounding, &exponent);  // in [1/2, 1)
    const int whole = fraction > 0.5 ? exponent : exponent - 1;
    return static_cast<unsigned>(std::clamp(whole, 0, static_cast<int>(max_daisy_class)));
}

}  // namespace

daisy_regime regime_of(const key_odds& odds, const daisy_terms& terms) noexcept {
    const double p = odds.stored, q = odds.asked;
    if (q <= terms.rate * p) return daisy_regime::hardly_asked;
    if (p > 1 / terms.draws) return daisy_regime::nearly_certain;
    if (q <= std::min(p, terms.rate / terms.draws)) return daisy_regime::by_ratio;
    if (p <= terms.rate / terms.draws) return daisy_regime::in_full;
    return daisy_regime::by_likelihood;
}

double daisy_bits(const key_odds& odds, const daisy_terms& terms) noexcept {
    const double most = -std::log2(terms.rate);
    if (!std::isfinite(odds.stored) || !std::isfinite(odds.asked)) return most;
    switch (regime_of(odds, terms)) {
        case daisy_regime::hardly_asked:
        case daisy_regime::nearly_certain:
            return 0;
        case daisy_regime::by_ratio:
            return std::clamp(std::log2(odds.asked / (terms.rate * odds.stored)), 0.0, most);
        case daisy_regime::in_full:
            return most;
        case daisy_regime::by_likelihood:
            return std::clamp(-std::log2(terms.draws * odds.stored), 0.0, most);
    }
    return most;
}

unsigned daisy_class(const key_odds& odds, const daisy_terms& terms) noexcept {
    const unsigned most = whole_log(1 / terms.rate);
    if (!std::isfinite(odds.stored) || !std::isfinite(odds.asked)) return most;
    switch (regime_of(odds, terms)) {
        case daisy_regime::hardly_asked:
        case daisy_regime::nearly_certain:
            return 0;
        case daisy_regime::by_ratio:
            return std::min(most, whole_log(odds.asked / (terms.rate * odds.stored)));
        case daisy_regime::in_full:
            return most;
        case daisy_regime::by_likelihood:
            return std::min(most, whole_log(1 / (terms.draws * odds.stored)));
    }
    return most;
}

}  // namespace genista
