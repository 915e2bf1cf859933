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

// What a broom filter takes beside its slots, some 16 KiB, and what a band does not use of its last bit.
constexpr std::uint64_t fixed_bytes_a_band = 18 * 1024;
[[nodiscard]] inline std::uint64_t bytes_of(const daisy_bands& bands) noexcept {
    return bands.bits() / 8 + fixed_bytes_a_band * bands.all().size();
}

// What a daisy_broom filter may come to beside its bands: the list of exceptions, and the late band for keys of class 0. An attack fills the one and opens the other,
// and for a while both are there. The list is short, because what it takes the bands do not get.
constexpr std::uint64_t exception_bytes = 4096;
[[nodiscard]] inline std::uint64_t bytes_after_attack(const daisy_bands& bands) noexcept {
    return exception_bytes + daisy_bands::late_bytes(bands.late().capacity);
}

// What a row of the error rate asked for needs, with all that an attack may add: below it the promise of one wasted read a hot key cannot be kept.
[[nodiscard]] inline result<double> least_daisy_broom_bits_per_key(const setting& of, std::uint64_t guard_bytes) {
    const auto plan = of.model->profile().plan({static_cast<double>(of.work.stored), of.asked.error_rate});
    if (!plan) return plan.error();
    const auto bands = daisy_bands::make(*plan);
    if (!bands) return bands.error();
    const std::uint64_t bytes =
        bytes_of(*bands) + bytes_after_attack(*bands) + of.model->oracle()->memory_bytes() + guard_bytes;
    return 8.0 * static_cast<double>(bytes) / static_cast<double>(of.work.stored) + bits_for_lessons(of);
}

// Under attack with a late band, if there is room for it when it opens. Else memory stays fixed: the list has a sixteenth, and a long replay wastes reads.
template <guarded_store Store, remote_map Records>
[[nodiscard]] result<std::unique_ptr<contender>> make_daisy_broom_row(const setting& of, const budget& sizes,
                                                                      std::unique_ptr<Store>&& store, Records& all) {
    using filter_type = daisy_broom_filter<any_oracle>;
    using row = guard_row<filter_type, Store>;
    const std::uint64_t bytes = bytes_of_row(of, sizes, true);
    const std::uint64_t beside = row::overhead_bytes() + of.model->oracle()->memory_bytes();
    if (bytes <= beside) return too_little_for("daisy_broom", of, sizes);
    const auto plan_for = [&of](const daisy_terms& terms) { return of.model->profile().plan(terms); };
    for (const bool late : {true, false}) {
        if (late && !of.asked.attack) continue;
        daisy_broom_options options;
        options.hash = store->hash();
        if (of.asked.store_path.empty()) options.repeatable = of.asked.seed;
        options.late_band = late;
        options.exception_bytes = late ? exception_bytes : std::max(bytes / 16, exception_bytes);
        const auto reserved = [&options, late](const daisy_bands& bands) {
            return late ? bytes_after_attack(bands) : *options.exception_bytes;
        };
        const auto takes_bits = [&](const daisy_bands& bands) { return 8 * (bytes_of(bands) + reserved(bands)); };
        // What a filter takes beside its bands' slots is seen when it is there.
        for (std::uint64_t bits = 8 * (bytes - beside); bits > 0;) {
            const auto plan = plan_for_bits(static_cast<double>(of.work.stored), bits, plan_for, takes_bits);
            if (!plan) break;
            const auto bands = daisy_bands::make(*plan);
            if (!bands) return bands.error();
            options.bits = bits - (takes_bits(*bands) - bands->bits());
            auto made = filter_type::build(options, *plan, of.model->oracle(), all);
            if (!made) return made.error();
            const std::uint64_t takes = made->stats().local_bytes + row::overhead_bytes() + reserved(made->bands());
            if (takes <= bytes) {
                return std::unique_ptr<contender>{std::make_unique<row>(filter_kind::daisy_broom, *std::move(made),
                                                                        std::move(store), guard_options{})};
            }
            bits -= std::min(bits, 4 * (takes - bytes) + 4096);  // by half: fewer bits may mean fewer bands
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
