// Making a daisy_broom_filter, and what it says about itself. See daisy_broom.hpp.
#include "genista/filters/daisy_broom/core.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "filters/common.hpp"
#include "filters/walls.hpp"

namespace genista {
namespace {

constexpr std::uint64_t least_exception_bytes = 4096;
constexpr double notable = 0.1;

std::uint64_t usual_exception_bytes(double draws) noexcept {
    return std::max(least_exception_bytes, static_cast<std::uint64_t>(draws / 4));
}

// Half the sum of the differences. Weights need not sum to one; no weight at all is like no other.
double distance(std::span<const double> a, std::span<const double> b) noexcept {
    double sum_a = 0, sum_b = 0, far = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum_a += a[i], sum_b += b[i];
    if (!(sum_a > 0 && sum_b > 0)) return 0;
    for (std::size_t i = 0; i < a.size(); ++i) far += std::fabs(a[i] / sum_a - b[i] / sum_b);
    return far / 2;
}

}  // namespace

bool daisy_drift::is_notable() const noexcept {
    const auto beyond_chance = [this](double far, std::uint64_t draws) {
        return draws != 0 && far > notable + 1.5 * std::sqrt(bands / static_cast<double>(draws));
    };
    return beyond_chance(stored, keys) || beyond_chance(mistakes, adapts) || fill > 1 + notable;
}

result<hasher> daisy_broom_core::hash_from(const daisy_broom_options& options) noexcept {
    return hasher_from({1, 1.0 / 256, options.hash});
}

result<std::unique_ptr<daisy_broom_core>> daisy_broom_core::make(
    const daisy_broom_options& options, const daisy_plan& plan, const hasher& hash,
    const std::optional<daisy_bands::class_counts>& counted) noexcept {
    return without_throwing("daisy_broom", [&]() -> result<std::unique_ptr<daisy_broom_core>> {
        auto bands = daisy_bands::make(plan, counted);
        if (!bands) return bands.error();
        if (options.bits) bands->spend(*options.bits);
        const std::uint64_t exceptions = options.exception_bytes.value_or(usual_exception_bytes(plan.terms.draws));
        std::unique_ptr<daisy_broom_core> made{new (std::nothrow)
                                                   daisy_broom_core{hash, plan, *std::move(bands), exceptions}};
        if (made == nullptr) throw std::bad_alloc{};
        made->brooms_.reserve(made->bands_.all().size());
        for (const daisy_band& each : made->bands_.all()) {
            broom_options of;
            of.capacity = each.capacity;
            of.false_positive_rate = each.rate();
            of.hash = hash;
            of.key_is_new = options.key_is_new;
            of.history = options.history;
            of.grows = options.grows;
            if (options.repeatable) of.repeatable = *options.repeatable + made->brooms_.size();
            auto broom = broom_filter::make(of);
            if (!broom) return broom.error();
            made->brooms_.push_back(*std::move(broom));
        }
        return made;
    });
}

// Erases of strangers are told too: never below zero.
void daisy_broom_core::count_unkept(bool more) noexcept {
    if (more) {
        unkept_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    std::uint64_t now = unkept_.load(std::memory_order_relaxed);
    while (now != 0 && !unkept_.compare_exchange_weak(now, now - 1, std::memory_order_relaxed)) {
    }
}

filter_stats daisy_broom_core::stats(std::uint64_t oracle_bytes) const noexcept {
    filter_stats now;
    now.keys = unkept_.load(std::memory_order_relaxed);
    now.capacity = static_cast<std::uint64_t>(plan_.terms.draws);
    now.false_positive_rate = bands_.expected_rate();
    now.adapts = unkept_adapts_.load(std::memory_order_relaxed);
    now.remote_reads = unkept_reads_.load(std::memory_order_relaxed);
    now.adaptive_bytes = cells_.allocated_bytes();
    now.local_bytes = sizeof *this + oracle_bytes + cells_.allocated_bytes() +
                      bands_.all().size() * sizeof(daisy_band) +
                      (brooms_.capacity() - brooms_.size()) * sizeof(broom_filter);
    for (const broom_filter& each : brooms_) {
        const filter_stats of = each.stats();
        now.keys += of.keys;
        now.local_bytes += of.local_bytes;
        now.adaptive_bytes += of.adaptive_bytes;
        now.adapts += of.adapts;
        now.renewals += of.renewals;
        now.remote_reads += of.remote_reads;
    }
    return now;
}

daisy_drift daisy_broom_core::drift() const noexcept {
    constexpr std::size_t most = max_daisy_class + 1;
    std::array<double, most> planned{}, present{}, expected{}, found{};
    daisy_drift now;
    now.bands = size() + 1;
    double room = 0;
    for (unsigned i = 0; i < size(); ++i) {
        const filter_stats of = brooms_[i].stats();
        const daisy_band& band = bands_.all()[i];
        planned[i] = band.stored_share;
        present[i] = static_cast<double>(of.keys);
        expected[i] = band.asked_share * band.rate();
        found[i] = static_cast<double>(of.adapts);
        now.keys += of.keys;
        now.adapts += of.adapts;
        room += static_cast<double>(band.capacity);
    }
    expected[size()] = plan_.asked_share[0];
    const std::uint64_t unkept = unkept_adapts_.load(std::memory_order_relaxed);
    found[size()] = static_cast<double>(unkept);
    now.adapts += unkept;
    now.stored = distance(planned, present);
    now.mistakes = distance(expected, found);
    now.fill = room > 0 ? static_cast<double>(now.keys) / room : 0;
    return now;
}

}  // namespace genista
