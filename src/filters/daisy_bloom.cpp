// The cold half of daisy_bloom_filter: making, merging, drift, saving and loading.
// daisy_bloom_sizing.cpp computes the sizes.
#include "genista/filters/daisy_bloom.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/cpu.hpp"
#include "filters/common.hpp"
#include "filters/daisy_bloom_kernels.hpp"
#include "filters/daisy_bloom_sizing.hpp"
#include "filters/daisy_plan_fields.hpp"
#include "filters/snapshot_fields.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/with_oracle.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/daisy_bloom_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista {
namespace {

const daisy_bloom_kernels* daisy_bloom_kernels_for(daisy_layout layout) noexcept {
    return layout == daisy_layout::scattered ? GENISTA_PICK(daisy_scattered_kernels)
                                             : daisy_blocked_kernels_for(layout);
}

static_assert(class_filter<daisy_bloom_filter>);

constexpr std::uint16_t daisy_bloom_version = 1;
constexpr std::uint64_t daisy_line_bytes = daisy_line_bits / 8;

std::uint64_t count_ones(std::span<const std::byte> table) noexcept {
    std::uint64_t ones = 0;
    for (std::size_t at = 0; at < table.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, table.data() + at, sizeof word);
        ones += static_cast<std::uint64_t>(std::popcount(word));
    }
    return ones;
}

result<void> check_blocked(const daisy_plan& plan) noexcept {
    if (plan.largest_class() <= daisy_bloom_filter::most_blocked_class) return {};
    return error::make(error_code::invalid_argument,
                       "daisy_bloom: a blocked filter has %u lanes a line, and the parameter %.9g needs classes up to "
                       "%u; allowed are parameters from 2^-%u on, or a filter that is not blocked",
                       daisy_bloom_filter::most_blocked_class, plan.terms.rate, plan.largest_class(),
                       daisy_bloom_filter::most_blocked_class);
}

result<daisy_bloom_size> size_for(const daisy_plan& plan, bool blocked, std::optional<double> rate) noexcept {
    if (const auto fine = check_plan(daisy_bloom_filter::name, plan); !fine) return fine.error();
    if (rate && !(*rate > 0 && *rate < 1))
        return error::make(error_code::invalid_argument, "daisy_bloom: the rate %g is not above 0 and below 1", *rate);
    if (!blocked) return scattered_size(plan, rate.value_or(0));
    if (rate) {
        return error::make(error_code::invalid_argument,
                           "daisy_bloom: a blocked filter is sized by its plan alone and takes no rate, here %g",
                           *rate);
    }
    if (const auto fine = check_blocked(plan); !fine) return fine.error();
    return blocked_size(plan);
}

// τ of [daisy Lemma 15].
double slack(const daisy_plan& plan) noexcept {
    return 1 / (2 * -std::log2(plan.terms.rate));
}

}  // namespace

daisy_bloom_filter::daisy_bloom_filter(const daisy_plan& plan, const hasher& hash, daisy_layout layout,
                                       buffer table) noexcept
    : kernels_{daisy_bloom_kernels_for(layout)}, hash_{hash}, table_{std::move(table)}, plan_{plan}, layout_{layout} {
    state_.bytes = table_.data();
    state_.places = layout == daisy_layout::scattered ? bits() : bits() / daisy_line_bits;
    state_.largest = plan.largest_class();
}

result<daisy_bloom_filter> daisy_bloom_filter::make_with(const daisy_bloom_options& options, daisy_layout layout,
                                                         std::uint64_t lines) noexcept {
    const auto hash = hasher_from({.hash = options.hash});
    if (!hash) return hash.error();
    auto table = buffer::zeroed(lines * daisy_line_bytes);
    if (!table) return table.error();
    return daisy_bloom_filter{options.plan, *hash, layout, *std::move(table)};
}

result<daisy_bloom_filter> daisy_bloom_filter::make(const daisy_bloom_options& options) noexcept {
    const auto size = size_for(options.plan, options.blocked, options.rate);
    if (!size) return size.error();
    return make_with(options, size->layout, size->lines);
}

result<std::uint64_t> daisy_bloom_filter::bits_for(const daisy_plan& plan, bool blocked,
                                                   std::optional<double> rate) noexcept {
    const auto size = size_for(plan, blocked, rate);
    if (!size) return size.error();
    return size->lines * daisy_line_bits;
}

insert_outcome daisy_bloom_filter::insert(const digest& d, unsigned its_class) noexcept {
    ++draws_[std::min(its_class, state_.largest)];
    const unsigned fresh = kernels_->insert_digest(state_, d, its_class);
    bits_set_ += fresh;
    keys_ += fresh != 0 ? 1 : 0;
    return fresh != 0 ? insert_outcome::inserted : insert_outcome::already_present;
}

void daisy_bloom_filter::clear() noexcept {
    fill_with_zeros(table_.bytes());
    bits_set_ = keys_ = 0;
    draws_.fill(0);
}

result<void> daisy_bloom_filter::merge(const daisy_bloom_filter& other) noexcept {
    if (const auto same = check_same_hash(hash_, other.hash_); !same) return same.error();
    const daisy_terms &ours = plan_.terms, &theirs = other.plan_.terms;
    if (layout_ != other.layout_ || bits() != other.bits() || ours.draws != theirs.draws || ours.rate != theirs.rate) {
        return error::make(error_code::mismatch,
                           "merge: the daisy filters differ (%llu bits, layout %u, %g draws at %g; %llu bits, layout "
                           "%u, %g draws at %g); make both with the same plan",
                           static_cast<unsigned long long>(bits()), unsigned{static_cast<std::uint8_t>(layout_)},
                           ours.draws, ours.rate, static_cast<unsigned long long>(other.bits()),
                           unsigned{static_cast<std::uint8_t>(other.layout_)}, theirs.draws, theirs.rate);
    }
    if (this == &other) return {};
    or_into(table_.bytes(), other.table_.bytes());
    bits_set_ = count_ones(table_.bytes());
    keys_ += other.keys_;
    for (std::size_t j = 0; j < draws_.size(); ++j) draws_[j] += other.draws_[j];
    return {};
}

