// Sizes by the filters' own bits_for(). See daisy_sizes.hpp.
#include "lab/workloads/daisy_sizes.hpp"

#include <cmath>

#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"

namespace genista::lab {
namespace {

filter_size row(std::string_view filter, double parameter, double rate, const result<std::uint64_t>& bits,
                bool uses_oracle) {
    filter_size made{filter, parameter, rate, bits ? *bits : 0, uses_oracle};
    if (!bits) made.why_not = bits.error().message();
    return made;
}

template <class Filter>
filter_size daisy_row(const daisy_plan& plan) {
    return row(Filter::name, plan.terms.rate, plan.expected_rate(), Filter::bits_for(plan), true);
}

template <class Filter>
filter_size plain_row(const daisy_terms& terms) {
    const auto keys = static_cast<std::uint64_t>(std::ceil(terms.draws));
    return row(Filter::name, terms.rate, terms.rate, Filter::bits_for(keys, terms.rate), false);
}

}  // namespace

std::vector<filter_size> daisy_sizes(const daisy_plan& plan) {
    return {daisy_row<daisy_bloom_filter>(plan), daisy_row<daisy_fingerprint_filter>(plan)};
}

std::vector<filter_size> plain_sizes(const daisy_terms& terms) {
    return {plain_row<bloom_filter>(terms), plain_row<cuckoo_partial_filter>(terms), plain_row<broom_filter>(terms)};
}

}  // namespace genista::lab
