// A daisy_plan in the parameter block of a snapshot, and the check that every filter makes of a
// plan from its caller or from a snapshot:
//
//     draws f64 | mean bits f64 | overlap f64 | stored share 65 x f64 | asked share 65 x f64
//
// The rate is the false-positive rate of the common fields (snapshot_fields.hpp), and the capacity
// there is the draws as a whole number.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "genista/detail/format/fields.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista {

// The accepted error of sums of probabilities: the same as in check_odds.
inline constexpr double plan_sum_slack = 0.011;

[[nodiscard]] inline result<void> check_plan(std::string_view filter, const daisy_plan& plan) noexcept {
    if (const auto fine = check_terms(plan.terms); !fine) return fine.error();
    const int length = static_cast<int>(filter.size());
    const unsigned largest = plan.largest_class();
    double stored = 0, asked = 0;
    for (unsigned j = 0; j <= max_daisy_class; ++j) {
        for (const double share : {plan.stored_share[j], plan.asked_share[j]}) {
            if (!(share >= 0 && share <= 1 + plan_sum_slack)) {
                return error::make(error_code::invalid_argument, "%.*s: the plan's share %g of class %u is not in 0..1",
                                   length, filter.data(), share, j);
            }
            if (j > largest && share > 0) {
                return error::make(error_code::invalid_argument,
                                   "%.*s: the plan has keys of class %u; the largest for the rate %g is %u", length,
                                   filter.data(), j, plan.terms.rate, largest);
            }
        }
        stored += plan.stored_share[j];
        asked += plan.asked_share[j];
    }
    if (!(std::abs(stored - 1) <= plan_sum_slack && asked <= 1 + plan_sum_slack)) {
        return error::make(error_code::invalid_argument,
                           "%.*s: the plan's shares sum to %g stored and %g asked; allowed are 1 and at most 1, "
                           "give or take a hundredth",
                           length, filter.data(), stored, asked);
    }
    if (!(plan.mean_bits >= 0 && plan.mean_bits <= 2 * max_daisy_class && plan.overlap >= 0 &&
          std::isfinite(plan.overlap))) {
        return error::make(error_code::invalid_argument,
                           "%.*s: the plan's mean bits %g are not in 0..%u, or its overlap %g is negative or infinite",
                           length, filter.data(), plan.mean_bits, 2 * max_daisy_class, plan.overlap);
    }
    return {};
}

[[nodiscard]] inline std::uint64_t capacity_of(const daisy_plan& plan) noexcept {
    return static_cast<std::uint64_t>(std::ceil(plan.terms.draws));
}

inline void write_plan(field_writer& fields, const daisy_plan& plan) noexcept {
    fields.f64(plan.terms.draws).f64(plan.mean_bits).f64(plan.overlap);
    for (const double share : plan.stored_share) fields.f64(share);
    for (const double share : plan.asked_share) fields.f64(share);
}

// Reads any bytes: check_plan() comes next.
[[nodiscard]] inline daisy_plan read_plan(field_reader& fields, double rate) noexcept {
    daisy_plan plan;
    plan.terms.rate = rate;
    plan.terms.draws = fields.f64();
    plan.mean_bits = fields.f64();
    plan.overlap = fields.f64();
    for (double& share : plan.stored_share) share = fields.f64();
    for (double& share : plan.asked_share) share = fields.f64();
    return plan;
}

}  // namespace genista
