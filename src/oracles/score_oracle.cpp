// score_oracle: scores, and models as snapshots. See score_oracle.hpp; training is in
// score_training.cpp.
#include "genista/oracles/score_oracle.hpp"

#include <array>
#include <cmath>
#include <new>

#include "genista/detail/format/snapshot.hpp"
#include "oracles/score_ngrams.hpp"

namespace genista {
namespace {

constexpr std::uint16_t score_oracle_version = 1;

// Checks I2 of the header, and everything that odds() relies on.
[[nodiscard]] result<void> check_numbers(const score_oracle::parts& made) noexcept {
    const std::size_t weights = made.weights.size();
    if (weights < score_oracle::min_weights || weights > score_oracle::max_weights) {
        return error::make(error_code::invalid_argument, "score model: %zu weights are not in %llu..%llu", weights,
                           static_cast<unsigned long long>(score_oracle::min_weights),
                           static_cast<unsigned long long>(score_oracle::max_weights));
    }
    if (made.longest_ngram == 0 || made.longest_ngram > score_oracle::max_ngram) {
        return error::make(error_code::invalid_argument, "score model: n-grams of up to %u bytes are not in 1..%u",
                           made.longest_ngram, score_oracle::max_ngram);
    }
    if (!(made.universe >= score_oracle::min_universe && made.universe <= score_oracle::max_universe)) {
        return error::make(error_code::invalid_argument, "score model: a universe of %g keys is not in %g..%g",
                           made.universe, score_oracle::min_universe, score_oracle::max_universe);
    }
    if (made.odds.empty() || made.odds.size() > score_oracle::max_bins || made.cuts.size() + 1 != made.odds.size()) {
        return error::make(error_code::invalid_argument,
                           "score model: %zu bins with %zu cuts; 1..%zu bins have one cut less", made.odds.size(),
                           made.cuts.size(), score_oracle::max_bins);
    }
    return {};
}

[[nodiscard]] result<void> check_bins(const score_oracle::parts& made) noexcept {
    for (std::size_t i = 1; i < made.cuts.size(); ++i) {
        if (made.cuts[i - 1] >= made.cuts[i])
            return error::make(error_code::invalid_argument, "score model: cut %zu is no larger than the one before",
                               i);
    }
    const double bin_keys = made.universe / static_cast<double>(made.odds.size());
    double stored = 0, asked = 0;
    for (std::size_t b = 0; b < made.odds.size(); ++b) {
        const auto [p, q] = made.odds[b];
        if (!(p > 0 && q > 0 && p <= 1 && q <= 1)) {
            return error::make(error_code::invalid_argument,
                               "score model: the odds %g and %g of bin %zu are not in (0, 1]", p, q, b);
        }
        if (b > 0 && q * made.odds[b - 1].stored > made.odds[b - 1].asked * p) {
            return error::make(error_code::invalid_argument,
                               "score model: bin %zu is asked for more than the one before it, for what it stores", b);
        }
        stored += p * bin_keys;
        asked += q * bin_keys;
    }
    if (!(std::abs(stored - 1) <= 0.01 && std::abs(asked - 1) <= 0.01)) {
        return error::make(error_code::invalid_argument,
                           "score model: its odds sum to %g (stored) and %g (asked), which is not within 1%% of one",
                           stored, asked);
    }
    return {};
}

[[nodiscard]] score_oracle::parts read_parts(const snapshot_view& view, unsigned longest, double universe) {
    score_oracle::parts made;
    made.longest_ngram = longest;
    made.universe = universe;
    made.weights.reserve(view.sections[0].size());
    for (const std::byte b : view.sections[0])
        made.weights.push_back(static_cast<std::int8_t>(std::to_integer<std::uint8_t>(b)));
    made.cuts.reserve(view.sections[1].size() / sizeof(std::int32_t));
    made.odds.reserve(view.sections[2].size() / sizeof(key_odds));
    for (field_reader cuts{view.sections[1]}; cuts.remaining_bytes() > 0;)
        made.cuts.push_back(static_cast<std::int32_t>(cuts.u32()));
    for (field_reader odds{view.sections[2]}; odds.remaining_bytes() > 0;) {
        const double p = odds.f64();
        made.odds.push_back({p, odds.f64()});
    }
    return made;
}

}  // namespace

result<score_oracle> score_oracle::make(parts made) noexcept {
    if (const auto fine = check_numbers(made); !fine) return fine.error();
    if (const auto fine = check_bins(made); !fine) return fine.error();
    return score_oracle{std::move(made)};
}

std::int32_t score_oracle::score(key_view key) const noexcept {
    // At most 258 × 8 terms of at most 128: far from an overflow.
    std::int32_t sum = 0;
    const std::int8_t* const weights = parts_.weights.data();
    each_ngram(key, parts_.longest_ngram, parts_.weights.size(), [&](std::size_t at) { sum += weights[at]; });
    return sum;
}

key_odds score_oracle::shares(std::size_t bin) const noexcept {
    const double bin_keys = parts_.universe / static_cast<double>(bins());
    return {parts_.odds[bin].stored * bin_keys, parts_.odds[bin].asked * bin_keys};
}

double score_oracle::divergence_bits() const noexcept {
    double sum = 0;
    for (std::size_t b = 0; b < bins(); ++b) {
        const auto [stored, asked] = shares(b);
        sum += stored * std::log2(stored / asked);
    }
    return sum;
}

std::uint64_t score_oracle::memory_bytes() const noexcept {
    return sizeof *this + parts_.weights.capacity() + parts_.cuts.capacity() * sizeof(std::int32_t) +
           parts_.odds.capacity() * sizeof(key_odds);
}

result<void> score_oracle::save(sink& out) const noexcept {
    const snapshot_info info{.kind = snapshot_kind::score_oracle, .kind_version = score_oracle_version};
    field_writer fields;
    fields.u64(weights()).u32(parts_.longest_ngram).u32(static_cast<std::uint32_t>(bins())).f64(parts_.universe);
    // Both lists are short: at most 63 and 64 entries.
    field_writer cuts, odds;
    for (const std::int32_t cut : parts_.cuts) cuts.u32(static_cast<std::uint32_t>(cut));
    for (const auto& [p, q] : parts_.odds) odds.f64(p).f64(q);
    const std::array sections = {std::as_bytes(std::span{parts_.weights}), cuts.view(), odds.view()};
    return write_snapshot(out, info, fields.view(), sections);
}

result<score_oracle> score_oracle::load(std::span<const std::byte> bytes) noexcept {
    const auto view = open_snapshot_as(snapshot_kind::score_oracle, score_oracle_version, 3, bytes);
    if (!view) return view.error();
    field_reader fields{view->parameters};
    const std::uint64_t weights = fields.u64();
    const std::uint32_t longest = fields.u32(), bins = fields.u32();
    const double universe = fields.f64();
    if (!fields.finished() || bins == 0 || bins > max_bins || weights > max_weights ||
        view->sections[0].size() != weights || view->sections[1].size() != (bins - 1) * sizeof(std::uint32_t) ||
        view->sections[2].size() != bins * 2 * sizeof(double)) {
        return error::make(error_code::corrupt, "score snapshot: %llu weights and %u bins do not fit its sections",
                           static_cast<unsigned long long>(weights), bins);
    }
    if (view->info != snapshot_info{.kind = snapshot_kind::score_oracle, .kind_version = score_oracle_version})
        return error::make(error_code::corrupt, "score snapshot with a hash key or a store, neither of which it has");
    try {
        auto made = make(read_parts(*view, longest, universe));
        if (!made) {
            const std::string_view why = made.error().message();
            return error::make(error_code::corrupt, "%.*s", static_cast<int>(why.size()), why.data());
        }
        return made;
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "score model: no memory for %llu weights",
                           static_cast<unsigned long long>(weights));
    }
}

}  // namespace genista
