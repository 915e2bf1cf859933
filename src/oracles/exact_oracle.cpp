// exact_oracle: the table (looking up, building, saving and loading), and its odds.
#include "genista/oracles/exact_oracle.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "format/hash_fields.hpp"
#include "genista/detail/base/caught.hpp"
#include "genista/oracles/daisy_plan.hpp"
#include "hash/chance.hpp"
#include "oracles/key_text.hpp"

namespace genista {
namespace {

constexpr std::uint16_t exact_oracle_version = 1;
constexpr std::size_t saved_cell_bytes = 24;
static_assert(sizeof(exact_oracle::cell) == saved_cell_bytes);

constexpr bool is_empty(const key_odds& odds) noexcept {
    return odds.stored == 0 && odds.asked == 0;
}

}  // namespace

result<void> exact_oracle::check_unknown(const key_odds& unknown) noexcept {
    const auto is_probability = [](double value) { return value >= 0 && value <= 1; };
    if (!is_probability(unknown.stored) || !is_probability(unknown.asked) || is_empty(unknown)) {
        return error::make(error_code::invalid_argument,
                           "exact_oracle: the odds %g of being stored and %g of being asked for a key that is not in "
                           "the table are not two of 0..1, not both zero",
                           unknown.stored, unknown.asked);
    }
    return {};
}

exact_oracle::exact_oracle(const hasher& hash, const key_odds& unknown, std::uint64_t keys, std::uint64_t homes,
                           buffer memory) noexcept
    : hash_{hash}, unknown_{unknown}, keys_{keys}, homes_{homes}, memory_{std::move(memory)} {}

// Cells are in the order of their positions, each at its home or behind its predecessor: a larger
// position, or an empty cell, ends a search.
key_odds exact_oracle::odds(const digest& d) const noexcept {
    const std::span<const cell> table = cells();
    for (std::uint64_t i = scale(d.position, homes_); i < table.size() && !is_empty(table[i].odds); ++i) {
        if (table[i].position == d.position) return table[i].odds;
        if (table[i].position > d.position) break;
    }
    return unknown_;
}

result<exact_oracle> exact_oracle::from_sorted(const hasher& hash, const key_odds& unknown,
                                               std::span<const cell> sorted) noexcept {
    const std::uint64_t homes = std::max<std::uint64_t>(1, sorted.size() + sorted.size() / 7);
    const auto place_after = [&](std::uint64_t next, const cell& each) {
        return std::max(next, scale(each.position, homes));
    };
    std::uint64_t end = 0;
    for (const cell& each : sorted) end = place_after(end, each) + 1;
    auto memory = buffer::zeroed(std::max(homes, end) * sizeof(cell));
    if (!memory) return memory.error();
    auto* const table = reinterpret_cast<cell*>(memory->data());
    end = 0;
    for (const cell& each : sorted) {
        end = place_after(end, each);
        table[end++] = each;
    }
    return exact_oracle{hash, unknown, sorted.size(), homes, *std::move(memory)};
}

result<void> exact_oracle::save(sink& out) const noexcept {
    return without_throwing(name, [&]() -> result<void> {
        const auto info = describe(snapshot_kind::exact_oracle, exact_oracle_version, hash_);
        if (!info) return info.error();
        field_writer fields;
        fields.u64(keys_).f64(unknown_.stored).f64(unknown_.asked);
        write_hash(fields, hash_);
        std::vector<cell> used;
        used.reserve(keys_);
        std::ranges::copy_if(cells(), std::back_inserter(used), [](const cell& each) { return !is_empty(each.odds); });
        const std::array sections = {std::as_bytes(std::span{used})};
        return write_snapshot(out, *info, fields.view(), sections);
    });
}

result<exact_oracle> exact_oracle::load(std::span<const std::byte> bytes) noexcept {
    const auto view = open_snapshot_as(snapshot_kind::exact_oracle, exact_oracle_version, 1, bytes);
    if (!view) return view.error();
    field_reader fields{view->parameters};
    const std::uint64_t keys = fields.u64();
    key_odds unknown;
    unknown.stored = fields.f64();
    unknown.asked = fields.f64();
    const auto hash = read_hash(fields, view->info);
    if (!hash) return hash.error();
    const std::span<const std::byte> section = view->sections[0];
    if (!fields.finished() || keys == 0 || section.size() % saved_cell_bytes != 0 ||
        section.size() / saved_cell_bytes != keys) {
        return error::make(error_code::corrupt, "exact_oracle snapshot: %llu keys do not fit %zu bytes",
                           static_cast<unsigned long long>(keys), section.size());
    }
    if (const auto fine = check_unknown(unknown); !fine)
        return error::make(error_code::corrupt, "snapshot: %s", fine.error().message().data());
    return without_throwing(name, [&]() -> result<exact_oracle> {
        std::vector<cell> sorted(keys);
        std::memcpy(sorted.data(), section.data(), section.size());
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            const key_odds& odds = sorted[i].odds;
            const bool sound = odds.stored >= 0 && odds.stored <= 1 && odds.asked >= 0 && odds.asked <= 1 &&
                               !is_empty(odds) && (i == 0 || sorted[i - 1].position < sorted[i].position);
            if (!sound) {
                return error::make(error_code::corrupt,
                                   "exact_oracle snapshot: key %zu is out of order or has odds %g and %g", i,
                                   odds.stored, odds.asked);
            }
        }
        return from_sorted(*hash, unknown, sorted);
    });
}

