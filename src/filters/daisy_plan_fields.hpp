// A daisy_plan that a filter was given, or that a snapshot holds: is it one, and how it is written down.
//
//     draws f64 | rate f64 | mean bits f64 | overlap f64 | stored share f64 × 65 | asked share f64 × 65
#pragma once

#include <cmath>
#include <span>
#include <string_view>

#include "genista/base/result.hpp"
#include "genista/format/fields.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista {

// Shares are finite and not negative, none is of a class that the rate does not have, and the sums are about one (asked: at most).
[[nodiscard]] inline result<void> check_shares(std::string_view what, std::span<const double> shares, unsigned largest,
                                               double least_sum) noexcept {
    constexpr double tolerance = 0.01;
    double sum = 0;
    for (std::size_t j = 0; j < shares.size(); ++j) {
        const double most = j <= largest ? 1 + tolerance : 0;
        if (!(shares[j] >= 0 && shares[j] <= most)) {
            return error::make(error_code::invalid_argument, "plan: the share %g of class %zu %.*s is not in 0..%g",
                               shares[j], j, static_cast<int>(what.size()), what.data(), most);
        }
        sum += shares[j];
    }
    if (sum >= least_sum - tolerance && sum <= 1 + tolerance) return {};
    return error::make(error_code::invalid_argument, "plan: the shares %.*s sum to %g, which is not in %g..%g",
                       static_cast<int>(what.size()), what.data(), sum, least_sum - tolerance, 1 + tolerance);
}

// `needs_shares`: the keys stored are all of some class.
[[nodiscard]] inline result<void> check_plan(const daisy_plan& plan, double min_rate, bool needs_shares) noexcept {
    if (const auto fine = check_terms(plan.terms); !fine) return fine;
    if (plan.terms.rate < min_rate) {
        return error::make(error_code::invalid_argument, "plan: the rate %g is not in %g..%g", plan.terms.rate,
                           min_rate, max_daisy_rate);
    }
    const unsigned largest = plan.largest_class();
    if (const auto fine = check_shares("stored", plan.stored_share, largest, needs_shares ? 1 : 0); !fine) return fine;
    if (const auto fine = check_shares("asked", plan.asked_share, largest, 0); !fine) return fine;
    if (!(plan.mean_bits >= 0 && plan.mean_bits <= max_daisy_class)) {
        return error::make(error_code::invalid_argument, "plan: %g bits a key are not in 0..%u", plan.mean_bits,
                           max_daisy_class);
    }
    if (!(plan.overlap >= 0 && std::isfinite(plan.overlap)))
        return error::make(error_code::invalid_argument, "plan: the overlap %g is negative or no number", plan.overlap);
    return {};
}

inline void write_plan(field_writer& fields, const daisy_plan& plan) noexcept {
    fields.f64(plan.terms.draws).f64(plan.terms.rate).f64(plan.mean_bits).f64(plan.overlap);
    for (const double share : plan.stored_share) fields.f64(share);
    for (const double share : plan.asked_share) fields.f64(share);
}

// Whatever the bytes say: check_plan() comes next.
[[nodiscard]] inline daisy_plan read_plan(field_reader& fields) noexcept {
    daisy_plan plan;
    plan.terms.draws = fields.f64();
    plan.terms.rate = fields.f64();
    plan.mean_bits = fields.f64();
    plan.overlap = fields.f64();
    for (double& share : plan.stored_share) share = fields.f64();
    for (double& share : plan.asked_share) share = fields.f64();
    return plan;
}

}  // namespace genista
