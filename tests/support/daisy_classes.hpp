// Classes for tests of the daisy filters: plans from shares that the test chooses, keys whose class
// is a function of the key, and oracles whose odds the test supplies, right or wrong.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include "genista/detail/oracles/oracle_identity.hpp"
#include "genista/oracles/daisy_plan.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test {

// ---- plans, and a class for every number --------------------------------------------------------

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

// ---- keys drawn by shares -----------------------------------------------------------------------

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

// ---- oracles with a mark that identifies them ---------------------------------------------------

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
