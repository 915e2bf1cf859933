// The bits of a plan, for daisy filters beside those that treat all keys alike: the tables of
// `genista daisy` and of the host list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "genista/oracles/oracle_model.hpp"

namespace genista::lab {

struct filter_size {
    std::string_view filter;
    double parameter = 0;  // the rate it is made for: ε, or ε′ of a daisy filter that is tuned
    double rate = 0;       // of false positives over the queries, as expected by the plan
    std::uint64_t bits = 0;
    bool uses_oracle = false;
    std::string why_not{};  // why there is no such filter (bits are 0)

    [[nodiscard]] double bits_a_key(double keys) const noexcept { return static_cast<double>(bits) / keys; }
};

// daisy_bloom and daisy_fingerprint by this plan.
[[nodiscard]] std::vector<filter_size> daisy_sizes(const daisy_plan& plan);
// bloom, cuckoo_partial and broom for as many keys as the terms have draws, at the terms' rate.
[[nodiscard]] std::vector<filter_size> plain_sizes(const daisy_terms& terms);

}  // namespace genista::lab
