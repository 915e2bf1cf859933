// Classes for tests of the daisy filters: a plan from shares, keys whose class is a function of the
// key, and random draws of stored and queried keys in those shares.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "genista/oracles/daisy_plan.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test {

// Keys of one class, and their share of the stored and of the queried keys.
struct class_share {
    unsigned its_class;
    double stored, asked;
};

// A plan made from the shares alone, with the fields that the filters read. The mean of k is half a
// bit below the class.
[[nodiscard]] inline daisy_plan plan_of_shares(const daisy_terms& terms, const std::vector<class_share>& shares) {
    daisy_plan plan{.terms = terms};
    for (const class_share& each : shares) {
        plan.stored_share[each.its_class] += each.stored;
        plan.asked_share[each.its_class] += each.asked;
        if (each.its_class > 0) plan.mean_bits += each.stored * (each.its_class - 0.5);
    }
    return plan;
}

// The class of a key is its top byte, so that it never changes.
[[nodiscard]] inline unsigned class_of_key(std::uint64_t key) {
    return static_cast<unsigned>(key >> 56);
}

// A key of one of the classes by the shares of `side`; `serial` makes stored and queried keys
// differ.
[[nodiscard]] inline std::uint64_t draw_key(const std::vector<class_share>& shares, double class_share::*side,
                                            splitmix& chance, std::uint64_t serial) {
    double at = std::ldexp(static_cast<double>(chance() >> 11), -53);
    unsigned its_class = shares.back().its_class;
    for (const class_share& each : shares) {
        if (at < each.*side) {
            its_class = each.its_class;
            break;
        }
        at -= each.*side;
    }
    return std::uint64_t{its_class} << 56 | serial;
}

}  // namespace genista::test
