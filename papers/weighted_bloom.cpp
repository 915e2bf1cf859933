// The weighted Bloom filter of Bruck, Gao and Jiang. See weighted_bloom.hpp.
#include "papers/weighted_bloom.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include "filters/common.hpp"

namespace genista {
namespace {

result<void> check_weighted(const weighted_bloom_options& options) noexcept {
    if (options.bits == 0 || options.bits > weighted_bloom_filter::max_bits) {
        return error::make(error_code::invalid_argument, "weighted_bloom: %llu bits are not in 1..%llu",
                           static_cast<unsigned long long>(options.bits),
                           static_cast<unsigned long long>(weighted_bloom_filter::max_bits));
    }
    if (!(options.draws >= 1 && options.draws <= static_cast<double>(max_capacity))) {
        return error::make(error_code::invalid_argument, "weighted_bloom: %g draws are not in 1..%llu", options.draws,
                           static_cast<unsigned long long>(max_capacity));
    }
    if (!(std::isfinite(options.mean_log_ratio) && options.mean_log_ratio <= 0)) {
        return error::make(error_code::invalid_argument,
                           "weighted_bloom: the mean of log(q/p) is %g; allowed are finite numbers up to 0",
                           options.mean_log_ratio);
    }
    return {};
}

}  // namespace

result<double> mean_log_ratio_of(std::span<const odds_group> groups) noexcept {
    // Uses the plan's checks of odds; its classes do not matter here.
    if (const auto plan = plan_for_groups({}, groups); !plan) return plan.error();
    double sum = 0;
    for (const odds_group& group : groups) {
        const auto [stored, asked] = group.each;
        if (stored == 0 || group.keys == 0) continue;
        if (asked == 0) {
            return error::make(error_code::invalid_argument,
                               "weighted_bloom: keys with the probability %g of being stored are never asked for: the "
                               "mean of log(q/p) is infinite",
                               stored);
        }
        sum += group.keys * stored * std::log2(asked / stored);
    }
    return std::min(sum, 0.0);  // at most 0 by Gibbs' inequality; the sums of odds are one only to within a hundredth
}

weighted_bloom_filter::weighted_bloom_filter(const weighted_bloom_options& options, const hasher& hash,
                                             buffer table) noexcept
    : hash_{hash}, table_{std::move(table)}, draws_{options.draws}, mean_log_ratio_{options.mean_log_ratio} {}

result<weighted_bloom_filter> weighted_bloom_filter::make(const weighted_bloom_options& options) noexcept {
    if (const auto fine = check_weighted(options); !fine) return fine.error();
    const auto hash = hasher_from({.hash = options.hash});
    if (!hash) return hash.error();
    auto table = buffer::zeroed((options.bits + bloom_line_bits - 1) / bloom_line_bits * (bloom_line_bits / 8));
    if (!table) return table.error();
    return weighted_bloom_filter{options, *hash, *std::move(table)};
}

double weighted_bloom_filter::mean_probes() const noexcept {
    return static_cast<double>(bits()) / draws_ * std::numbers::ln2;
}

std::uint32_t weighted_bloom_filter::probes_of(const key_odds& odds) const noexcept {
    if (odds.asked <= 0 && odds.stored >= 0) return 0;  // log 0
    const double wanted = std::round(mean_probes() + std::log2(odds.asked / odds.stored) - mean_log_ratio_);
    if (!(wanted < max_probes)) return max_probes;  // p = 0, or not a number
    return wanted <= 0 ? 0 : static_cast<std::uint32_t>(wanted);
}

// As in bloom_filter: double hashing, mixed.
std::uint64_t weighted_bloom_filter::bit_of(const digest& d, std::uint32_t probe) const noexcept {
    const std::uint64_t x = d.position + probe * d.seed;
    return scale((x ^ (x >> 32)) * 0x9e3779b97f4a7c15u, bits());
}

insert_outcome weighted_bloom_filter::insert(const digest& d, const key_odds& odds) noexcept {
    bool changed = false;
    const std::uint32_t probes = probes_of(odds);
    for (std::uint32_t probe = 0; probe < probes; ++probe) {
        const std::uint64_t bit = bit_of(d, probe);
        std::byte& here = table_.data()[bit / 8];
        const std::byte one = std::byte{1} << (bit % 8);
        changed = changed || (here & one) == std::byte{0};
        here |= one;
    }
    keys_ += changed ? 1 : 0;
    return changed ? insert_outcome::inserted : insert_outcome::already_present;
}

bool weighted_bloom_filter::may_contain(const digest& d, const key_odds& odds) const noexcept {
    const std::uint32_t probes = probes_of(odds);
    for (std::uint32_t probe = 0; probe < probes; ++probe) {
        const std::uint64_t bit = bit_of(d, probe);
        if ((table_.data()[bit / 8] & std::byte{1} << (bit % 8)) == std::byte{0}) return false;
    }
    return true;
}

std::uint64_t weighted_bloom_filter::bits_set() const noexcept {
    std::uint64_t ones = 0;
    for (const std::byte each : table_.bytes())
        ones += static_cast<std::uint64_t>(std::popcount(std::to_integer<unsigned>(each)));
    return ones;
}

filter_stats weighted_bloom_filter::stats() const noexcept {
    return plain_stats(keys_, static_cast<std::uint64_t>(std::ceil(draws_)),
                       std::min(1.0, std::exp2(mean_log_ratio_ - mean_probes())),
                       table_.allocated_bytes() + sizeof *this);
}

}  // namespace genista
