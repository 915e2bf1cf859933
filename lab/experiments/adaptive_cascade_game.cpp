// The ADAPTIVITY-GAME of the cascade. See adaptive_cascade.hpp.
#include <algorithm>
#include <array>

#include "genista/filters/bloom.hpp"
#include "lab/adversaries/adversary.hpp"
#include "lab/experiments/adaptive_cascade.hpp"
#include "lab/games/learning_arena.hpp"
#include "lab/games/local_arena.hpp"
#include "lab/statistics/binomial.hpp"

namespace genista::lab {
namespace {

// Stages are made for the bins of the broom filter. A cascade has none, and gets new hash functions
// after as many queries as it has keys. With about 1,000 keys it lives long enough to be attacked,
// and is small enough to be emptied and filled.
stage stage_for(const adversary& by) {
    if (by.plays_on.keys == many_bins.keys) return {20'000, 20'000};
    if (by.plays_on.keys == half_empty_bin.keys) return {1'000, 300};
    if (by.name == "fresh-crowded") return {1'000, 1'000};
    if (by.plays_on.keys == few_hundred.keys) return {1'000, 700};
    return {1'000, 900};  // room for adversaries that insert
}

struct cascade_verdict {
    std::uint64_t plausible = 0, plausible_guesses = 0;
    bool kept = false;
};

cascade_verdict judged_cascade(const score& seen, double rate) {
    cascade_verdict made{most_plausible_hits(seen.negatives, rate), most_plausible_hits(seen.guesses, rate), false};
    // An adversary that waits for an insert that costs a read waits for ever, and asks nothing.
    made.kept = seen.operations > 0 && seen.false_positives <= made.plausible &&
                seen.right_guesses <= made.plausible_guesses && seen.false_negatives == 0;
    return made;
}

score play_cascade(const adversary& by, double rate, std::uint64_t effort, std::uint64_t seed) {
    constexpr std::uint64_t games = 2;
    score seen;
    for (std::uint64_t game = 0; game < games; ++game) {
        const std::uint64_t own_seed = seed * 1000 + game;
        const stage on = stage_for(by);
        index_arena<cascade_filter> at{cascade_options{.capacity = on.capacity,
                                                       .false_positive_rate = rate,
                                                       .hash = hasher{hash_key::from_seed(own_seed)},
                                                       .random = repeatable(own_seed)}};
        fill(at, on.keys);
        by.play(at, {.queries = effort / games, .seed = own_seed, .progress = [](double) {}});
        seen += at.counted();
    }
    return seen;
}

}  // namespace

cascade_game play_cascade_game(double rate, std::uint64_t effort, std::uint64_t seed, nlohmann::json& series) {
    cascade_game made;
    made.rate = rate;
    for (const adversary& by : all_adversaries()) {
        if (by.name == "growth-replay") continue;  // it does not grow
        const score seen = play_cascade(by, rate, effort, ++seed);
        const cascade_verdict judged = judged_cascade(seen, rate);
        made.all += seen;
        if (!judged.kept) made.won_by.append(made.won_by.empty() ? "" : ", ").append(by.name);
        series.push_back({{"adversary", by.name},
                          {"rate", rate},
                          {"keys", stage_for(by).keys},
                          {"negatives", seen.negatives},
                          {"false_positives", seen.false_positives},
                          {"most_plausible", judged.plausible},
                          {"guesses", seen.guesses},
                          {"right_guesses", seen.right_guesses},
                          {"most_plausible_guesses", judged.plausible_guesses},
                          {"false_negatives", seen.false_negatives},
                          {"operations", seen.operations},
                          {"range_reads", seen.reads},
                          {"kept", judged.kept}});
    }
    made.kept = made.won_by.empty() && made.all.negatives >= trials_for(rate) && judged_cascade(made.all, rate).kept;

    // FIX switched off: a filter that never learns, under the adversaries that only repeat queries.
    constexpr std::array repeaters{"repeat-one", "pool-replay", "rounds"};
    for (const char* name : repeaters) {
        local_arena<bloom_filter> at{
            {.capacity = 1'000, .false_positive_rate = rate, .hash = hasher{hash_key::from_seed(seed)}}};
        fill(at, 1'000);
        find_adversary(name)->play(at, {.queries = 50'000, .seed = seed, .progress = [](double) {}});
        const score seen = at.counted();
        const bool lost = seen.right_guesses > most_plausible_hits(seen.guesses, rate);
        made.control_lost = made.control_lost && lost;
        made.control.append(made.control.empty() ? "" : "; ")
            .append(name)
            .append(": ")
            .append(std::to_string(seen.right_guesses))
            .append(" of ")
            .append(std::to_string(seen.guesses))
            .append(" claims right");
    }
    return made;
}

}  // namespace genista::lab
