// broom-game: does the broom filter keep its rate in the ADAPTIVITY-GAME [broom18 Def. 3, Fig. 1,
// Lemmas 4, 13]?
//
// Every adversary of the lab plays against the filter at ε = 2^-8 and 2^-12, on the stage where it
// is strongest (often a single bin), in several games with hash keys of their own. Judged by the
// rule for rates (docs/papers.md), for each adversary: all its queries of absent keys, and
// separately those on which it staked its claim; and the sum over all adversaries. The controls
// (lab/controls) lack one rule each and must lose to the same adversaries.
//
// Then the same at 2^-8 against the filter as a user gets it: with a key of its own and an unsalted
// first epoch, erases with `assume_present`, in bulk and by halves (`forget`), keys of 15, 16 and
// 60 bytes, a memory limit; and in all of them the adversaries of refused inserts, failing range
// reads, restores and copies. An adversary that makes no claim in a game did not play it, which
// does not count as kept; the adversaries of failures have to play, or the experiment is not kept.
//
// Last, the bound from both sides: bins with 48 slots and 64 entries, nothing adapted, must have
// false positives for C/N + K/2^d of all absent keys, within 3 %. With 10^7 queries the standard
// deviation is 0.5 %.
//
// --filter broom_paper plays against the structure of the paper, with the adversaries whose pairs
// of keys its proof counts; broom-gap has the others.
//
// Sample: quick at least 10^4/ε queries at 2^-8 in the sum, else at both rates. False alarm: at
// most 10^-9 for each of about 90 judgements. Smallest defect detected: 10 % above ε at 99.9 % in
// the sum, as for any such sample; the series has the number of claims, from which the smallest
// defect in few claims follows, and the controls show how far beyond it real defects are.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "genista/filters/broom.hpp"
#include "lab/adversaries/adversary.hpp"
#include "lab/controls/controls.hpp"
#include "lab/experiment.hpp"
#include "lab/games/learning_arena.hpp"
#include "lab/statistics/binomial.hpp"
#include "papers/broom_paper.hpp"

namespace genista::lab {
namespace {

struct game_plan {
    double rate;
    std::uint64_t effort;  // of each adversary, in queries
};

struct game_played {
    const adversary* by;
    double rate;
    std::string_view called = "as before";  // how a user calls the filter
    std::uint64_t bins = 0;
    score seen;
    double local_bits_per_key = 0;  // when the last game was over

