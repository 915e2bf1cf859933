// oracle_training: one training function for each oracle. See oracle_model.hpp.
#include "genista/oracles/oracle_model.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "genista/hash/key.hpp"

namespace genista {
namespace {

using log_span = std::span<const key_view>;

constexpr std::size_t least_to_hold_out = 160;
constexpr std::uint32_t sketch_rows = 5;

// About every fifth draw, chosen at random: logs may repeat with any period.
bool is_kept_draw(std::size_t index, std::uint64_t seed) noexcept {
    std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15 + seed;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return scale(x ^ (x >> 31), 5) == 0;
}

// The odds of the chosen draws; if there are more than a profile needs, of an evenly spread part of
// them.
template <class Oracle, class Choose>
std::vector<key_odds> odds_of_draws(const Oracle& oracle, log_span log, Choose choose) {
    std::size_t chosen = 0, seen = 0;
    for (std::size_t i = 0; i < log.size(); ++i) chosen += choose(i, log[i]) ? 1U : 0U;
    const std::size_t stride = chosen / odds_profile::most_draws + 1;
    std::vector<key_odds> odds;
    for (std::size_t i = 0; i < log.size(); ++i) {
        if (choose(i, log[i]) && seen++ % stride == 0) odds.push_back(oracle.odds(log[i]));
    }
    return odds;
}

template <class Oracle, class Choose>
result<oracle_model> model_of(Oracle oracle, log_span inserts, log_span queries, bool is_held_out, Choose choose) {
    auto profile = odds_profile::make(odds_of_draws(oracle, inserts, choose), odds_of_draws(oracle, queries, choose));
    if (!profile) return profile.error();
    return oracle_model::make(any_oracle{std::move(oracle)}, *std::move(profile),
                              {inserts.size(), queries.size(), is_held_out});
}

result<oracle_model> train_score_model(const training_options& options, log_span inserts, log_span queries) {
    score_options with;
    with.weights = options.bytes;
    with.keys = options.keys;
    with.universe = options.universe;
    with.seed = options.seed;
    with.progress = options.progress;
    auto made = train_score(with, inserts, queries);
    if (!made) return made.error();
    options.chose(made->choice);
    const bool is_held_out = made->is_held_out;
    return model_of(std::move(made->oracle), inserts, queries, is_held_out,
                    [&](std::size_t, key_view key) { return !is_held_out || held_out(key, options.seed); });
}

std::vector<counted_key> counted(log_span log, bool holds_out, std::uint64_t seed) {
    std::vector<counted_key> taken;
    taken.reserve(log.size());
    for (std::size_t i = 0; i < log.size(); ++i) {
        if (!holds_out || !is_kept_draw(i, seed)) taken.push_back({log[i], 1});
    }
    return taken;
}

// Trains the oracles that count draws. `make` takes two lists of counted keys.
template <class Make>
result<oracle_model> train_counting(const training_options& options, log_span inserts, log_span queries, Make make) {
    const bool holds_out = std::min(inserts.size(), queries.size()) >= least_to_hold_out;
    const std::vector<counted_key> inserted = counted(inserts, holds_out, options.seed),
                                   queried = counted(queries, holds_out, options.seed);
    options.progress(0.2);
    auto oracle = make(inserted, queried);
    if (!oracle) return oracle.error();
    options.progress(0.8);
    return model_of(*std::move(oracle), inserts, queries, holds_out,
                    [&](std::size_t i, key_view) { return !holds_out || is_kept_draw(i, options.seed); });
}

hasher hash_of(std::uint64_t seed) noexcept {
    return hasher{hash_key::from_seed(seed)};
}

result<oracle_model> train_exact(const training_options& options, log_span inserts, log_span queries) {
    exact_oracle_options with;
    with.hash = hash_of(options.seed);
    with.universe = options.universe;
    return train_counting(options, inserts, queries, [&](const auto& inserted, const auto& queried) {
        return exact_oracle::from_counts(inserted, queried, with);
    });
}

template <class Oracle>
result<oracle_model> train_sketch(const training_options& options, log_span inserts, log_span queries) {
    sketch_oracle_options with;
    const sketch_shape shape{std::max<std::uint64_t>(1, options.bytes / (2 * sketch_rows * 4)), sketch_rows};
    with.stored = shape;
    with.asked = shape;
    with.hash = hash_of(options.seed);
    with.universe = options.universe;
    return train_counting(options, inserts, queries, [&](const auto& inserted, const auto& queried) {
        return Oracle::train(with, inserted, queried);
    });
}

result<oracle_model> train_one(const training_options& options, log_span inserts, log_span queries) {
    switch (options.kind) {
        case oracle_kind::score:
            return train_score_model(options, inserts, queries);
        case oracle_kind::exact:
            return train_exact(options, inserts, queries);
        case oracle_kind::count_min:
            return train_sketch<count_min_oracle>(options, inserts, queries);
        case oracle_kind::count_sketch:
            return train_sketch<count_sketch_oracle>(options, inserts, queries);
    }
    return error::make(error_code::invalid_argument, "oracle of kind %u: there is none",
                       static_cast<unsigned>(options.kind));
}

error no_memory_to_train(std::size_t draws) noexcept {
    return error::make(error_code::out_of_memory, "oracle model: no memory to train on %zu draws", draws);
}

// As many draws as a profile has, at evenly spread points of the cumulative odds (systematic
// sampling): every share is exact to one draw.
std::vector<key_odds> drawn(const exact_oracle& oracle, std::span<const weighted_key> list, std::uint64_t seed) {
    double sum = 0, until = 0;
    for (const weighted_key& each : list) sum += each.weight;
    const double step = sum / static_cast<double>(odds_profile::most_draws);
    double next = step * static_cast<double>(scale(seed * 0x9e3779b97f4a7c15, 1024)) / 1024;
    std::vector<key_odds> odds;
    for (const weighted_key& each : list) {
        until += each.weight;
        for (; next < until && odds.size() < odds_profile::most_draws; next += step)
            odds.push_back(oracle.odds(each.key));
    }
    return odds;
}

}  // namespace

std::string_view to_string(oracle_kind kind) noexcept {
    switch (kind) {
        case oracle_kind::score:
            return "score";
        case oracle_kind::exact:
            return "exact";
        case oracle_kind::count_min:
            return "count_min";
        case oracle_kind::count_sketch:
            return "count_sketch";
    }
    return "unknown";
}

result<oracle_model> train_model(const training_options& options, log_span inserts, log_span queries) noexcept {
    const bool is_chosen = options.bytes == training_options::chosen_bytes && options.kind == oracle_kind::score;
    if (!is_chosen && (options.bytes < training_options::min_bytes || options.bytes > training_options::max_bytes)) {
        return error::make(error_code::invalid_argument, "oracle model: %llu bytes are not in %llu..%llu",
                           static_cast<unsigned long long>(options.bytes),
                           static_cast<unsigned long long>(training_options::min_bytes),
                           static_cast<unsigned long long>(training_options::max_bytes));
    }
    if (inserts.empty() || queries.empty()) {
        return error::make(error_code::invalid_argument, "oracle model: the log of %s is empty",
                           inserts.empty() ? "inserts" : "queries");
    }
    try {
        auto made = train_one(options, inserts, queries);
        options.progress(1);
        return made;
    } catch (const std::bad_alloc&) {
        return no_memory_to_train(inserts.size() + queries.size());
    }
}

result<oracle_model> model_of_odds(std::span<const weighted_key> stored, std::span<const weighted_key> asked,
                                   std::uint64_t seed) noexcept {
    exact_oracle_options with;
    with.hash = hash_of(seed);
    auto oracle = exact_oracle::from_columns(stored, asked, with);
    if (!oracle) return oracle.error();
    try {
        auto profile = odds_profile::make(drawn(*oracle, stored, seed), drawn(*oracle, asked, seed));
        if (!profile) return profile.error();
        return oracle_model::make(any_oracle{*std::move(oracle)}, *std::move(profile),
                                  {stored.size(), asked.size(), true});
    } catch (const std::bad_alloc&) {
        return no_memory_to_train(stored.size() + asked.size());
    }
}

}  // namespace genista
