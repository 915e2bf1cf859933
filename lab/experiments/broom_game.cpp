// broom-game: does the broom filter keep its rate in the ADAPTIVITY-GAME [broom18 Def. 3, Fig. 1, Lemmas 4, 13]?
//
// Every adversary of the lab plays against the filter at ε = 2^-8 and 2^-12, on the stage where it is strongest (often
// a single bin), in several games with hash keys of their own. Judged by the rule for rates (docs/papers.md), for each
// adversary: all its queries of absent keys, and by themselves those on which it staked its claim; and the sum over all
// adversaries. The controls (lab/controls) lack one rule each and must lose to the same adversaries.
//
// --filter broom_paper plays against the structure of the text, with the adversaries whose pairs of keys its proof counts; the
// others are broom-gap's.
//
// Sample: quick at least 10^4/ε queries at 2^-8 in the sum, else at both rates. False alarm: at most 10^-9 for each of
// about 90 judgements. Smallest lie caught: 10 % above ε at 99.9 % in the sum, as for any such sample; what an attack
// hides in few claims follows from their number, which the series has, and the controls show how far beyond it a real
// hole lies.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "genista/filters/broom.hpp"
#include "genista/filters/broom_paper.hpp"
#include "lab/adversaries/adversary.hpp"
#include "lab/controls/controls.hpp"
#include "lab/experiments/experiments.hpp"
#include "lab/games/broom_arena.hpp"
#include "lab/games/index_arena.hpp"
#include "lab/statistics/binomial.hpp"

namespace genista::lab {
namespace {

struct game_plan {
    double rate;
    std::uint64_t effort;  // of each adversary, in queries
};

struct game_played {
    const adversary* by;
    double rate;
    std::uint64_t bins = 0;
    score seen;
    double local_bits_per_key = 0;  // when the last game was over

    [[nodiscard]] std::uint64_t plausible() const noexcept { return most_plausible_hits(seen.negatives, rate); }
    [[nodiscard]] std::uint64_t plausible_guesses() const noexcept { return most_plausible_hits(seen.guesses, rate); }
    // An adversary that never sees its chance makes no claim; one that never asked has not played, which is no success.
    [[nodiscard]] bool kept() const noexcept {
        return seen.negatives > 0 && seen.false_positives <= plausible() && seen.right_guesses <= plausible_guesses() &&
               seen.false_negatives == 0;
    }
};

template <class Arena, class Options>
void play_on(game_played& out, Options options, const adversary& by, const game_plan& p, const budget& spends) {
    options.false_positive_rate = p.rate;
    options.hash = hasher{hash_key::from_seed(spends.seed)};
    options.repeatable = spends.seed;
    Arena at{options};
    out.bins = at.bins();
    fill(at, by.plays_on.keys);
    by.play(at, spends);
    out.seen += at.counted();
    out.rate = at.rate();
    out.local_bits_per_key =
        8 * static_cast<double>(at.filter().stats().local_bytes) / static_cast<double>(at.size() + (at.size() == 0));
}

// The broom filter takes more keys than it was made for, in backyards; broom_paper does not. These adversaries bring some in.
std::uint64_t room_for(const adversary& by) {
    const bool brings_members = by.name == "exclusion" || by.name == "backyard-probing";
    return brings_members ? by.plays_on.keys : 0;
}

game_played play_adversary(const adversary& by, const game_plan& p, int games, std::uint64_t seed,
                           bool as_in_the_text) {
    game_played out{.by = &by, .rate = p.rate, .seen = {}};
    for (int game = 0; game < games; ++game) {
        const budget spends{.queries = p.effort / static_cast<std::uint64_t>(games),
                            .seed = seed * 1000 + static_cast<std::uint64_t>(game),
                            .progress = [](double) {}};
        if (as_in_the_text) {
            broom_paper_options options;
            options.capacity = std::max(by.plays_on.capacity, by.plays_on.keys) + room_for(by);
            play_on<index_arena<broom_paper_filter>>(out, options, by, p, spends);
        } else {
            broom_options options;
            options.capacity = by.plays_on.capacity;
            options.grows = by.plays_on.keys <= by.plays_on.capacity && by.plays_on.capacity > few_bins.capacity;
            play_on<broom_arena<broom_filter>>(out, options, by, p, spends);
        }
    }
    return out;
}

// broom_paper's guarantee speaks of pairs of keys that were asked together, or never met; and it does not grow.
bool is_considered(const adversary& by, bool as_in_the_text) {
    return !as_in_the_text || (!by.uses_history_of_others && by.name != "growth-replay");
}

nlohmann::json game_row(const game_played& p) {
    return {{"adversary", p.by->name},
            {"idea", p.by->idea},
            {"rate", p.rate},
            {"keys", p.by->plays_on.keys},
            {"bins", p.bins},
            {"negatives", p.seen.negatives},
            {"false_positives", p.seen.false_positives},
            {"most_plausible", p.plausible()},
            {"guesses", p.seen.guesses},
            {"right_guesses", p.seen.right_guesses},
            {"most_plausible_guesses", p.plausible_guesses()},
            {"false_negatives", p.seen.false_negatives},
            {"operations", p.seen.operations},
            {"range_reads", p.seen.reads},
            {"local_bits_per_key", p.local_bits_per_key},
            {"kept", p.kept()}};
}

// A control loses where its attacker wins.
nlohmann::json control_row(const control_outcome& c) {
    nlohmann::json made{{"guesses", c.played.guesses}, {"right", c.played.right_guesses}, {"lost", c.won}};
    if (!c.must_win) made["only_reported"] = true;
    if (!c.note.empty()) made["note"] = c.note;
    return made;
}

std::string formatted(const char* format, double value) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, format, value);
    return buffer;
}

