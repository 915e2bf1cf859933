// oracle_model: models as snapshots, and their parts: a profile, an oracle of any kind.
#include "genista/oracles/oracle_model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <new>
#include <utility>

#include "genista/detail/format/fields.hpp"
#include "genista/detail/format/snapshot.hpp"
#include "genista/detail/oracles/any_oracle.hpp"

namespace genista {
namespace {

constexpr std::uint16_t oracle_model_version = 1;

error inside(const error& why) noexcept {
    const std::string_view message = why.message();
    return error::make(why.code(), "oracle model: %.*s", static_cast<int>(message.size()), message.data());
}

}  // namespace

result<oracle_model> oracle_model::make(any_oracle oracle, odds_profile profile, const model_origin& origin) noexcept {
    try {
        return oracle_model{std::make_shared<const any_oracle>(std::move(oracle)), std::move(profile), origin};
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "oracle model: no memory for the oracle");
    }
}

result<void> oracle_model::save(sink& out) const noexcept {
    vector_sink oracle;
    if (const auto written = oracle_->save(oracle); !written) return inside(written.error());
    const auto profile = profile_.bytes();
    if (!profile) return inside(profile.error());
    field_writer fields;
    fields.u64(origin_.insert_draws).u64(origin_.query_draws).u8(origin_.is_held_out ? 1 : 0);
    const std::array<std::span<const std::byte>, 2> sections = {oracle.bytes(), *profile};
    const snapshot_info info{.kind = snapshot_kind::oracle_model, .kind_version = oracle_model_version};
    return write_snapshot(out, info, fields.view(), sections);
}

result<oracle_model> oracle_model::load(std::span<const std::byte> bytes) noexcept {
    const auto view = open_snapshot_as(snapshot_kind::oracle_model, oracle_model_version, 2, bytes);
    if (!view) return view.error();
    field_reader fields{view->parameters};
    model_origin origin;
    origin.insert_draws = fields.u64();
    origin.query_draws = fields.u64();
    const std::uint8_t held_out = fields.u8();
    if (!fields.finished() || held_out > 1)
        return error::make(error_code::corrupt, "oracle model: its %zu bytes of parameters are not what it writes",
                           view->parameters.size());
    if (view->info != snapshot_info{.kind = snapshot_kind::oracle_model, .kind_version = oracle_model_version})
        return error::make(error_code::corrupt, "oracle model with a hash key or a store, neither of which it has");
    origin.is_held_out = held_out == 1;
    auto oracle = any_oracle::load(view->sections[0]);
    if (!oracle) return inside(oracle.error());
    auto profile = odds_profile::from_bytes(view->sections[1]);
    if (!profile) return inside(profile.error());
    return make(*std::move(oracle), *std::move(profile), origin);
}

// ---- odds_profile: counts odds and makes plans from them
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

// ---- any_oracle: chooses the loader of a snapshot by its kind
namespace {

template <class Oracle>
result<any_oracle> loaded(std::span<const std::byte> bytes) noexcept {
    auto oracle = Oracle::load(bytes);
    if (!oracle) return oracle.error();
    return any_oracle{*std::move(oracle)};
}

}  // namespace

result<any_oracle> any_oracle::load(std::span<const std::byte> bytes) noexcept {
    const auto view = open_snapshot(bytes);
    if (!view) return view.error();
    if (view->info.store != store_mark{})
        return error::make(error_code::corrupt, "oracle snapshot of a store, and an oracle mirrors none");
    switch (view->info.kind) {
        case snapshot_kind::score_oracle:
            return loaded<score_oracle>(bytes);
        case snapshot_kind::exact_oracle:
            return loaded<exact_oracle>(bytes);
        case snapshot_kind::count_min_oracle:
            return loaded<count_min_oracle>(bytes);
        case snapshot_kind::count_sketch_oracle:
            return loaded<count_sketch_oracle>(bytes);
        default:
            break;
    }
    const std::string_view present = to_string(view->info.kind);
    return error::make(error_code::mismatch, "snapshot of kind %u (%.*s), which is not an oracle",
                       static_cast<unsigned>(view->info.kind), static_cast<int>(present.size()), present.data());
}

}  // namespace genista
