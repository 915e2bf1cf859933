// Oracles for tests of the daisy filters: right ones, wrong ones, and one that says which it is.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "genista/detail/oracles/oracle_identity.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista::test {

// Odds of integer keys by a function that the test writes down.
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

// The class that a key gets when n and ε are these: by_ratio, k = log(q / (ε p)) with p = q_whole /
// n².
[[nodiscard]] inline key_odds odds_of_class(unsigned its_class, const daisy_terms& terms) {
    const double p = terms.rate / (4 * terms.draws);
    if (its_class == 0) return {.stored = p, .asked = 0};
    double q = terms.rate * p;  // k = 0
    for (unsigned i = 0; i < its_class; ++i) q *= 2;
    return {.stored = p, .asked = q * 0.75};  // between the steps, so that rounding does not matter
}

// Shares by class, as a plan.
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