// All adversaries at one rate, and what the sum says.
struct game_summary {
    score all;
    bool kept = true;
    std::string measured;
};

game_summary play_all_adversaries(const game_plan& p, int games, const run_options& options, double first, double share,
                                  nlohmann::json& series) {
    game_summary sum;
    double bits = 0;
    std::size_t playing = 0;
    const bool as_in_the_text = options.filter == broom_paper_filter::name;
    const double count = static_cast<double>(all_adversaries().size());
    std::string broken;
    for (std::size_t i = 0; i < all_adversaries().size(); ++i) {
        const adversary& by = all_adversaries()[i];
        if (!is_considered(by, as_in_the_text)) continue;
        ++playing;
        const game_played one = play_adversary(by, p, games, options.seed + i, as_in_the_text);
        sum.all += one.seen;
        if (!one.kept()) broken += (broken.empty() ? " Won by " : ", ") + std::string{by.name};
        if (by.plays_on.keys == many_bins.keys) bits = std::max(bits, one.local_bits_per_key);
        series.push_back(game_row(one));
        options.progress(first + share * static_cast<double>(i + 1) / count);
    }
    const bool enough = options.quick && p.rate < 0x1p-8 ? true : sum.all.negatives >= trials_for(p.rate);
    sum.kept = broken.empty() && enough && sum.all.false_positives <= most_plausible_hits(sum.all.negatives, p.rate) &&
               bits >= std::log2(1 / p.rate);
    const auto rate_of = [](std::uint64_t hits, std::uint64_t trials) {
        return formatted("%.5f %%", trials == 0 ? 0 : 100 * static_cast<double>(hits) / static_cast<double>(trials));
    };
    sum.measured = "at " + formatted("%.5f %%", 100 * p.rate) + ": " +
                   rate_of(sum.all.false_positives, sum.all.negatives) + " of " + std::to_string(sum.all.negatives) +
                   " queries and " + rate_of(sum.all.right_guesses, sum.all.guesses) + " of " +
                   std::to_string(sum.all.guesses) + " claims of " + std::to_string(playing) + " adversaries, " +
                   std::to_string(sum.all.false_negatives) + " false negatives, " + formatted("%.2f", bits) +
                   " local bits a key under attack (the least possible is " + formatted("%.0f", std::log2(1 / p.rate)) +
                   ")." + (broken.empty() ? "" : broken + ".") + (enough ? "" : " Too few queries.");
    return sum;
}

}  // namespace

result<outcome> run_broom_game(const run_options& options) try {
    if (!options.filter.empty() && options.filter != broom_filter::name && options.filter != broom_paper_filter::name) {
        return error::make(error_code::invalid_argument, "filter %s: broom-game knows broom and broom_paper",
                           options.filter.c_str());
    }
    const game_plan coarse{0x1p-8, options.quick ? 2'000'000u : 30'000'000u};
    const game_plan fine{0x1p-12, options.quick ? 2'000'000u : 50'000'000u};
    const int games = options.quick ? 2 : 4;
    outcome out;
    const game_summary at_coarse = play_all_adversaries(coarse, games, options, 0, 0.3, out.series);
    const game_summary at_fine = play_all_adversaries(fine, games, options, 0.3, 0.4, out.series);

    const auto controls = play_controls({.seed = options.seed,
                                         .effort = 1,
                                         .progress = [&](double share) { options.progress(0.7 + 0.3 * share); },
                                         .only = {}});
    bool controls_lost = true;
    nlohmann::json lost;
    for (const control_outcome& each : controls) {
        controls_lost = controls_lost && (each.won || !each.must_win);
        lost[each.name + " to " + each.attack] = control_row(each);
    }

    out.promised =
        "whatever an adversary has seen, each query of an absent key is a false positive with probability at most ε, "
        "and "
        "each of its claims; no member is ever denied; local state of at least n log(1/ε) bits";
    out.measured = at_coarse.measured + " " + at_fine.measured;
    out.kept = at_coarse.kept && at_fine.kept && controls_lost;
    out.control = {{"what", "filters that lack one rule each, or learn nothing, must lose to the same adversaries"},
                   {"played", lost},
                   {"lost_as_they_must", controls_lost}};
    out.parameters = {{"filter", options.filter.empty() ? broom_filter::name : std::string_view{options.filter}},
                      {"seed", options.seed},
                      {"quick", options.quick},
                      {"games_for_each_adversary", games},
                      {"effort_for_each_adversary", {{"2^-8", coarse.effort}, {"2^-12", fine.effort}}},
                      {"effort_of_an_insert_or_erase", change_effort}};
    return out;
} catch (const std::runtime_error& failed) {
    return error::make(error_code::unsupported, "broom-game: %s", failed.what());
}

}  // namespace genista::lab