filter_stats daisy_bloom_filter::stats() const noexcept {
    double rate = plan_.expected_rate();
    // A scattered table may have been made shorter for a wanted rate; the other layouts never
    // exceed the plan's rate.
    if (layout_ == daisy_layout::scattered) rate = std::max(rate, *expected_rate());
    return plain_stats(keys_, capacity_of(plan_), std::min(1.0, rate), table_.allocated_bytes() + sizeof *this);
}

result<double> daisy_bloom_filter::expected_rate() const noexcept {
    return expected_rate_of(plan_, {layout_, bits() / daisy_line_bits});
}

daisy_bloom_drift daisy_bloom_filter::drift() const noexcept {
    const auto all_bits = static_cast<double>(bits());
    const double tau = slack(plan_);
    // Different probes set a bit each with the probability that it is still zero; in a blocked
    // filter the same holds within each line.
    const auto ones_after = [&](double probes) { return all_bits * -std::expm1(-probes / all_bits); };

    daisy_bloom_drift now;
    now.draws = std::accumulate(draws_.begin(), draws_.end(), std::uint64_t{0});
    now.bits_set = bits_set_;
    const auto draws = static_cast<double>(now.draws);
    now.planned_bits_set = ones_after(plan_.whole_bits() * draws / plan_.terms.draws);
    now.most_bits_set = ones_after((1 + tau) * plan_.whole_bits());
    if (now.draws > 0) {
        double distance = 0, chance = 0;
        for (std::size_t j = 0; j < draws_.size(); ++j) {
            const double planned = std::min(1.0, plan_.stored_share[j]);
            distance += std::abs(static_cast<double>(draws_[j]) / draws - planned) / 2;
            chance += std::sqrt(planned * (1 - planned) / draws) / 2;  // at least the mean of its summand
        }
        constexpr double false_alarm = 1e-6;
        now.class_distance = distance;
        // A draw moves the distance by 1/draws at most: it exceeds its mean by s with probability
        // at most exp(-2 s² draws).
        now.allowed_distance = tau + chance + std::sqrt(-std::log(false_alarm) / (2 * draws));
    }
    if (static_cast<double>(bits_set_) > now.most_bits_set)
        now.verdict = drift_verdict::fuller_than_planned;
    else if (now.class_distance > now.allowed_distance)
        now.verdict = drift_verdict::classes_differ;
    return now;
}

result<void> daisy_bloom_filter::save(sink& out) const noexcept {
    const std::array sections = {table_.bytes()};
    return save_filter(out, snapshot_kind::daisy_bloom, daisy_bloom_version,
                       plain_stats(keys_, capacity_of(plan_), plan_.terms.rate, 0), hash_, sections,
                       [this](field_writer& fields) {
                           write_plan(fields, plan_);
                           fields.u8(static_cast<std::uint8_t>(layout_)).u64(bits());
                           for (const std::uint64_t count : draws_) fields.u64(count);
                       });
}

result<daisy_bloom_filter> daisy_bloom_filter::load(std::span<const std::byte> bytes) noexcept {
    auto opened = open_filter(snapshot_kind::daisy_bloom, daisy_bloom_version, 1, bytes, name, min_daisy_rate);
    if (!opened) return opened.error();
    auto& [view, fields, common] = *opened;
    const daisy_plan plan = read_plan(fields, common.options.false_positive_rate);
    const std::uint8_t layout = fields.u8();
    const std::uint64_t bits = fields.u64();
    std::array<std::uint64_t, max_daisy_class + 1> draws{};
    for (std::uint64_t& count : draws) count = fields.u64();
    const std::span<const std::byte> table = view.sections[0];
    if (!fields.finished() || layout > static_cast<std::uint8_t>(daisy_layout::sixteen) || bits == 0 ||
        bits % daisy_line_bits != 0 || table.size() != bits / 8) {
        return error::make(error_code::corrupt, "daisy_bloom snapshot: layout %u with %llu bits does not fit %zu bytes",
                           unsigned{layout}, static_cast<unsigned long long>(bits), table.size());
    }
    if (const auto fine = check_plan(name, plan); !fine)
        return error::make(error_code::corrupt, "snapshot: %s", fine.error().message().data());
    const auto chosen = static_cast<daisy_layout>(layout);
    const bool too_few_lanes = chosen != daisy_layout::scattered && plan.largest_class() > lanes_of(chosen);
    if (too_few_lanes || capacity_of(plan) != common.options.capacity) {
        return error::make(error_code::corrupt,
                           "daisy_bloom snapshot: classes up to %u in layout %u, or %g draws as capacity %llu",
                           plan.largest_class(), unsigned{layout}, plan.terms.draws,
                           static_cast<unsigned long long>(common.options.capacity));
    }
    auto made = make_with({.plan = plan, .hash = common.options.hash}, chosen, bits / daisy_line_bits);
    if (!made) return made.error();
    std::memcpy(made->table_.data(), table.data(), table.size());
    made->bits_set_ = count_ones(table);
    made->keys_ = common.keys;
    made->draws_ = draws;
    return made;
}

}  // namespace genista
