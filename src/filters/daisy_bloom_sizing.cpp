// Loads, lines and rates of daisy Bloom filters. See daisy_bloom_sizing.hpp.
#include "filters/daisy_bloom_sizing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <new>
#include <numbers>
#include <vector>

namespace genista {
namespace {

using class_rates = std::array<double, max_daisy_class + 1>;  // the probability that an absent key of class j passes

// The share of the plan's queries that pass.
double weigh(const daisy_plan& plan, const class_rates& of_class) noexcept {
    double sum = 0;
    for (std::size_t j = 0; j < of_class.size(); ++j) sum += plan.asked_share[j] * of_class[j];
    return sum;
}

double lines_for_bits(double bits) noexcept {
    return std::max(1.0, std::ceil(bits / static_cast<double>(daisy_line_bits)));
}

class_rates scattered_rates(const daisy_plan& plan, double lines) noexcept {
    const double bits = lines * static_cast<double>(daisy_line_bits), load = plan.whole_bits() / bits;
    const double zeros = std::exp(-load), ones = -std::expm1(-load);
    double squares = 0;  // the variance of the probes of all draws
    for (std::size_t j = 1; j < plan.stored_share.size(); ++j)
        squares += plan.terms.draws * plan.stored_share[j] * static_cast<double>(j * j);
    const double by_draws = zeros * zeros * squares / (bits * bits),
                 by_places = zeros * (1 - (1 + load) * zeros) / bits;
    class_rates passes{};
    passes[0] = 1;
    for (std::size_t i = 1; i < passes.size(); ++i) {
        const double j = std::min(static_cast<double>(i), static_cast<double>(plan.largest_class()));
        // No division by `ones`: it may be 10^-200.
        const double by_luck = j < 2 ? 0 : j * (j - 1) / 2 * std::pow(ones, j - 2) * (by_draws + by_places);
        passes[i] = std::min(1.0, std::pow(ones, j) + by_luck);
    }
    return passes;
}

// avoid(T) for every T within the first `largest` lanes. Throws std::bad_alloc.
std::vector<double> avoidances(const daisy_plan& plan, daisy_layout layout, unsigned largest) {
    const unsigned lanes = lanes_of(layout);
    const std::uint32_t all = (std::uint32_t{1} << lanes) - 1;
    const double clear = 1 - lanes / static_cast<double>(daisy_line_bits);
    std::array<double, daisy_bloom_filter::most_blocked_class + 1> hit{};  // 1 - clear^i
    for (std::size_t i = 0; i < hit.size(); ++i) hit[i] = 1 - std::pow(clear, static_cast<double>(i));

    std::vector<double> avoid(std::size_t{1} << largest);
    for (unsigned its_class = 1; its_class <= largest; ++its_class) {
        const double weight = plan.stored_share[its_class] / lanes;
        if (weight == 0) continue;
        const std::uint32_t run = (std::uint32_t{1} << its_class) - 1;
        for (unsigned first = 0; first < lanes; ++first) {
            const std::uint32_t used = (run << first | (run << first) >> lanes) & all;
            for (std::size_t set = 1; set < avoid.size(); ++set)
                avoid[set] +=
                    weight * hit[static_cast<std::size_t>(std::popcount(static_cast<std::uint32_t>(set) & used))];
        }
    }
    return avoid;
}

// A set's number is below 2^j if and only if the set lies within the first j lanes: one pass
// computes all classes.
class_rates blocked_rates(const std::vector<double>& avoid, double load) noexcept {
    class_rates passes{};
    passes.fill(1);
    double sum = 1;  // the empty set
    unsigned j = 1;
    for (std::size_t set = 1; set < avoid.size(); ++set) {
        const double zero = std::exp(-load * avoid[set]);
        sum += std::popcount(set) % 2 == 0 ? zero : -zero;
        if (set + 1 == std::size_t{1} << j) passes[j++] = std::clamp(sum, 0.0, 1.0);
    }
    for (; j < passes.size(); ++j) passes[j] = passes[j - 1];  // larger classes count as the largest one
    return passes;
}

// The mean number of draws in a line. Rates grow with it. Without queries in the plan: half of the
// bits, as in the scattered layout.
double line_load_for(const daisy_plan& plan, const std::vector<double>& avoid) noexcept {
    const double half = plan.terms.draws * daisy_line_bits * std::numbers::ln2 / std::max(plan.whole_bits(), 1e-9);
    const double wanted = plan.expected_rate();
    if (plan.whole_bits() <= 0 || wanted - plan.asked_share[0] <= 0) return half;
    double low = 0, high = 2 * half;
    constexpr int steps = 36;  // precise to 2^-35 of the range
    for (int step = 0; step < steps; ++step) {
        const double middle = (low + high) / 2;
        (weigh(plan, blocked_rates(avoid, middle)) <= wanted ? low : high) = middle;
    }
    return low > 0 ? low : half / 1024;
}

daisy_bloom_size blocked_size_in(const daisy_plan& plan, daisy_layout layout) {
    if (plan.whole_bits() <= 0) return {layout, 1};
    const double load = line_load_for(plan, avoidances(plan, layout, plan.largest_class()));
    return {layout, static_cast<std::uint64_t>(std::max(1.0, std::ceil(plan.terms.draws / load)))};
}

error no_memory_for_size() noexcept {
    return error::make(error_code::out_of_memory, "daisy_bloom: no memory to compute the size of a blocked filter");
}

}  // namespace

daisy_bloom_size scattered_size(const daisy_plan& plan, double wanted) noexcept {
    const bool is_shorter = wanted > plan.expected_rate();
    const double allowed = is_shorter ? wanted : plan.expected_rate();
    const auto is_enough = [&](double lines) { return weigh(plan, scattered_rates(plan, lines)) <= allowed; };
    double lines = lines_for_bits(plan.whole_bits() / std::numbers::ln2), too_few = 0;
    if (is_enough(lines)) {
        if (!is_shorter) return {daisy_layout::scattered, static_cast<std::uint64_t>(lines)};
    } else {
        // More lines make up for the variance of tables: the fewest that are enough, between too
        // few and twice as many.
        too_few = lines;
        constexpr double most_lines = 0x1p54;  // a size can express no more bits
        for (lines *= 2; !is_enough(lines) && lines < most_lines; lines *= 2) too_few = lines;
    }
    while (lines - too_few > 1) {
        const double middle = std::floor((too_few + lines) / 2);
        (is_enough(middle) ? lines : too_few) = middle;
    }
    return {daisy_layout::scattered, static_cast<std::uint64_t>(lines)};
}

result<daisy_bloom_size> blocked_size(const daisy_plan& plan) noexcept {
    try {
        const daisy_bloom_size wide = blocked_size_in(plan, daisy_layout::sixteen);
        if (plan.largest_class() > lanes_of(daisy_layout::octet)) return wide;
        const daisy_bloom_size narrow = blocked_size_in(plan, daisy_layout::octet);
        return wide.lines < narrow.lines ? wide : narrow;
    } catch (const std::bad_alloc&) {
        return no_memory_for_size();
    }
}

result<double> expected_rate_of(const daisy_plan& plan, const daisy_bloom_size& size) noexcept {
    if (size.layout == daisy_layout::scattered)
        return std::min(1.0, weigh(plan, scattered_rates(plan, static_cast<double>(size.lines))));
    try {
        const auto avoid = avoidances(plan, size.layout, plan.largest_class());
        return std::min(1.0, weigh(plan, blocked_rates(avoid, plan.terms.draws / static_cast<double>(size.lines))));
    } catch (const std::bad_alloc&) {
        return no_memory_for_size();
    }
}

}  // namespace genista
