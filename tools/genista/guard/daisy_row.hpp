// Rows of the daisy filters: they take the memory of the other rows, and their oracle's bytes are part of it. The plan is the one with the smallest ε that
// fits; it comes from the model's profile, for as many draws as there are keys.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/filters/with_oracle.hpp"
#include "guard/databases.hpp"
#include "guard/guard_row.hpp"

namespace genista::tool::guard {

[[nodiscard]] inline error too_little_for(const char* filter, const setting& of, const budget& sizes) noexcept {
    return error::make(error_code::invalid_argument,
                       "%.2f bits a key are too little for %s of %zu keys with an oracle of %llu bytes",
                       sizes.bits_per_key, filter, of.work.stored,
                       static_cast<unsigned long long>(of.model->oracle()->memory_bytes()));
}

// In bytes: what a row may take. Less what an attack will teach it, if it learns.
[[nodiscard]] inline std::uint64_t bytes_of_row(const setting& of, const budget& sizes, bool learns) {
    const double bits = sizes.bits_per_key - (learns ? bits_for_lessons(of) : 0);
    return static_cast<std::uint64_t>(std::max(0.0, bits) * static_cast<double>(of.work.stored) / 8);
}

// Exceptions get a sixteenth where the plan has keys of class 0: an attack on those fills them as it fills the bands with lessons.
[[nodiscard]] inline std::uint64_t exception_bytes_for(const daisy_plan& plan, std::uint64_t bytes) noexcept {
    constexpr std::uint64_t least = 4096;
    return plan.stored_share[0] > 0 || plan.asked_share[0] > 0 ? std::max(bytes / 16, least) : least;
}

template <guarded_store Store, remote_map Records>
[[nodiscard]] result<std::unique_ptr<contender>> make_daisy_broom_row(const setting& of, const budget& sizes,
                                                                      std::unique_ptr<Store>&& store, Records& all) {
    using filter_type = daisy_broom_filter<any_oracle>;
    using row = guard_row<filter_type, Store>;
    const std::uint64_t bytes = bytes_of_row(of, sizes, true);
    daisy_broom_options options;
    options.hash = store->hash();
    if (of.asked.store_path.empty()) options.repeatable = of.asked.seed;
    const std::uint64_t beside = row::overhead_bytes() + of.model->oracle()->memory_bytes();
    if (bytes <= beside) return too_little_for("daisy_broom", of, sizes);
    // The smallest ε whose filter fits. What a filter takes beside its bands' slots is seen when it is there: some 16 KiB a band, so that a plan
    // of few bands may fit with more slots than one of many.
    for (int quarters = 4 * static_cast<int>(daisy_bands::most_rate_bits); quarters >= 4; --quarters) {
        const auto plan = of.model->profile().plan({static_cast<double>(of.work.stored), std::exp2(-quarters / 4.0)});
        if (!plan) return plan.error();
        const auto bands = daisy_bands::make(*plan);
        if (!bands) return bands.error();
        options.exception_bytes = exception_bytes_for(*plan, bytes);
        for (std::uint64_t bits = 8 * (bytes - beside); bits >= bands->bits() && bits > 0;) {
            options.bits = bits;
            auto made = filter_type::build(options, *plan, of.model->oracle(), all);
            if (!made) return made.error();
            const std::uint64_t takes = made->stats().local_bytes + row::overhead_bytes() + *options.exception_bytes;
            if (takes <= bytes) {
                return std::unique_ptr<contender>{std::make_unique<row>(filter_kind::daisy_broom, *std::move(made),
                                                                        std::move(store), guard_options{})};
            }
            bits -= std::min(bits, 8 * (takes - bytes) + 4096);
        }
    }
    return too_little_for("daisy_broom", of, sizes);
}

template <guarded_store Store, remote_map Records>
[[nodiscard]] result<std::unique_ptr<contender>> make_daisy_bloom_row(const setting& of, const budget& sizes,
                                                                      std::unique_ptr<Store>&& store, Records& all) {
    using filter_type = with_oracle<daisy_bloom_filter, any_oracle>;
    using row = guard_row<filter_type, Store>;
    constexpr int most_quarter_bits = 4 * 32;
    const std::uint64_t bytes = bytes_of_row(of, sizes, false);
    const std::uint64_t beside = row::overhead_bytes() + of.model->oracle()->memory_bytes() + sizeof(filter_type);
    for (int quarters = most_quarter_bits; quarters >= 4; --quarters) {
        const daisy_terms terms{static_cast<double>(of.work.stored), std::exp2(-quarters / 4.0)};
        const auto plan = of.model->profile().plan(terms);
        if (!plan) return plan.error();
        const auto bits = daisy_bloom_filter::bits_for(*plan);
        if (!bits) return bits.error();
        if (beside + *bits / 8 > bytes) continue;
        auto made = daisy_bloom_filter::make({.plan = *plan, .hash = store->hash()});
        if (!made) return made.error();
        filter_type filter{*std::move(made), of.model->oracle()};
        const auto read = all.for_each(0, ~std::uint64_t{0}, [&](const digest&, key_view key) {
            (void)filter.insert(key);
            return true;
        });
        if (!read) return read.error();
        return std::unique_ptr<contender>{
            std::make_unique<row>(filter_kind::daisy_bloom, std::move(filter), std::move(store), guard_options{})};
    }
    return too_little_for("daisy_bloom", of, sizes);
}

}  // namespace genista::tool::guard
