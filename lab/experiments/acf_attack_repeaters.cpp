// acf-attack-cyclic and acf-attack-swapping: with enough candidates, each asked as often as the
// filter has choices, one is a false positive for ever [acf Thms 9, 10].
//
// An absent key collides with a given stored key under all 2^s selectors (in all b slots of the
// bin) with probability 2^(-f 2^s) (2^(-b f)), and a look-up meets k b stored keys at the load: the
// candidates are chosen so that one is expected, which finds it in 1 - 1/e of all games. Promised:
// at least half of 200 games are won. (The empty fingerprint is no value, so it is a little
// easier.)
//
// In every row: the plain cuckoo filter, which must lose every game; the cuckooing filter,
// reported; and the broom filter, which must stay at ε = 2^-8 by the rule for rates, over all
// queries and over the claims.
#include <cmath>

#include "lab/adversaries/acf_attacks.hpp"
#include "lab/experiment.hpp"
#include "lab/experiments/acf_attack.hpp"

namespace genista::lab {
namespace {

struct repeater_target {
    const char* filter;
    unsigned fingerprint_bits;
    unsigned repeats;  // how often a candidate is asked: 2^s; for swapping more than b
    std::uint64_t candidates;
    unsigned quick_games;  // fewer where a game is long and nearly always won
};
// The paper's Θ(b / ε^b) queries: so many that chance collisions with fewer slots than b have
// ended.
constexpr unsigned swapping_repeats = 32;
constexpr repeater_target cyclic_targets[] = {
    {"cyclic1", 8, 2, 17'300, 30}, {"cyclic2", 6, 4, 4'420'000, 20}, {"cyclic3", 3, 8, 4'420'000, 8}};
constexpr repeater_target swapping_targets[] = {{"swapping", 4, swapping_repeats, 8'630, 30},
                                                {"swapping", 6, swapping_repeats, 2'210'000, 20}};

constexpr std::uint64_t repeater_keys = 10'000;

struct row_plan {
    std::string filter;
    unsigned games;
};

outcome measure_repeaters(const char* promised, std::span<const repeater_target> targets, const run_options& options) {
    outcome out;
    bool kept = true, control_lost = true;
    std::string measured;
    double done = 0;
    for (const repeater_target& against : targets) {
        const bool long_games = against.candidates > 100'000;
        const unsigned games = options.quick ? against.quick_games : 200;
        // A filter that loses at once, or that is judged by its queries, needs fewer.
        const unsigned others = options.quick ? (long_games ? 2 : 4) : (long_games ? 8 : 200);
        std::vector<row_plan> rows{
            {against.filter, games}, {"cuckoo", others}, {"cuckooing", others}, {"broom", others}};
        if (!options.filter.empty()) rows = {{options.filter, others}};
        for (const row_plan& row : rows) {
            contender_plan plan;
            plan.keys = repeater_keys;
            plan.fingerprint_bits = against.fingerprint_bits;
            plan.rate = attacked_broom_rate;
            plan.seed = options.seed;
            const attack_games played = play_games(
                row.filter, plan, row.games,
                [&](arena& at, std::uint64_t) {
                    return find_repeater(at, {.candidates = against.candidates, .repeats = against.repeats});
                },
                [&](double share) {
                    options.progress((done + share) / static_cast<double>(targets.size() * rows.size()));
                });
            ++done;
            nlohmann::json line = played.row();
            line["against"] = against.filter;
            line["candidates"] = against.candidates;
            line["repeats"] = against.repeats;
            out.series.push_back(line);
            if (row.filter == against.filter) {
                kept = kept && played.win_share() >= least_win_share && played.seen.false_negatives == 0;
                measured += std::string{measured.empty() ? "" : "; "}
                                .append(against.filter)
                                .append(" f=")
                                .append(std::to_string(against.fingerprint_bits))
                                .append(": won ")
                                .append(std::to_string(played.wins))
                                .append(" of ")
                                .append(std::to_string(played.games));
            } else if (row.filter == "cuckoo") {
                control_lost = control_lost && played.win_share() >= 0.99;
            } else if (row.filter == "broom") {
                kept = kept && played.stays_at_rate();
                measured += std::string{", broom "}
                                .append(shown(100 * static_cast<double>(played.seen.false_positives) /
                                              static_cast<double>(played.seen.negatives)))
                                .append(" % of ")
                                .append(std::to_string(played.seen.negatives))
                                .append(" queries, won ")
                                .append(std::to_string(played.wins));
            }
        }
    }
    out.promised = promised;
    out.measured = measured.empty() ? "the filter named was played against; nothing is promised about it" : measured;
    out.kept = kept && control_lost;
    out.control = {{"what", "the plain cuckoo filter, which never learns, must lose every game"},
                   {"lost_as_it_must", control_lost}};
    out.parameters = {{"keys", repeater_keys}, {"load", 0.95}, {"broom_rate", attacked_broom_rate}};
    return out;
}

outcome measure_cyclic_repeaters(const run_options& options) {
    return measure_repeaters(
        "about 2^(f 2^s) / (k load) candidates win at least half of the games against a cyclic filter with s selector "
        "bits; the broom filter stays at ε under the same attack",
        cyclic_targets, options);
}

outcome measure_swapping_repeaters(const run_options& options) {
    return measure_repeaters(
        "about 2^(b f) / (k b load) candidates win at least half of the games against a swapping filter; the broom "
        "filter stays at ε under the same attack",
        swapping_targets, options);
}

const registration acf_attack_cyclic_experiment(
    "acf-attack-cyclic", 404,
    "With enough candidates an adversary finds keys that a cyclic filter can never repair all at the same time.",
    "acf Thm 9", measure_cyclic_repeaters, {.quick_seconds = 27, .full_minutes = 10}, {.opponents = all_contenders});

const registration acf_attack_swapping_experiment("acf-attack-swapping", 405, "The same for the swapping filter.",
                                                  "acf Thm 10", measure_swapping_repeaters,
                                                  {.quick_seconds = 13, .full_minutes = 10},
                                                  {.opponents = all_contenders});

}  // namespace
}  // namespace genista::lab
