// Bands from a plan. See bands.hpp.
#include "genista/detail/filters/daisy_broom/bands.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "filters/daisy_plan_fields.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/filter.hpp"

namespace genista {
namespace {

constexpr double no_gain = 0x1p-200;

unsigned rate_bits_of(unsigned its_class) noexcept {
    return std::clamp(its_class, daisy_bands::least_rate_bits, daisy_bands::most_rate_bits);
}

std::uint64_t whole(double keys) noexcept {
    return static_cast<std::uint64_t>(std::clamp(std::ceil(keys), 1.0, static_cast<double>(max_capacity)));
}

// The expected number of keys plus three deviations.
double with_luck(double keys) noexcept {
    return keys + 3 * std::sqrt(keys);
}

}  // namespace

double daisy_band::rate() const noexcept {
    return std::ldexp(1.0, -static_cast<int>(rate_bits));
}

std::uint64_t daisy_band::bits() const noexcept {
    const auto bits = broom_filter::bits_for(capacity, rate());
    return bits ? *bits : 0;
}

result<daisy_bands> daisy_bands::make(const daisy_plan& plan, const std::optional<class_counts>& counted) noexcept try {
    if (const auto sane = check_plan("daisy_broom", plan); !sane) return sane.error();
    const unsigned largest = plan.largest_class();
    if (largest > most_rate_bits) {
        return error::make(error_code::invalid_argument,
                           "daisy_broom: the rate %g is not in 2^-24..1/2: a broom filter keeps no smaller one",
                           plan.terms.rate);
    }
    const double draws = plan.terms.draws;
    class_counts expected{};
    double kept = 0;
    for (unsigned j = 1; j <= max_daisy_class; ++j) {
        const double keys = counted ? static_cast<double>((*counted)[j]) : draws * plan.stored_share[j];
        expected[j] = static_cast<std::uint64_t>(keys);
        kept += keys;
    }
    daisy_bands made;
    const double unkept = counted ? static_cast<double>((*counted)[0]) : with_luck(draws * plan.stored_share[0]);
    made.deferred_.stored_share = plan.stored_share[0];
    made.deferred_.asked_share = plan.asked_share[0];
    made.deferred_.capacity = whole(std::max(unkept, least_bins_share * (kept + unkept)));
    daisy_band open{.first_class = 1, .last_class = 1};
    double keys = 0;
    const unsigned last = rate_bits_of(largest);
    for (unsigned j = 1; j <= max_daisy_class; ++j) {
        open.stored_share += plan.stored_share[j];
        open.asked_share += plan.asked_share[j];
        keys += counted ? static_cast<double>(expected[j]) : draws * plan.stored_share[j];
        const bool frequent = keys > 0 && keys >= rare_share * kept;
        const bool closes = j >= least_rate_bits && j < last && frequent;
        if (!closes && j < max_daisy_class) continue;
        open.last_class = j;
        open.rate_bits = j == max_daisy_class ? last : j;
        open.capacity = whole(std::max(counted ? keys : with_luck(keys), least_bins_share * kept));
        made.bands_.push_back(open);
        open = {.first_class = j + 1, .last_class = j + 1};
        keys = 0;
    }
    made.index();
    return made;
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "daisy_broom: no memory for its bands");
}

result<daisy_bands> daisy_bands::restore(const daisy_plan& plan, std::vector<daisy_band> bands,
                                         std::uint64_t deferred_capacity) noexcept {
    daisy_bands made;
    made.bands_ = std::move(bands);
    made.deferred_.stored_share = plan.stored_share[0];
    made.deferred_.asked_share = plan.asked_share[0];
    made.deferred_.capacity = deferred_capacity;
    if (deferred_capacity < 1 || deferred_capacity > max_capacity)
        return error::make(error_code::corrupt, "daisy_broom snapshot: a deferred band for %llu keys",
                           static_cast<unsigned long long>(deferred_capacity));
    unsigned next = 1;
    const unsigned largest = plan.largest_class();
    for (const daisy_band& each : made.bands_) {
        const bool in_order = each.first_class == next && each.last_class >= each.first_class;
        const bool fast_enough = each.rate_bits >= std::min(each.last_class, rate_bits_of(largest)) &&
                                 each.rate_bits >= least_rate_bits && each.rate_bits <= most_rate_bits;
        const bool sized = each.capacity >= 1 && each.capacity <= max_capacity;
        if (!in_order || !fast_enough || !sized || largest > most_rate_bits)
            return error::make(error_code::corrupt, "daisy_broom snapshot: a band of classes %u to %u at 2^-%u",
                               each.first_class, each.last_class, each.rate_bits);
        next = each.last_class + 1;
    }
    if (next != max_daisy_class + 1)
        return error::make(error_code::corrupt, "daisy_broom snapshot: no band for class %u", next);
    made.index();
    return made;
}

void daisy_bands::index() noexcept {
    of_.fill(none);
    for (std::size_t i = 0; i < bands_.size(); ++i) {
        for (unsigned j = bands_[i].first_class; j <= bands_[i].last_class; ++j) of_[j] = static_cast<std::uint8_t>(i);
    }
}

std::uint64_t daisy_bands::bits() const noexcept {
    std::uint64_t sum = 0;
    for (const daisy_band& each : bands_) sum += each.bits();
    return sum;
}

std::uint64_t daisy_bands::deferred_bytes(std::uint64_t capacity) noexcept {
    constexpr std::uint64_t fixed_bytes = 16'384;  // daisy_broom.md, "Measured"
    const daisy_band deferred{.capacity = std::clamp<std::uint64_t>(capacity, 1, max_capacity)};
    return deferred.bits() / 8 + fixed_bytes + deferred.capacity / 8 / 45;
}

double daisy_bands::expected_rate(double rate_of_class_0) const noexcept {
    double sum = deferred_.asked_share * rate_of_class_0;
    for (const daisy_band& each : bands_) sum += each.asked_share * each.rate();
    return sum;
}

void daisy_bands::spend(std::uint64_t budget) noexcept {
    while (true) {
        const std::uint64_t taken = bits();
        daisy_band* best = nullptr;
        double most = 0;
        for (daisy_band& each : bands_) {
            if (each.rate_bits == most_rate_bits) continue;
            daisy_band better = each;
            ++better.rate_bits;
            const std::uint64_t price = better.bits() - each.bits();
            if (taken > budget || price > budget - taken) continue;
            const double gain = each.asked_share * better.rate() / static_cast<double>(price);
            if (gain > most) {
                most = gain;
                best = &each;
            }
        }
        if (best == nullptr || most < no_gain) return;
        ++best->rate_bits;
    }
}

}  // namespace genista
