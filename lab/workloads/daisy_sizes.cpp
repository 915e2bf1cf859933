// Sizes by the filters' own bits_for(). See daisy_sizes.hpp.
#include "lab/workloads/daisy_sizes.hpp"

#include <cmath>
#include <utility>

#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"

namespace genista::lab {
namespace {

template <class Filter>
result<void> add_daisy(std::vector<filter_size>& to, const daisy_plan& plan) {
    const auto bits = Filter::bits_for(plan);
    if (!bits) return bits.error();
    to.push_back({Filter::name, plan.terms.rate, plan.expected_rate(), *bits, true});
    return {};
}

template <class Filter>
result<void> add_plain(std::vector<filter_size>& to, const daisy_terms& terms) {
    const auto bits = Filter::bits_for(static_cast<std::uint64_t>(std::ceil(terms.draws)), terms.rate);
    if (!bits) return bits.error();
    to.push_back({Filter::name, terms.rate, terms.rate, *bits, false});
    return {};
}

}  // namespace

result<std::vector<filter_size>> daisy_sizes(const daisy_plan& plan) {
    std::vector<filter_size> rows;
    if (const auto added = add_daisy<daisy_bloom_filter>(rows, plan); !added) return added.error();
    if (const auto added = add_daisy<daisy_fingerprint_filter>(rows, plan); !added) return added.error();
    return rows;
}

result<std::vector<filter_size>> plain_sizes(const daisy_terms& terms) {
    std::vector<filter_size> rows;
    if (const auto added = add_plain<bloom_filter>(rows, terms); !added) return added.error();
    if (const auto added = add_plain<cuckoo_partial_filter>(rows, terms); !added) return added.error();
    if (const auto added = add_plain<broom_filter>(rows, terms); !added) return added.error();
    return rows;
}

}  // namespace genista::lab
