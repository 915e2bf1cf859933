// Oracles for tests of the daisy filters: odds that the test chooses, right or wrong, with a mark
// that identifies the oracle.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "genista/detail/oracles/oracle_identity.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista::test {

// The odds of an integer key are a function that the test supplies.
class scripted_oracle {
  public:
    explicit scripted_oracle(std::function<key_odds(std::uint64_t)> odds, std::uint64_t number = 0)
        : odds_{std::move(odds)}, number_{number} {}

    [[nodiscard]] key_odds odds(key_view key) const noexcept {
        std::uint64_t integer = 0;
        std::memcpy(&integer, key.data, key.size < 8 ? key.size : 8);
        return odds_(integer);
    }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return sizeof *this; }
    [[nodiscard]] oracle_identity identity() const noexcept {
        oracle_identity made;
        std::memcpy(made.bytes.data(), &number_, sizeof number_);
        return made;
    }

  private:
    std::function<key_odds(std::uint64_t)> odds_;
    std::uint64_t number_;
};

// Odds that give this class when n and ε are those of `terms`: by_ratio, k = log(q / (ε p)) with
// p = q_whole / n².
[[nodiscard]] inline key_odds odds_of_class(unsigned its_class, const daisy_terms& terms) {
    const double p = terms.rate / (4 * terms.draws);
    if (its_class == 0) return {.stored = p, .asked = 0};
    double q = terms.rate * p;  // k = 0
    for (unsigned i = 0; i < its_class; ++i) q *= 2;
    return {.stored = p, .asked = q * 0.75};  // between two classes, so that rounding does not matter
}

// A plan with these shares of each class.
[[nodiscard]] inline daisy_plan plan_of(const daisy_terms& terms,
                                        const std::vector<std::pair<unsigned, std::pair<double, double>>>& shares) {
    daisy_plan plan;
    plan.terms = terms;
    for (const auto& [its_class, share] : shares) {
        plan.stored_share[its_class] = share.first;
        plan.asked_share[its_class] = share.second;
        plan.mean_bits += share.first * its_class;
    }
    return plan;
}

}  // namespace genista::test
