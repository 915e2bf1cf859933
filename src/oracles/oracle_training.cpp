// One function for each oracle. See oracle_training.hpp.
#include "genista/oracles/oracle_training.hpp"

#include <new>
#include <vector>

#include "genista/oracles/score_training.hpp"

namespace genista {
namespace {

using log_span = std::span<const key_view>;

// The odds of the chosen draws, or of no more than a profile needs of them, evenly spread.
template <class Oracle, class Choose>
std::vector<key_odds> odds_of(const Oracle& oracle, log_span log, Choose choose) {
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
    auto profile = odds_profile::make(odds_of(oracle, inserts, choose), odds_of(oracle, queries, choose));
    if (!profile) return profile.error();
    return oracle_model::make(any_oracle{std::move(oracle)}, *std::move(profile),
                              {inserts.size(), queries.size(), is_held_out});
}

result<oracle_model> train_score_model(const training_options& options, log_span inserts, log_span queries) {
    score_options with;
    with.weights = options.bytes;
    with.universe = options.universe;
    with.seed = options.seed;
    with.progress = options.progress;
    auto made = train_score(with, inserts, queries);
    if (!made) return made.error();
    const bool is_held_out = made->is_held_out;
    return model_of(std::move(made->oracle), inserts, queries, is_held_out,
                    [&](std::size_t, key_view key) { return !is_held_out || held_out(key, options.seed); });
}

}  // namespace

std::string_view to_string(oracle_kind kind) noexcept {
    switch (kind) {
        case oracle_kind::score:
            return "score";
    }
    return "unknown";
}

result<oracle_model> train_model(const training_options& options, log_span inserts, log_span queries) noexcept {
    try {
        switch (options.kind) {
            case oracle_kind::score:
                return train_score_model(options, inserts, queries);
        }
        return error::make(error_code::invalid_argument, "oracle of kind %u: there is none",
                           static_cast<unsigned>(options.kind));
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "oracle model: no memory to train on %zu draws",
                           inserts.size() + queries.size());
    }
}

}  // namespace genista
