// daisy_fingerprint_filter: planned and growing tables, inserts, batches and figures.
// daisy_fingerprint_snapshot.cpp saves and loads, daisy_fingerprint_layout.hpp computes the sizes.
#include "genista/filters/daisy_fingerprint.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "filters/cleary_shape.hpp"
#include "filters/common.hpp"
#include "filters/daisy_fingerprint_layout.hpp"
#include "filters/daisy_plan_fields.hpp"
#include "filters/growing_fingerprints.hpp"
#include "genista/filters/with_oracle.hpp"

namespace genista {

static_assert(class_filter<daisy_fingerprint_filter>);

daisy_fingerprint_filter::daisy_fingerprint_filter(const daisy_fingerprint_options& options, const hasher& hash,
                                                   const fingerprint_layout& layout) noexcept
    : hash_{hash},
      terms_{options.plan.terms},
      mean_bits_{options.plan.mean_bits},
      overlap_{options.plan.overlap},
      tops_{layout.tops},
      largest_{static_cast<std::uint8_t>(layout.largest)},
      unknown_size_{options.unknown_size} {
    static_assert(sizeof(table) == fingerprint_layout::record_bytes);
}

daisy_fingerprint_filter::daisy_fingerprint_filter(daisy_fingerprint_filter&&) noexcept = default;
daisy_fingerprint_filter& daisy_fingerprint_filter::operator=(daisy_fingerprint_filter&&) noexcept = default;
daisy_fingerprint_filter::~daisy_fingerprint_filter() = default;

namespace {

result<void> check_all(const daisy_plan& plan) noexcept {
    if (const auto fine = check_plan(daisy_fingerprint_filter::name, plan); !fine) return fine.error();
    if (plan.terms.rate >= daisy_fingerprint_filter::min_rate) return {};
    return error::make(error_code::invalid_argument, "daisy_fingerprint: the rate %g is not in %g..%g", plan.terms.rate,
                       daisy_fingerprint_filter::min_rate, max_daisy_rate);
}

// A plan without sizes may have no shares either: then every key may be queried in full.
daisy_plan with_shares(daisy_plan plan) noexcept {
    const bool has_none = std::ranges::all_of(plan.stored_share, [](double share) { return share == 0; });
    if (!has_none || !check_terms(plan.terms)) return plan;
    plan.stored_share[plan.largest_class()] = plan.asked_share[plan.largest_class()] = 1;
    plan.mean_bits = -std::log2(plan.terms.rate);
    return plan;
}

}  // namespace

result<daisy_fingerprint_filter> daisy_fingerprint_filter::make(const daisy_fingerprint_options& options) noexcept {
    daisy_fingerprint_options full = options;
    if (options.unknown_size) full.plan = with_shares(options.plan);
    if (const auto fine = check_all(full.plan); !fine) return fine.error();
    const auto hash = hasher_from({.hash = options.hash});
    if (!hash) return hash.error();
    const auto layout = fingerprint_layout::of(full.plan, full.unknown_size);
    daisy_fingerprint_filter made{full, *hash, layout};
    if (const auto placed = made.make_planned(full.plan, layout); !placed) return placed.error();
    return made;
}

// One buffer for all tables: page rounding is paid once, and so are the bytes that a look-up may
// read behind its table. It may as well read the next table; an insert writes up to seven bytes of
// the next table back unchanged, and excludes every other call meanwhile.
result<void> daisy_fingerprint_filter::make_planned(const daisy_plan& plan, const fingerprint_layout& layout) noexcept {
    return without_throwing(name, [&]() -> result<void> {
        classes_ = std::make_unique<class_record[]>(largest_ + 1u);
        for (unsigned j = 0; j <= largest_; ++j)
            classes_[j] = {.stored_share = plan.stored_share[j], .asked_share = plan.asked_share[j]};
        const auto count = std::ranges::count_if(layout.planned, [](std::uint64_t keys) { return keys != 0; });
        if (count == 0) return {};
        auto zeros = buffer::zeroed(layout.planned_bytes());
        if (!zeros) return zeros.error();
        planned_ = *std::move(zeros);
        tables_.reserve(static_cast<std::size_t>(count));
        std::byte* next = planned_.data();
        for (unsigned chain = 1; chain <= layout.largest; ++chain) {
            if (layout.planned[chain] == 0) continue;
            const auto shape = layout.shape(chain);
            table made;
            made.state = cleary::shape_of(shape.blocks, shape.bits);
            cleary::place_into(made.state, next);
            made.kernels = cleary_kernels_for(shape.bits);
            made.chain = static_cast<std::uint8_t>(chain);
            set_places(chain, {static_cast<std::uint8_t>(tables_.size()), none});
            tables_.push_back(made);
            next += shape.bytes();
        }
        return {};
    });
}

fingerprint_layout_table daisy_fingerprint_filter::shape_of(std::size_t at) const noexcept {
    return {tables_[at].state.block_count, tables_[at].state.bits};
}

// Stores the place for all classes of a chain.
void daisy_fingerprint_filter::set_places(unsigned chain, place where) noexcept {
    for (unsigned j = 1; j < places_.size(); ++j) {
        if (chain_of(std::min<unsigned>(j, largest_)) == chain) places_[j] = where;
    }
}

unsigned daisy_fingerprint_filter::growing_bits(unsigned chain) const noexcept {
    return places_[chain].planned != none ? chain + 2 : chain;
}

result<void> daisy_fingerprint_filter::add_growing(unsigned chain, growing_fingerprints made) noexcept {
    static_assert(most_class + 2 <= growing_fingerprints::most_bits);
    return without_throwing(name, [&]() -> result<void> {
        if (growing_.size() == growing_.capacity()) growing_.reserve(growing_.size() + 1 + growing_.size() / 4);
        growing_.push_back(std::make_unique<growing_fingerprints>(std::move(made)));
        set_places(chain, {places_[chain].planned, static_cast<std::uint8_t>(growing_.size() - 1)});
        return {};
    });
}

bool daisy_fingerprint_filter::is_in_growing(std::size_t at, const digest& d) const noexcept {
    return growing_[at]->may_contain(d);
}

insert_outcome daisy_fingerprint_filter::insert_growing(const digest& d, unsigned chain) noexcept {
    if (places_[chain].growing == none) {
        auto made = growing_fingerprints::make(growing_bits(chain));
        if (!made || !add_growing(chain, *std::move(made))) return insert_outcome::full;
    }
    return growing_[places_[chain].growing]->insert(d);
}

insert_outcome daisy_fingerprint_filter::insert(const digest& d, unsigned its_class) noexcept {
    its_class = std::min<unsigned>(its_class, largest_);
    const auto counted = [&](insert_outcome outcome) {
        if (outcome != insert_outcome::full) ++classes_[its_class].inserts;
        return outcome;
    };
    if (its_class == 0) return counted(insert_outcome::already_present);
    const place at = places_[its_class];
    if (at.planned == none) return counted(insert_growing(d, chain_of(its_class)));
    // A key that the growing table answers needs no place in the planned one.
    if (at.growing != none && is_in_growing(at.growing, d)) return counted(insert_outcome::already_present);
    table& planned = tables_[at.planned];
    if (planned.state.used < shape_of(at.planned).room()) {
        const auto near = planned.kernels->insert_near(planned.state, d, fingerprint_layout::most_cells_moved);
        if (near != insert_outcome::full) return counted(near);
    } else if (planned.kernels->lookups.contains_digest(planned.state, d)) {
        return counted(insert_outcome::already_present);
    }
    return counted(insert_growing(d, planned.chain));
}

void daisy_fingerprint_filter::clear() noexcept {
    fill_with_zeros(planned_.bytes());
    for (table& each : tables_) each.state.used = 0;
    std::vector<std::unique_ptr<growing_fingerprints>>{}.swap(growing_);
    for (place& each : places_) each.growing = none;
    for (unsigned j = 0; j <= largest_; ++j) classes_[j].inserts = 0;
}

unsigned daisy_fingerprint_filter::kept_as(unsigned its_class) const noexcept {
    return its_class == 0 ? 0 : chain_of(std::min<unsigned>(its_class, largest_));
}

daisy_plan daisy_fingerprint_filter::plan() const noexcept {
    daisy_plan whole{.terms = terms_, .mean_bits = mean_bits_, .overlap = overlap_};
    for (unsigned j = 0; j <= largest_; ++j) {
        whole.stored_share[j] = classes_[j].stored_share;
        whole.asked_share[j] = classes_[j].asked_share;
    }
    return whole;
}

filter_stats daisy_fingerprint_filter::stats() const noexcept {
    std::uint64_t keys = 0, bytes = sizeof *this + (largest_ + 1u) * sizeof(class_record) + planned_.allocated_bytes() +
                                    tables_.capacity() * sizeof(table) + growing_.capacity() * sizeof growing_[0];
    for (const table& each : tables_) keys += each.state.used;
    for (const auto& each : growing_) {
        keys += each->values();
        bytes += sizeof *each + each->allocated_bytes();
    }
    const daisy_plan whole = plan();
    return plain_stats(keys, capacity_of(whole), whole.expected_rate(), bytes);
}

double daisy_fingerprint_filter::let_through(unsigned its_class) const noexcept {
    its_class = std::min(its_class, most_class);
    if (its_class == 0) return 1;
    const place at = places_[its_class];
    double sum = at.growing == none ? 0 : growing_[at.growing]->let_through();
    if (at.planned != none) {
        const cleary_state& state = tables_[at.planned].state;
        const double share = static_cast<double>(state.used) / static_cast<double>(cleary::cell_count(state));
        sum += std::ldexp(share, -static_cast<int>(state.bits));
    }
    return sum;
}

std::vector<daisy_fingerprint_table> daisy_fingerprint_filter::tables() const {
    std::vector<daisy_fingerprint_table> all;
    for (std::size_t at = 0; at < tables_.size(); ++at) {
        const auto shape = shape_of(at);
        all.push_back({tables_[at].chain, shape.bits, shape.cells(), tables_[at].state.used, shape.room()});
    }
    for (unsigned chain = 1; chain <= largest_; ++chain) {
        if (!is_chain(chain) || places_[chain].growing == none) continue;
        const growing_fingerprints& each = *growing_[places_[chain].growing];
        all.push_back({chain, each.remainder_bits(), each.pages() * growing_fingerprints::homes, each.values(),
                       each.pages() * growing_fingerprints::page_values, true});
    }
    return all;
}

daisy_fingerprint_drift daisy_fingerprint_filter::drift() const noexcept {
    constexpr double much = 6;  // standard deviations: once in 10^9
    daisy_fingerprint_drift seen;
    double inserts = 0;
    for (std::size_t j = 0; j <= largest_; ++j) {
        seen.inserts[j] = classes_[j].inserts;
        seen.planned[j] = terms_.draws * classes_[j].stored_share;
        inserts += static_cast<double>(classes_[j].inserts);
    }
    seen.extra_tables = growing_.size();
    if (unknown_size_) return seen;
    const double log_draws = std::max(1.0, std::log2(terms_.draws));
    // More than expected, beyond the margin of the plan (1/log n of the expectation) and chance.
    // The error of a small sample shows only here.
    const auto is_more = [&](double came, double expected) {
        return came > expected + expected / log_draws + much * std::sqrt(expected) + much;
    };
    for (std::size_t j = 0; j <= largest_; ++j) {
        const auto came = static_cast<double>(classes_[j].inserts);
        const double expected = inserts * classes_[j].stored_share;
        if (is_more(came, expected) && came - expected > inserts / (log_draws * log_draws))
            seen.verdict = drift_verdict::classes_differ;
    }
    if (seen.verdict == drift_verdict::as_planned && is_more(inserts, terms_.draws))
        seen.verdict = drift_verdict::fuller_than_planned;
    return seen;
}

result<std::uint64_t> daisy_fingerprint_filter::bits_for(const daisy_plan& plan) noexcept {
    if (const auto fine = check_all(plan); !fine) return fine.error();
    return 8 * fingerprint_layout::of(plan, false).planned_bytes();
}

// ---- batches

namespace {

constexpr std::size_t chunk = 1024;  // keys sorted at a time: 16 KiB of digests

}  // namespace

// Sorts the keys by class, asks the chain of each class once, and puts the answers back in order.
void daisy_fingerprint_filter::answer_chunk(std::span<const digest> digests, std::span<const std::uint8_t> classes,
                                            std::span<std::uint64_t> out_bits) const noexcept {
    std::array<std::uint16_t, most_class + 2> begin{};
    const auto class_at = [&](std::size_t i) { return std::min<unsigned>(classes[i], most_class); };
    for (std::size_t i = 0; i < digests.size(); ++i) ++begin[class_at(i) + 1];
    for (std::size_t j = 1; j < begin.size(); ++j) begin[j] = static_cast<std::uint16_t>(begin[j] + begin[j - 1]);
    std::array<std::uint16_t, chunk> from;
    std::array<digest, chunk> sorted;
    auto next = begin;
    for (std::size_t i = 0; i < digests.size(); ++i) {
        const std::size_t to = next[class_at(i)]++;
        from[to] = static_cast<std::uint16_t>(i);
        sorted[to] = digests[i];
    }
    std::fill_n(out_bits.begin(), words_for(digests.size()), std::uint64_t{0});
    const auto put = [&](std::size_t at) { out_bits[from[at] / 64] |= std::uint64_t{1} << from[at] % 64; };
    for (std::size_t at = 0; at < begin[1]; ++at) put(at);
    std::array<std::uint64_t, chunk / 64> found;
    for (unsigned j = 1; j <= most_class; ++j) {
        const std::size_t first = begin[j], count = begin[j + 1] - first;
        if (count == 0) continue;
        const place at = places_[j];
        if (at.planned != none) {
            const table& planned = tables_[at.planned];
            planned.kernels->lookups.contains_digests(planned.state, hash_.state(), &sorted[first], count,
                                                      found.data());
            for (std::size_t i = 0; i < count; ++i) {
                if ((found[i / 64] >> i % 64 & 1) != 0) put(first + i);
            }
        }
        if (at.growing == none) continue;
        const growing_fingerprints& growing = *growing_[at.growing];
        constexpr std::size_t ahead = 8;
        for (std::size_t i = 0; i < count; ++i) {
            if (i + ahead < count) growing.prefetch(sorted[first + i + ahead]);
            if (growing.may_contain(sorted[first + i])) put(first + i);
        }
    }
}

void daisy_fingerprint_filter::may_contain(std::span<const digest> digests, std::span<const std::uint8_t> classes,
                                           std::span<std::uint64_t> out_bits) const noexcept {
    assert(classes.size() == digests.size() && out_bits.size() >= words_for(digests.size()));
    for (std::size_t first = 0; first < digests.size(); first += chunk) {
        const std::size_t count = std::min(chunk, digests.size() - first);
        answer_chunk(digests.subspan(first, count), classes.subspan(first, count), out_bits.subspan(first / 64));
    }
}

void daisy_fingerprint_filter::may_contain(std::span<const std::uint64_t> keys, std::span<const std::uint8_t> classes,
                                           std::span<std::uint64_t> out_bits) const noexcept {
    std::array<digest, chunk> digests;
    for (std::size_t first = 0; first < keys.size(); first += chunk) {
        const std::size_t count = std::min(chunk, keys.size() - first);
        hash_(keys.subspan(first, count), digests);
        may_contain(std::span<const digest>{digests.data(), count}, classes.subspan(first, count),
                    out_bits.subspan(first / 64));
    }
}

void daisy_fingerprint_filter::may_contain(std::span<const key_view> keys, std::span<const std::uint8_t> classes,
                                           std::span<std::uint64_t> out_bits) const noexcept {
    std::array<digest, chunk> digests;
    for (std::size_t first = 0; first < keys.size(); first += chunk) {
        const std::size_t count = std::min(chunk, keys.size() - first);
        for (std::size_t i = 0; i < count; ++i) digests[i] = hash_(keys[first + i]);
        may_contain(std::span<const digest>{digests.data(), count}, classes.subspan(first, count),
                    out_bits.subspan(first / 64));
    }
}

}  // namespace genista
