// Making a daisy_broom_filter, and what it says about itself. See daisy_broom.hpp.
#include "genista/detail/filters/daisy_broom/core.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "filters/broom/shape.hpp"
#include "filters/common.hpp"

namespace genista {
namespace {

constexpr double notable = 0.1;

// Half the sum of the differences. Weights need not sum to one; a vector without weight is at full
// distance from all others.
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
        const std::uint64_t exceptions =
            options.exception_bytes.value_or(daisy_bands::deferred_bytes(bands->deferred().capacity));
        const manner how{options.history, options.grows, options.random};
        std::unique_ptr<daisy_broom_core> made{
            new (std::nothrow) daisy_broom_core{hash, plan, *std::move(bands), exceptions, how, options.deferred_band}};
        if (made == nullptr) throw std::bad_alloc{};
        made->brooms_.reserve(made->bands_.all().size());
        for (const daisy_band& each : made->bands_.all()) {
            broom_options of = made->broom_of(each);
            of.key_is_new = options.key_is_new;
            if (const auto& seed = options.random.seed(); seed) of.random = repeatable(*seed + made->brooms_.size());
            auto broom = broom_filter::make(of);
            if (!broom) return broom.error();
            made->brooms_.push_back(*std::move(broom));
        }
        return made;
    });
}

broom_options daisy_broom_core::broom_of(const daisy_band& band) const noexcept {
    broom_options of;
    of.capacity = band.capacity;
    of.false_positive_rate = band.rate();
    of.hash = hash_;
    of.history = how_.history;
    of.grows = how_.grows;
    return of;
}

std::uint64_t daisy_broom_core::deferred_told() const noexcept {
    return std::max(bands_.deferred().capacity, std::min(unkept_.load(std::memory_order_relaxed), max_capacity));
}
std::uint64_t daisy_broom_core::planned_deferred_parts() const noexcept {
    return broom::bins_for(bands_.deferred().capacity);
}
std::uint64_t daisy_broom_core::told_deferred_parts() const noexcept {
    return broom::bins_for(deferred_told());
}

// The keys that the plan expects, or those that have come, whichever is more. But the count
// includes repeated puts, and a key that is nearly certain to be stored may be put a million times:
// so it is cut to what R can hold.
std::uint64_t daisy_broom_core::deferred_capacity(const deferred_sample& seen) const noexcept {
    const auto parts = static_cast<double>(seen.parts), found = static_cast<double>(seen.found);
    constexpr double surely = 4;  // deviations
    const double most = parts * (found + surely * std::sqrt(found) + 2 * surely);
    // A bin has 45 keys on average and 80 once in a million. More means that R holds keys that were
    // never inserted here, and the bins would not hold them.
    constexpr std::uint64_t too_many = 80;
    const double least = seen.found > too_many ? parts * found : 0;
    const double wanted = std::max(
        {static_cast<double>(bands_.deferred().capacity), std::min(static_cast<double>(deferred_told()), most), least});
    return static_cast<std::uint64_t>(std::min(std::ceil(wanted), static_cast<double>(max_capacity)));
}

// The band is published empty; only afterwards does a thread read R to fill a range of it
// [deferred_band.hpp].
result<void> daisy_broom_core::open_deferred(const deferred_sample& seen) noexcept {
    return without_throwing("daisy_broom", [&]() -> result<void> {
        const std::lock_guard only_one{opening_};
        if (deferred_owner_ != nullptr) return {};
        daisy_band band = bands_.deferred();
        band.capacity = deferred_capacity(seen);
        broom_options of = broom_of(band);
        if (const auto& seed = how_.random.seed(); seed) of.random = repeatable(*seed + brooms_.size());
        auto broom = broom_filter::make(of);
        if (!broom) return broom.error();
        deferred_owner_ = std::make_unique<deferred_band>(*std::move(broom), broom::bins_for(band.capacity));
        deferred_.store(deferred_owner_.get(), std::memory_order_seq_cst);
        committed_or_opened_.fetch_add(1, std::memory_order_acq_rel);
        return {};
    });
}

// Erases of absent keys count too: never below zero.
void daisy_broom_core::count_unkept(bool more) noexcept {
    if (more) {
        unkept_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    std::uint64_t now = unkept_.load(std::memory_order_relaxed);
    while (now != 0 && !unkept_.compare_exchange_weak(now, now - 1, std::memory_order_relaxed)) {
    }
}

double daisy_broom_core::rate_of_class_0() const noexcept {
    const deferred_band* const band = deferred();
    if (band == nullptr) return 1;
    const double filled = static_cast<double>(band->built()) / static_cast<double>(band->ranges());
    return 1 - filled + filled * bands_.deferred().rate();
}

filter_stats daisy_broom_core::stats(std::uint64_t oracle_bytes) const noexcept {
    filter_stats now;
    now.keys = unkept_.load(std::memory_order_relaxed);
    now.capacity = static_cast<std::uint64_t>(plan_.terms.draws);
    now.false_positive_rate = bands_.expected_rate(rate_of_class_0());
    now.adapts = unkept_adapts_.load(std::memory_order_relaxed);
    now.remote_reads = unkept_reads_.load(std::memory_order_relaxed);
    now.adaptive_bytes = cells_.allocated_bytes();
    now.local_bytes = sizeof *this + oracle_bytes + cells_.allocated_bytes() +
                      bands_.all().size() * sizeof(daisy_band) +
                      (brooms_.capacity() - brooms_.size()) * sizeof(broom_filter);
    const auto add = [&now](const filter_stats& of) {
        now.local_bytes += of.local_bytes;
        now.adaptive_bytes += of.adaptive_bytes;
        now.adapts += of.adapts;
        now.renewals += of.renewals;
        now.remote_reads += of.remote_reads;
    };
    for (const broom_filter& each : brooms_) {
        const filter_stats of = each.stats();
        now.keys += of.keys;
        add(of);
    }
    if (const deferred_band* const band = deferred(); band != nullptr) {
        const filter_stats of = band->broom().stats();  // its keys are counted by inserts, in filled ranges or not
        add(of);
        now.local_bytes += band->memory_bytes() - of.local_bytes;
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
    std::uint64_t unkept = unkept_adapts_.load(std::memory_order_relaxed);
    if (const deferred_band* const band = deferred(); band != nullptr) unkept += band->broom().stats().adapts;
    found[size()] = static_cast<double>(unkept);
    now.adapts += unkept;
    now.stored = distance(planned, present);
    now.mistakes = distance(expected, found);
    now.fill = room > 0 ? static_cast<double>(now.keys) / room : 0;
    return now;
}

}  // namespace genista
