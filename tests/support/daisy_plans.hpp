// Plans for tests of filters that take classes, without an oracle: shares that the test chooses,
// and a class for every number.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "genista/oracles/daisy_plan.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test {

// shares[0] is that of class 0. All queries are for the largest class.
inline daisy_plan plan_of(double draws, double rate, std::initializer_list<double> shares) {
    daisy_plan plan{.terms = {draws, rate}};
    std::size_t j = 0;
    for (const double share : shares) {
        plan.mean_bits += share * static_cast<double>(j);
        plan.stored_share[j++] = share;
    }
    plan.asked_share[plan.largest_class()] = 1;
    return plan;
}

// The class of a number, drawn by the plan's shares; always the same for the same number.
inline unsigned class_by(const daisy_plan& plan, std::uint64_t key) {
    double left = static_cast<double>(splitmix{key}() >> 11) * 0x1p-53;
    for (unsigned j = 0; j < plan.stored_share.size(); ++j) {
        left -= plan.stored_share[j];
        if (left < 0) return j;
    }
    return plan.largest_class();
}

}  // namespace genista::test
