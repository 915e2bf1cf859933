// Rows of the daisy filters: they take the memory of the other rows, and their oracle's bytes are
// part of it. Plans are computed from the model's profile, for as many draws as there are keys:
// daisy_bloom gets the one with the smallest ε that fits, daisy_broom the one with the fewest
// wasted reads expected.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "compare/databases.hpp"
#include "compare/rows.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/filters/with_oracle.hpp"

namespace genista::tool::compare {

// `least_bytes` is the size of the smallest filter of its kind.
[[nodiscard]] inline error too_little_for(const char* filter, const setting& of, const budget& sizes,
                                          std::uint64_t least_bytes) noexcept {
    const double needed = 8.0 * static_cast<double>(least_bytes) / static_cast<double>(of.work.stored);
    const bool can_be_had = needed + 1 <= most_bits_per_key;
    return error::make(
        error_code::invalid_argument,
        "%.2f bits a key are too little for %s of %zu keys with an oracle of %llu bytes, which needs %.0f; %s",
        sizes.bits_per_key, filter, of.work.stored, static_cast<unsigned long long>(of.model->oracle()->memory_bytes()),
        std::ceil(needed), can_be_had ? "--bits-per-key gives more" : "it is for more keys than these");
}

[[nodiscard]] inline error unlike_the_model(const char* filter, const setting& of, std::uint64_t planned_bytes,
                                            std::uint64_t bytes) noexcept {
    const auto a_key = [&](std::uint64_t all) {
        return 8.0 * static_cast<double>(all) / static_cast<double>(of.work.stored);
    };
    return error::make(error_code::invalid_argument,
                       "these keys are not like those that the model was trained on: a %s planned for %.2f bits a key "
                       "comes to %.2f; train on such keys, or give more with --bits-per-key",
                       filter, a_key(planned_bytes), a_key(bytes));
}

// The bytes that a row may take, less those for what it learns under attack.
[[nodiscard]] inline std::uint64_t bytes_of_row(const setting& of, const budget& sizes, bool learns) {
    const double bits = sizes.bits_per_key - (learns ? bits_for_lessons(of) : 0);
    return static_cast<std::uint64_t>(std::max(0.0, bits) * static_cast<double>(of.work.stored) / 8);
}
[[nodiscard]] inline std::uint64_t lesson_bytes(const setting& of) {
    return static_cast<std::uint64_t>(bits_for_lessons(of) * static_cast<double>(of.work.stored) / 8);
}

// The bytes of a broom filter beside its slots, some 16 KiB, and what a band does not use of its
// last bit.
constexpr std::uint64_t fixed_bytes_a_band = 18 * 1024;
[[nodiscard]] inline std::uint64_t bytes_of(const daisy_bands& bands) noexcept {
    return bands.bits() / 8 + fixed_bytes_a_band * bands.all().size();
}

// The bytes of a daisy_broom filter beside its bands: the list of exceptions, and the deferred band
// for keys of class 0. An attack fills the list and opens the band, and for a while both exist. The
// list is short, because the bands do not get its memory.
constexpr std::uint64_t exception_bytes = 4096;
[[nodiscard]] inline std::uint64_t bytes_after_attack(const daisy_bands& bands) noexcept {
    return exception_bytes + daisy_bands::deferred_bytes(bands.deferred().capacity);
}

// What a row of the error rate asked for needs, with all that an attack may add: below it the
// promise of one wasted read a hot key cannot be kept.
[[nodiscard]] inline result<double> least_daisy_broom_bits_per_key(const setting& of, std::uint64_t guard_bytes) {
    const auto plan = of.model->profile().plan({static_cast<double>(of.work.stored), of.asked.error_rate});
    if (!plan) return plan.error();
    const auto bands = daisy_bands::make(*plan);
    if (!bands) return bands.error();
    const std::uint64_t bytes =
        bytes_of(*bands) + bytes_after_attack(*bands) + of.model->oracle()->memory_bytes() + guard_bytes;
    return 8.0 * static_cast<double>(bytes) / static_cast<double>(of.work.stored) + bits_for_lessons(of);
}

// A plan that fits, what its bands may take, and how many queries such a filter would let through.
struct daisy_broom_choice {
    daisy_plan plan{};
    std::uint64_t exception_bytes = 0, reserved_bytes = 0, band_bits = 0;
    double expected_rate = 1;
};

// The best of all plans, by steps of a quarter bit; none if none fits. The size of a band beside
// its slots is known only when it exists, so each filter is made once, empty: near ε = 2^-8 a
// second band costs few bits by the formula and 16 KiB in fact. The smallest ε is not always the
// best one, because whole bits leave some over, and where they are spent matters.
[[nodiscard]] inline result<std::optional<daisy_broom_choice>> best_daisy_broom(const setting& of,
                                                                                const daisy_broom_options& options,
                                                                                std::uint64_t bytes) {
    std::optional<daisy_broom_choice> best;
    for (int quarters = 4 * daisy_bands::most_rate_bits; quarters >= 4; --quarters) {
        const auto plan = of.model->profile().plan({static_cast<double>(of.work.stored), std::exp2(-quarters / 4.0)});
        if (!plan) return plan.error();
        auto bands = daisy_bands::make(*plan);
        if (!bands) return bands.error();
        daisy_broom_choice made{.plan = *plan, .exception_bytes = exception_bytes};
        made.reserved_bytes = bytes_after_attack(*bands);
        if (!options.deferred_band) made.reserved_bytes = made.exception_bytes = std::max(bytes / 16, exception_bytes);
        if (bands->bits() / 8 + made.reserved_bytes > bytes) continue;
        const auto empty = daisy_broom_filter<any_oracle>::make(options, *plan, of.model->oracle());
        if (!empty) return empty.error();
        const std::uint64_t takes = empty->stats().local_bytes + made.reserved_bytes;
        if (takes > bytes) continue;
        made.band_bits = bands->bits() + 8 * (bytes - takes);
        bands->spend(made.band_bits);
        made.expected_rate = bands->expected_rate();
        if (!best || made.expected_rate < best->expected_rate) best = made;
    }
    return best;
}

// Without a deferred band, at the largest rate there is.
[[nodiscard]] inline result<std::uint64_t> smallest_daisy_broom(const setting& of) {
    const auto plan = of.model->profile().plan({static_cast<double>(of.work.stored), 0.5});
    if (!plan) return plan.error();
    const auto empty = daisy_broom_filter<any_oracle>::make({.deferred_band = false}, *plan, of.model->oracle());
    if (!empty) return empty.error();
    return empty->stats().local_bytes + exception_bytes;
}

// Under attack with a deferred band, if there is room for it when it opens. Else memory stays
// fixed: the list has a sixteenth, and a long replay wastes reads.
template <guarded_store Store, remote_map Records>
[[nodiscard]] result<std::unique_ptr<contender>> make_daisy_broom_row(const setting& of, const budget& sizes,
                                                                      std::unique_ptr<Store>&& store, Records& all) {
    using filter_type = daisy_broom_filter<any_oracle>;
    using row = guarded_row<filter_type, Store>;
    const std::uint64_t bytes = bytes_of_row(of, sizes, true);
    std::uint64_t comes_to = 0;  // the last filter that fitted while it was empty
    for (const bool deferred : {true, false}) {
        if (deferred && !of.asked.attack) continue;
        daisy_broom_options options;
        options.hash = store->hash();
        if (of.asked.store_path.empty()) options.random = repeatable(of.asked.seed);
        options.deferred_band = deferred;
        // A full filter is a little larger than an empty one, by chance: the excess is subtracted,
        // and the search is repeated.
        for (std::uint64_t planned = bytes - std::min(bytes, row::overhead_bytes()); planned > 0;) {
            const auto best = best_daisy_broom(of, options, planned);
            if (!best) return best.error();
            if (!*best) break;
            daisy_broom_options with = options;
            with.bits = (*best)->band_bits;
            with.exception_bytes = (*best)->exception_bytes;
            auto made = filter_type::build(with, (*best)->plan, of.model->oracle(), all);
            if (!made) return made.error();
            const std::uint64_t takes = made->stats().local_bytes + row::overhead_bytes() + (*best)->reserved_bytes;
            if (takes <= bytes) {
                return std::unique_ptr<contender>{std::make_unique<row>(filter_kind::daisy_broom, *std::move(made),
                                                                        std::move(store), guard_options{})};
            }
            comes_to = takes;
            planned -= std::min(planned, takes - bytes + 512);
        }
    }
    if (comes_to != 0) return unlike_the_model("daisy_broom", of, bytes, comes_to);
    const auto least = smallest_daisy_broom(of);
    if (!least) return least.error();
    return too_little_for("daisy_broom", of, sizes, *least + row::overhead_bytes() + lesson_bytes(of));
}

template <guarded_store Store, remote_map Records>
[[nodiscard]] result<std::unique_ptr<contender>> make_daisy_bloom_row(const setting& of, const budget& sizes,
                                                                      std::unique_ptr<Store>&& store, Records& all) {
    using filter_type = with_oracle<daisy_bloom_filter, any_oracle>;
    using row = guarded_row<filter_type, Store>;
    constexpr int most_quarter_bits = 4 * 32;
    const std::uint64_t bytes = bytes_of_row(of, sizes, false);
    const std::uint64_t beside = row::overhead_bytes() + of.model->oracle()->memory_bytes() + sizeof(filter_type);
    std::uint64_t least = beside;
    for (int quarters = most_quarter_bits; quarters >= 4; --quarters) {
        const daisy_terms terms{static_cast<double>(of.work.stored), std::exp2(-quarters / 4.0)};
        const auto plan = of.model->profile().plan(terms);
        if (!plan) return plan.error();
        const auto bits = daisy_bloom_filter::bits_for(*plan);
        if (!bits) return bits.error();
        least = beside + *bits / 8;
        if (least > bytes) continue;
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
    return too_little_for("daisy_bloom", of, sizes, least);
}

}  // namespace genista::tool::compare