// ---- The odds: from one list, from two columns, or from counts
namespace {

// The position of an entry's key, and the index of the entry in its list.
struct placed {
    std::uint64_t position = 0;
    std::size_t index = 0;
    [[nodiscard]] friend bool operator<(const placed& a, const placed& b) noexcept {
        return a.position != b.position ? a.position < b.position : a.index < b.index;
    }
};

bool same_bytes(key_view a, key_view b) noexcept {
    return std::equal(a.data, a.data + a.size, b.data, b.data + b.size);
}

error same_position(key_view a, key_view b) noexcept {
    return error::make(error_code::invalid_argument,
                       "exact_oracle: the keys '%s' and '%s' have one position under this hash key; take another",
                       key_text{a}.c_str(), key_text{b}.c_str());
}

template <class Entry>
std::vector<placed> in_order(std::span<const Entry> entries, const hasher& hash) {
    std::vector<placed> order(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) order[i] = {hash(entries[i].key).position, i};
    std::sort(order.begin(), order.end());
    return order;
}

// `repeats`: a key may be listed more than once.
template <class Entry>
result<void> check_keys(std::span<const Entry> entries, std::span<const placed> order, bool repeats) noexcept {
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (order[i - 1].position != order[i].position) continue;
        const key_view key = entries[order[i].index].key;
        if (!same_bytes(entries[order[i - 1].index].key, key))
            return same_position(entries[order[i - 1].index].key, key);
        if (!repeats) {
            return error::make(error_code::invalid_argument,
                               "exact_oracle: the key '%s' is listed twice, as entries %zu and %zu",
                               key_text{key}.c_str(), order[i - 1].index + 1, order[i].index + 1);
        }
    }
    return {};
}

// The index of the key in another list, or nothing.
std::optional<std::size_t> find(std::span<const placed> order, std::uint64_t position) noexcept {
    const auto found = std::lower_bound(order.begin(), order.end(), placed{position, 0});
    if (found == order.end() || found->position != position) return std::nullopt;
    return found->index;
}

// An error that names the first of `entries`, in the order of the list, that is not in the other
// list.
result<void> check_all_in(std::span<const weighted_key> entries, std::span<const placed> order,
                          std::span<const placed> others, const char* list, const char* other) {
    std::vector<std::uint64_t> positions(entries.size());
    for (const placed& each : order) positions[each.index] = each.position;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (find(others, positions[i])) continue;
        return error::make(
            error_code::invalid_argument,
            "exact_oracle: the key '%s', entry %zu of the list of probabilities of being %s, is not in that of "
            "being %s",
            key_text{entries[i].key}.c_str(), i + 1, list, other);
    }
    return {};
}

// The keys of one log in the order of their digests, with all their counts.
struct seen_key {
    std::uint64_t position = 0;
    double count = 0;
    key_view key{};
};

struct seen_log {
    std::vector<seen_key> keys;
    double total = 0;
    double unseen = 0;  // of one key

    // Half an observation is subtracted, for unseen keys.
    [[nodiscard]] double odds_of(double count) const noexcept { return (count - 0.5) / total; }
};

result<seen_log> read_log(std::span<const counted_key> log, const hasher& hash, double universe, const char* which) {
    const std::vector<placed> order = in_order(log, hash);
    if (const auto fine = check_keys(log, order, true); !fine) return fine.error();
    seen_log seen;
    for (const placed& each : order) {
        const counted_key& entry = log[each.index];
        if (entry.count == 0) continue;
        const auto count = static_cast<double>(entry.count);
        seen.total += count;
        if (!seen.keys.empty() && seen.keys.back().position == each.position) {
            seen.keys.back().count += count;
        } else {
            seen.keys.push_back({each.position, count, entry.key});
        }
    }
    if (seen.keys.empty())
        return error::make(error_code::invalid_argument, "exact_oracle: the log of %s is empty", which);
    const auto distinct = static_cast<double>(seen.keys.size());
    // At least `distinct`, so that an unseen key is never likelier than one that was seen once.
    const double others = std::max(universe - distinct, distinct);
    seen.unseen = distinct / 2 / seen.total / others;
    return seen;
}

}  // namespace

