// latency_histogram: sums over buckets. See latency_histogram.hpp.
#include "genista/detail/guard/latency_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace genista {

std::uint64_t latency_histogram::count_below(unsigned bucket) const noexcept {
    std::uint64_t sum = 0;
    for (unsigned b = 0; b < bucket; ++b) sum += count_[b].load(std::memory_order_relaxed);
    return sum;
}

std::uint64_t latency_histogram::percentile(double share) const noexcept {
    const std::uint64_t all = count();
    if (all == 0) return 0;
    const double wanted = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(all));
    const auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
    std::uint64_t seen = 0;
    for (unsigned b = 0; b < buckets; ++b) {
        seen += count_[b].load(std::memory_order_relaxed);
        if (seen >= rank) return end_of(b);
    }
    return end_of(buckets - 1);
}

void latency_histogram::add(const latency_histogram& other) noexcept {
    for (unsigned b = 0; b < buckets; ++b) {
        count_[b].fetch_add(other.count_[b].load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    total_ns_.fetch_add(other.total_nanoseconds(), std::memory_order_relaxed);
}

}  // namespace genista
