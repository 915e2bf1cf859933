// Rows of the daisy filters: they take the memory of the other rows, and their oracle's bytes are part of it. Plans come from the
// model's profile, for as many draws as there are keys: daisy_bloom's is the one with the smallest ε that fits, daisy_broom's the one that should waste fewest reads.
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
                       "%.2f bits a key are too little for %s of %zu keys with an oracle of %llu bytes; "
                       "--bits-per-key gives more",
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

// A plan that fits, what its bands may take, and how many queries such a filter would let through.
struct daisy_broom_choice {
    daisy_plan plan{};
    std::uint64_t exception_bytes = 0, band_bits = 0;
    double expected_rate = 1;
};

// The best of all plans, by steps of a quarter bit; none if none fits. What a band takes beside its slots is seen when it is there, so each filter
// is made once, empty: near ε = 2^-8 a second band costs few bits by the formula and 16 KiB in truth. The smallest ε is not always the best one,
// for whole bits leave some over, and where they are spent matters.
[[nodiscard]] inline result<std::optional<daisy_broom_choice>> best_daisy_broom(const setting& of,
                                                                                const daisy_broom_options& options,
                                                                                std::uint64_t bytes) {
    std::optional<daisy_broom_choice> best;
    for (int quarters = 4 * daisy_bands::most_rate_bits; quarters >= 4; --quarters) {
        const auto plan = of.model->profile().plan({static_cast<double>(of.work.stored), std::exp2(-quarters / 4.0)});
        if (!plan) return plan.error();
        auto bands = daisy_bands::make(*plan);
        if (!bands) return bands.error();
        if (bands->bits() / 8 > bytes) continue;
        const auto empty = daisy_broom_filter<any_oracle>::make(options, *plan, of.model->oracle());
        if (!empty) return empty.error();
        daisy_broom_choice made{.plan = *plan, .exception_bytes = exception_bytes_for(*plan, bytes)};
        const std::uint64_t takes = empty->stats().local_bytes + made.exception_bytes;
        if (takes > bytes) continue;
        made.band_bits = bands->bits() + 8 * (bytes - takes);
        bands->spend(made.band_bits);
        made.expected_rate = bands->expected_rate();
        if (!best || made.expected_rate < best->expected_rate) best = made;
    }
    return best;
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
    // Keys take a little more than an empty filter, by the luck they have: what is too much is taken off, and the best is sought again.
    for (std::uint64_t planned = bytes - std::min(bytes, row::overhead_bytes()); planned > 0;) {
        const auto best = best_daisy_broom(of, options, planned);
        if (!best) return best.error();
        if (!*best) break;
        daisy_broom_options with = options;
        with.bits = (*best)->band_bits;
        with.exception_bytes = (*best)->exception_bytes;
        auto made = filter_type::build(with, (*best)->plan, of.model->oracle(), all);
        if (!made) return made.error();
        const std::uint64_t takes = made->stats().local_bytes + row::overhead_bytes() + (*best)->exception_bytes;
        if (takes <= bytes) {
            return std::unique_ptr<contender>{
                std::make_unique<row>(filter_kind::daisy_broom, *std::move(made), std::move(store), guard_options{})};
        }
        planned -= std::min(planned, takes - bytes + 512);
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