    [[nodiscard]] std::uint64_t plausible() const noexcept { return most_plausible_hits(seen.negatives, rate); }
    [[nodiscard]] std::uint64_t plausible_guesses() const noexcept { return most_plausible_hits(seen.guesses, rate); }
    [[nodiscard]] bool broken() const noexcept {
        return seen.false_positives > plausible() || seen.right_guesses > plausible_guesses() ||
               seen.false_negatives != 0 || seen.unrepaired != 0;
    }
    // An adversary without an opportunity makes no claim.
    [[nodiscard]] bool played() const noexcept { return seen.guesses > 0; }
    [[nodiscard]] std::string_view verdict() const noexcept {
        return broken() ? "broken" : played() ? "kept" : "did not play";
    }
};

// As a user gets it.
struct game_mode {
    std::string_view name;
    calling_ways ways{.failures_are_counted = true};
    bool new_key = true;  // of its own: the first epoch has no salt
    bool limited = false;
};

using erases = calling_ways::erases;
constexpr game_mode former_mode{"with a key that was used before", {.failures_are_counted = true}, false};
constexpr std::array user_modes{
    game_mode{"by default"},
    game_mode{"with erases with `assume_present`", {8, erases::assume_present, true}},
    game_mode{"with erases in bulk", {8, erases::in_bulk, true}},
    game_mode{"with erases by halves", {8, erases::by_halves, true}},
    game_mode{"with keys of 15 bytes", {15, erases::alone, true}},
    game_mode{"with keys of 16 bytes", {16, erases::alone, true}},
    game_mode{"with keys of 60 bytes", {60, erases::assume_present, true}},
    game_mode{"at a memory limit", {8, erases::alone, true}, true, true},
};

// The smallest limit with which such a filter can be made.
std::uint64_t least_limit(broom_options options) {
    options.memory_limit = must(broom_filter::make(options)).stats().local_bytes;
    while (!broom_filter::make(options)) *options.memory_limit += 256;
    return *options.memory_limit;
}

template <class Arena, class Options>
void play_on(game_played& out, Options options, const adversary& by, const game_plan& p, const budget& spends,
             const game_mode& mode) {
    options.false_positive_rate = p.rate;
    options.hash = hasher{hash_key::from_seed(spends.seed)};
    options.random = repeatable(spends.seed);
    if constexpr (requires { options.key_is_new; }) {
        options.key_is_new = mode.new_key;
        if (mode.limited) options.memory_limit = least_limit(options);
    }
    Arena at{options, mode.ways};
    out.called = mode.name;
    out.bins = at.bins();
    if (mode.limited) {
        for (std::uint64_t key = 0; key < by.plays_on.keys; ++key) (void)at.try_insert(key);
    } else {
        fill(at, by.plays_on.keys);
    }
    by.play(at, spends);
    out.seen += at.counted();
    out.rate = at.rate();
    out.local_bits_per_key =
        8 * static_cast<double>(at.filter().stats().local_bytes) / static_cast<double>(at.size() + (at.size() == 0));
}

// The broom filter takes more keys than it was made for, in backyards; broom_paper does not. These
// adversaries insert some.
std::uint64_t room_for(const adversary& by) {
    const bool brings_members = by.name == "exclusion" || by.name == "backyard-probing";
    return brings_members ? by.plays_on.keys : 0;
}

game_played play_adversary(const adversary& by, const game_plan& p, int games, std::uint64_t seed, bool as_in_the_text,
                           const game_mode& mode) {
    game_played out{.by = &by, .rate = p.rate, .seen = {}};
    for (int game = 0; game < games; ++game) {
        const budget spends{.queries = p.effort / static_cast<std::uint64_t>(games),
                            .seed = seed * 1000 + static_cast<std::uint64_t>(game),
                            .progress = [](double) {}};
        if (as_in_the_text) {
            broom_paper_options options;
            options.capacity = std::max(by.plays_on.capacity, by.plays_on.keys) + room_for(by);
            play_on<index_arena<broom_paper_filter>>(out, options, by, p, spends, mode);
        } else {
            broom_options options;
            options.capacity = by.plays_on.capacity;
            options.grows = by.plays_on.keys <= by.plays_on.capacity && by.plays_on.capacity > few_bins.capacity;
            play_on<broom_arena<broom_filter>>(out, options, by, p, spends, mode);
        }
    }
    return out;
}

// broom_paper's guarantee is about pairs of keys that were asked together, or never met; and it
// neither grows nor has snapshots.
bool is_considered(const adversary& by, bool as_in_the_text) {
    return !as_in_the_text || (!by.uses_history_of_others && by.name != "growth-replay" && by.name != "restart-replay");
}

nlohmann::json game_row(const game_played& p) {
    return {{"adversary", p.by->name},
            {"idea", p.by->idea},
            {"called", p.called},
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
            {"unrepaired", p.seen.unrepaired},
            {"verdict", p.verdict()}};
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

using progress_share = std::function<void(double)>;

// Adversaries that made a claim in some game.
using claimants = std::set<std::string_view>;

// All adversaries at one rate and in one mode, and their sum.
struct game_summary {
    score all;
    bool kept = true;
    std::string measured;
};

std::string percent(std::uint64_t hits, std::uint64_t trials) {
    return formatted("%.5f %%", trials == 0 ? 0 : 100 * static_cast<double>(hits) / static_cast<double>(trials));
}

game_summary play_all_adversaries(const game_plan& p, int games, const run_options& options, const game_mode& mode,
                                  const progress_share& progress, nlohmann::json& series, claimants& played) {
    game_summary sum;
    double bits = 0;
    std::size_t playing = 0;
    const bool as_in_the_text = options.filter == broom_paper_filter::name;
    std::vector<const adversary*> considered;
    for (const adversary& by : all_adversaries()) {
        if (is_considered(by, as_in_the_text)) considered.push_back(&by);
    }
    if (!as_in_the_text) {
        for (const adversary& by : failure_adversaries()) considered.push_back(&by);
    }
    std::string broken;
    for (const adversary* const by : considered) {
        const game_played one = play_adversary(*by, p, games, options.seed + playing, as_in_the_text, mode);
        ++playing;
        sum.all += one.seen;
        if (one.played()) played.insert(by->name);
        if (one.broken()) broken += (broken.empty() ? " Won by " : ", ") + std::string{by->name};
        if (by->plays_on.keys == many_bins.keys) bits = std::max(bits, one.local_bits_per_key);
        series.push_back(game_row(one));
        progress(static_cast<double>(playing) / static_cast<double>(considered.size()));
    }
    const bool counts = &mode == &former_mode && !(options.quick && p.rate < 0x1p-8);  // for the sum by the rule
    const bool enough = !counts || sum.all.negatives >= trials_for(p.rate);
    sum.kept = broken.empty() && enough && sum.all.false_positives <= most_plausible_hits(sum.all.negatives, p.rate) &&
               bits >= std::log2(1 / p.rate);
    sum.measured = std::string{mode.name} + " at " + formatted("%.5f %%", 100 * p.rate) + ": " +
                   percent(sum.all.false_positives, sum.all.negatives) + " of " + std::to_string(sum.all.negatives) +
                   " queries and " + percent(sum.all.right_guesses, sum.all.guesses) + " of " +
                   std::to_string(sum.all.guesses) + " claims of " + std::to_string(playing) + " adversaries, " +
                   std::to_string(sum.all.false_negatives) + " false negatives, " + formatted("%.2f", bits) +
                   " local bits a key under attack (the least possible is " + formatted("%.0f", std::log2(1 / p.rate)) +
                   ")." + (broken.empty() ? "" : broken + ".") + (enough ? "" : " Too few queries.");
    return sum;
}

// Bins as full as they get, by inserts alone and under one salt each: the bound is reached.
struct two_sided {
    std::uint64_t queries = 0;
    std::uint64_t let_through = 0;
    double rate = 0;

    [[nodiscard]] double of_bound() const noexcept {
        return static_cast<double>(let_through) / static_cast<double>(queries) / rate;
    }
    [[nodiscard]] bool kept() const noexcept { return std::abs(of_bound() - 1) <= 0.03; }
};

two_sided ask_full_bins(std::uint64_t seed, std::uint64_t queries) {
    constexpr std::uint64_t bins = 20;
    two_sided seen;
    for (std::uint64_t tried = 0, found = 0; found < bins; ++tried) {
        broom_options options;
        options.capacity = full_bin.capacity;
        options.grows = false;
        options.hash = hasher{hash_key::from_seed(seed * 100'000 + tried)};
        options.key_is_new = true;
        options.random = repeatable(tried);
        broom_filter filter = must(broom_filter::make(options));
        memory_map remote;
        for (std::uint64_t key = 0; key < full_bin.keys; ++key) {
            (void)must(remote.put(filter.hash()(key), integer_key{key}.view()));
            (void)must(filter.insert(key, remote));
        }
        const broom_details inside = filter.details();
        if (filter.stats().renewals != 0 || inside.slots_used != 48 || inside.backyard_keys != 64) continue;
        ++found;
        seen.rate = filter.rate();
        std::array<std::uint64_t, 4096> keys;
        std::array<std::uint64_t, words_for(keys.size())> answers{};
        for (std::uint64_t asked = 0; asked < queries / bins; asked += keys.size()) {
            for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = (std::uint64_t{1} << 40) + asked + i;
            filter.may_contain(std::span<const std::uint64_t>{keys}, answers);
            for (const std::uint64_t word : answers) seen.let_through += static_cast<unsigned>(std::popcount(word));
            seen.queries += keys.size();
        }
    }
    return seen;
}

outcome measure_broom_game(const run_options& options) {
    const game_plan coarse{0x1p-8, options.quick ? 2'000'000u : 30'000'000u};
    const game_plan fine{0x1p-12, options.quick ? 2'000'000u : 50'000'000u};
    const game_plan as_called{0x1p-8, options.quick ? 200'000u : 3'000'000u};
    const bool as_in_the_text = options.filter == broom_paper_filter::name;
    const int games = options.quick ? 2 : 4;
    outcome out;
    claimants played;
    const auto part = [&](double first, double share) {
        return [&options, first, share](double inner) { options.progress(first + share * inner); };
    };
    std::vector<game_summary> sums;
    sums.push_back(play_all_adversaries(coarse, games, options, former_mode, part(0, 0.2), out.series, played));
    sums.push_back(play_all_adversaries(fine, games, options, former_mode, part(0.2, 0.3), out.series, played));
    two_sided exact{.queries = 1, .let_through = 1, .rate = 1};
    if (!as_in_the_text) {
        double done = 0.5;
        for (const game_mode& mode : user_modes) {
            constexpr double share = 0.15 / static_cast<double>(user_modes.size());
            sums.push_back(
                play_all_adversaries(as_called, games, options, mode, part(done, share), out.series, played));
            done += share;
        }
        exact = ask_full_bins(options.seed, 10'000'000);
    }
    // Some adversaries claim only keys that they recognise, and there may be none; the adversaries
    // of failures always can.
    std::string waiting, silent;
    for (const adversary& by : all_adversaries()) {
        if (is_considered(by, as_in_the_text) && !played.contains(by.name))
            waiting +=
                (waiting.empty() ? " Never saw their chance, and so did not play: " : ", ") + std::string{by.name};
    }
    for (const adversary& by : as_in_the_text ? std::span<const adversary>{} : failure_adversaries()) {
        if (!played.contains(by.name))
            silent += (silent.empty() ? " Should have played: " : ", ") + std::string{by.name};
    }

    const auto controls = play_controls({.seed = options.seed, .effort = 1, .progress = part(0.7, 0.3), .only = {}});
    bool controls_lost = true;
    nlohmann::json lost;
    for (const control_outcome& each : controls) {
        controls_lost = controls_lost && (each.won || !each.must_win);
        lost[each.name + " to " + each.attack] = control_row(each);
    }

    out.promised =
        "whatever an adversary has seen, each query of an absent key is a false positive with probability at most ε, "
        "and each of its claims; no stored key is ever denied; local state of at least n log(1/ε) bits";
    out.kept = controls_lost && exact.kept() && silent.empty();
    for (const game_summary& each : sums) {
        out.kept = out.kept && each.kept;
        out.measured += (out.measured.empty() ? "" : " ") + each.measured;
    }
    out.measured += waiting + (waiting.empty() ? "" : ".") + silent + (silent.empty() ? "" : ".");
    if (!as_in_the_text) {
        out.measured += " Full bins let " + formatted("%.4f", exact.of_bound()) + " of C/N + K/2^d through, " +
                        std::to_string(exact.let_through) + " of " + std::to_string(exact.queries) + " queries.";
    }
    out.control = {{"what", "filters that lack one rule each, or learn nothing, must lose to the same adversaries"},
                   {"played", lost},
                   {"lost_as_they_must", controls_lost}};
    out.parameters = {{"filter", options.filter.empty() ? broom_filter::name : std::string_view{options.filter}},
                      {"games_for_each_adversary", games},
                      {"effort_for_each_adversary", {{"2^-8", coarse.effort}, {"2^-12", fine.effort}}},
                      {"effort_of_an_insert_or_erase", change_effort}};
    return out;
}

const registration broom_game_experiment("broom-game", 101,
                                         "In the adaptivity game each guess of an adversary is a false positive with "
                                         "probability at most ε, for the whole life of the filter.",
                                         "broom18 Def. 3, Lemmas 4, 13", measure_broom_game,
                                         {.quick_seconds = 20, .full_minutes = 8},
                                         {.filters = {broom_filter::name, broom_paper_filter::name}});

}  // namespace
}  // namespace genista::lab
