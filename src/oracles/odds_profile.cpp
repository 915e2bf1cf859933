// odds_profile: counts odds and makes plans from them. See odds_profile.hpp.
#include "genista/oracles/odds_profile.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>
#include <utility>

#include "genista/detail/format/fields.hpp"

namespace genista {
namespace {

using profile_entry = odds_profile::entry;

bool comes_before(const profile_entry& a, const profile_entry& b) noexcept {
    return a.odds.stored != b.odds.stored ? a.odds.stored < b.odds.stored : a.odds.asked < b.odds.asked;
}

// Refuses negative zero, infinities and NaN: then equal odds have equal bytes, and the order is
// total.
bool is_probability(double value) noexcept {
    return value >= 0 && value <= 1 && !(value == 0 && std::signbit(value));
}

result<void> add_draws(std::vector<profile_entry>& to, std::span<const key_odds> draws, bool is_stored) {
    const char* const name = is_stored ? "stored" : "asked";
    if (draws.empty())
        return error::make(error_code::invalid_argument, "profile: the sample of keys %s is empty", name);
    const std::size_t taken = std::min(draws.size(), odds_profile::most_draws);
    for (std::size_t i = 0; i < taken; ++i) {
        const key_odds& odds = draws[i * draws.size() / taken];
        if (!is_probability(odds.stored) || !is_probability(odds.asked)) {
            return error::make(error_code::invalid_argument,
                               "profile: the odds %g and %g of a key that was %s are not in 0..1", odds.stored,
                               odds.asked, name);
        }
        to.push_back({odds, is_stored ? 1U : 0U, is_stored ? 0U : 1U});
    }
    return {};
}

struct samples {
    std::vector<key_odds> stored, asked;
};

samples expanded(std::span<const profile_entry> entries) {
    samples made;
    for (const profile_entry& each : entries) {
        made.stored.insert(made.stored.end(), each.stored, each.odds);
        made.asked.insert(made.asked.end(), each.asked, each.odds);
    }
    return made;
}

error no_memory_for_profile() noexcept {
    return error::make(error_code::out_of_memory, "profile: no memory for its draws");
}

}  // namespace

odds_profile::odds_profile(std::vector<entry> entries) noexcept : entries_{std::move(entries)} {
    for (const entry& each : entries_) {
        stored_draws_ += each.stored;
        asked_draws_ += each.asked;
    }
}

result<odds_profile> odds_profile::make(std::span<const key_odds> stored, std::span<const key_odds> asked) noexcept {
    try {
        std::vector<entry> all, different;
        if (const auto added = add_draws(all, stored, true); !added) return added.error();
        if (const auto added = add_draws(all, asked, false); !added) return added.error();
        std::ranges::sort(all, comes_before);
        for (const entry& each : all) {
            if (different.empty() || different.back().odds != each.odds) {
                different.push_back(each);
            } else {
                different.back().stored += each.stored;
                different.back().asked += each.asked;
            }
        }
        different.shrink_to_fit();
        return odds_profile{std::move(different)};
    } catch (const std::bad_alloc&) {
        return no_memory_for_profile();
    }
}

result<daisy_plan> odds_profile::plan(const daisy_terms& terms) const noexcept {
    try {
        const samples drawn = expanded(entries_);
        return plan_from_samples(terms, drawn.stored, drawn.asked);
    } catch (const std::bad_alloc&) {
        return no_memory_for_profile();
    }
}

result<daisy_plan> odds_profile::plan_tuned(const daisy_terms& wanted) const noexcept {
    try {
        const samples drawn = expanded(entries_);
        return genista::plan_tuned(
            wanted, [&](const daisy_terms& terms) { return plan_from_samples(terms, drawn.stored, drawn.asked); });
    } catch (const std::bad_alloc&) {
        return no_memory_for_profile();
    }
}

result<std::vector<std::byte>> odds_profile::bytes() const noexcept {
    try {
        std::vector<std::byte> made(entries_.size() * entry_bytes);
        std::byte* at = made.data();
        for (const entry& each : entries_) {
            store_little_endian(at, std::bit_cast<std::uint64_t>(each.odds.stored));
            store_little_endian(at + 8, std::bit_cast<std::uint64_t>(each.odds.asked));
            store_little_endian(at + 16, each.stored);
            store_little_endian(at + 20, each.asked);
            at += entry_bytes;
        }
        return made;
    } catch (const std::bad_alloc&) {
        return no_memory_for_profile();
    }
}

result<odds_profile> odds_profile::from_bytes(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() % entry_bytes != 0 || bytes.size() / entry_bytes > 2 * most_draws) {
        return error::make(error_code::corrupt, "profile: %zu bytes are not entries of %zu bytes, at most %zu",
                           bytes.size(), entry_bytes, 2 * most_draws);
    }
    try {
        std::vector<entry> read;
        read.reserve(bytes.size() / entry_bytes);
        for (field_reader fields{bytes}; fields.remaining_bytes() > 0;) {
            entry next;
            next.odds.stored = fields.f64();
            next.odds.asked = fields.f64();
            next.stored = fields.u32();
            next.asked = fields.u32();
            const bool is_sound = is_probability(next.odds.stored) && is_probability(next.odds.asked) &&
                                  next.stored <= most_draws && next.asked <= most_draws &&
                                  next.stored + next.asked > 0 && (read.empty() || comes_before(read.back(), next));
            if (!is_sound) {
                return error::make(error_code::corrupt,
                                   "profile: entry %zu, odds %g and %g of %u and %u draws, is damaged or out of order",
                                   read.size(), next.odds.stored, next.odds.asked, next.stored, next.asked);
            }
            read.push_back(next);
        }
        odds_profile made{std::move(read)};
        for (const std::uint64_t draws : {made.stored_draws(), made.asked_draws()}) {
            if (draws == 0 || draws > most_draws) {
                return error::make(error_code::corrupt, "profile: %llu draws of one kind are not in 1..%zu",
                                   static_cast<unsigned long long>(draws), most_draws);
            }
        }
        return made;
    } catch (const std::bad_alloc&) {
        return no_memory_for_profile();
    }
}

}  // namespace genista