result<exact_oracle> exact_oracle::make(std::span<const known_key> keys, const exact_oracle_options& options) noexcept {
    return without_throwing(name, [&]() -> result<exact_oracle> {
        if (keys.empty()) return error::make(error_code::invalid_argument, "exact_oracle: the list has no keys");
        std::vector<key_odds> odds(keys.size());
        std::transform(keys.begin(), keys.end(), odds.begin(), [](const known_key& each) { return each.odds; });
        if (const auto fine = check_odds(odds); !fine) return fine.error();
        key_odds unknown{0, 1};
        for (const key_odds& each : odds)
            unknown.asked = each.asked > 0 ? std::min(unknown.asked, each.asked) : unknown.asked;
        unknown = options.unknown.value_or(unknown);
        if (const auto fine = check_unknown(unknown); !fine) return fine.error();
        const auto hash = hasher_or_random(options.hash);
        if (!hash) return hash.error();
        const std::vector<placed> order = in_order(keys, *hash);
        if (const auto fine = check_keys(keys, order, false); !fine) return fine.error();
        std::vector<cell> sorted;
        sorted.reserve(keys.size());
        for (const placed& each : order) {
            const key_odds& its = odds[each.index];
            if (its.stored > 0 || its.asked > 0) sorted.push_back({each.position, its});
        }
        return from_sorted(*hash, unknown, sorted);
    });
}

result<exact_oracle> exact_oracle::from_columns(std::span<const weighted_key> stored,
                                                std::span<const weighted_key> asked,
                                                const exact_oracle_options& options) noexcept {
    return without_throwing(name, [&]() -> result<exact_oracle> {
        const auto hash = hasher_or_random(options.hash);
        if (!hash) return hash.error();
        const std::vector<placed> stored_order = in_order(stored, *hash), asked_order = in_order(asked, *hash);
        if (const auto fine = check_keys(stored, stored_order, false); !fine) return fine.error();
        if (const auto fine = check_keys(asked, asked_order, false); !fine) return fine.error();
        if (const auto all = check_all_in(stored, stored_order, asked_order, "stored", "asked"); !all)
            return all.error();
        if (const auto all = check_all_in(asked, asked_order, stored_order, "asked", "stored"); !all)
            return all.error();
        // Both lists have the same keys, so their sorted orders match.
        std::vector<known_key> keys(stored.size());
        for (std::size_t i = 0; i < stored_order.size(); ++i) {
            const weighted_key& its = stored[stored_order[i].index];
            if (!same_bytes(its.key, asked[asked_order[i].index].key))
                return same_position(its.key, asked[asked_order[i].index].key);
            keys[stored_order[i].index] = {its.key, {its.weight, asked[asked_order[i].index].weight}};
        }
        exact_oracle_options with_hash = options;
        with_hash.hash = *hash;
        return make(keys, with_hash);
    });
}

result<exact_oracle> exact_oracle::from_counts(std::span<const counted_key> inserts,
                                               std::span<const counted_key> queries,
                                               const exact_oracle_options& options) noexcept {
    return without_throwing(name, [&]() -> result<exact_oracle> {
        if (!(options.universe >= 1 && options.universe <= unknown_universe)) {
            return error::make(error_code::invalid_argument, "exact_oracle: a universe of %g keys is not in 1..2^64",
                               options.universe);
        }
        const auto hash = hasher_or_random(options.hash);
        if (!hash) return hash.error();
        const auto stored = read_log(inserts, *hash, options.universe, "inserts");
        if (!stored) return stored.error();
        const auto asked = read_log(queries, *hash, options.universe, "queries");
        if (!asked) return asked.error();
        const key_odds unknown = options.unknown.value_or(key_odds{stored->unseen, asked->unseen});
        if (const auto fine = check_unknown(unknown); !fine) return fine.error();
        // Merges two sorted lists.
        std::vector<cell> sorted;
        sorted.reserve(stored->keys.size() + asked->keys.size());
        auto s = stored->keys.begin();
        auto a = asked->keys.begin();
        while (s != stored->keys.end() || a != asked->keys.end()) {
            const bool in_stored = s != stored->keys.end() && (a == asked->keys.end() || s->position <= a->position);
            const bool in_asked = a != asked->keys.end() && (s == stored->keys.end() || a->position <= s->position);
            if (in_stored && in_asked && !same_bytes(s->key, a->key)) return same_position(s->key, a->key);
            const std::uint64_t position = in_stored ? s->position : a->position;
            sorted.push_back({position,
                              {in_stored ? stored->odds_of(s->count) : stored->unseen,
                               in_asked ? asked->odds_of(a->count) : asked->unseen}});
            if (in_stored) ++s;
            if (in_asked) ++a;
        }
        return from_sorted(*hash, unknown, sorted);
    });
}

}  // namespace genista
