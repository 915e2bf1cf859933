// whitelist: the upper bound beside the lower one [broom18 Lemma 28]: a Bloom filter with a small
// enough rate, and a list of the false positives found so far, keeps a sustained rate for O(n)
// queries in O(min(n log n, n log log u)) bits.
//
// The adversaries of the lab that do not erase play n queries a game against whitelist_filter, at ε
// = 1/4, 1/8, 1/16 and 2^-8, for n of three sizes and u = 2^64. *Judged*, for each adversary and ε:
//
//   1  the rule for rates at ε, over all games and sizes, for all queries of absent keys and for
//      the claims separately;
//   2  the list: no more entries than false positives of a Bloom filter of min(ε, log log u / log
//      u), by the same rule;
//   3  all local bits, the list and what its growth leaves free included, at most 4 n log log u
//      when the game is over (n ≥ 10^4);
//   4  no false negative.
//
// And for n ≤ log u, where log n is the smaller one: in how many games of n queries is any key
// listed? Each has a chance of at most 1/n, by the union over n queries of n^-2.
//
// *Controls.* The lemma is about O(n) queries: after 20 n of them the list must have grown in
// proportion and broken 3. And the Bloom filter without its list must lose to the adversaries that
// repeat queries.
//
// Sample: at least 10^4/ε queries for each adversary and ε. False alarm: at most 10^-9 for each of
// about 50 judgements.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "genista/filters/bloom.hpp"
#include "lab/adversaries/adversary.hpp"
#include "lab/experiment.hpp"
#include "lab/games/learning_arena.hpp"
#include "lab/games/local_arena.hpp"
#include "lab/games/remotes.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/parallel.hpp"
#include "papers/whitelist.hpp"

namespace genista::lab {
namespace {

using whitelist_arena = learning_arena<whitelist_filter, records_in_memory>;

constexpr unsigned whitelist_universe_bits = 64;
constexpr double log_log_u = 6;
// Bits a key. By the sizes of Bloom filter and list, with as many entries as the rule for rates
// allows, n = 10^4 takes 22.4 and n = 10^6 takes 18.7; the list of a filter with 10^3 keys has more
// free slots than entries, and it takes 50.
constexpr double most_times_log_log_u = 4;
constexpr std::uint64_t whitelist_judged_from = 10'000;  // keys, for bits
constexpr std::array whitelist_rates{0.25, 0.125, 0.0625, 0x1p-8};
constexpr std::array whitelist_attacks{"fresh", "repeat-one", "pool-replay", "rounds", "adapt-exhaustion"};
constexpr std::array repeating_attacks{"repeat-one", "pool-replay", "rounds"};

whitelist_options options_for(std::uint64_t keys, double rate, std::uint64_t seed) {
    return {.capacity = keys,
            .false_positive_rate = rate,
            .hash = hasher{hash_key::from_seed(seed)},
            .universe_bits = whitelist_universe_bits};
}

double bits_per_key(whitelist_arena& at) {
    return 8 * static_cast<double>(at.filter().stats().local_bytes) / static_cast<double>(at.size());
}

struct whitelist_game {
    std::string_view attack;
    double rate = 0;
    std::uint64_t keys = 0, games = 1;
    std::uint64_t seed = 0;
    score seen{};
    std::uint64_t listed = 0;      // entries, over all games
    double most_bits_per_key = 0;  // when a game was over
    double most_list_share = 0;    // of those bits
    double bloom_rate = 0;

    // Small filters have few keys for their fixed costs.
    [[nodiscard]] bool small_enough() const noexcept {
        return keys < whitelist_judged_from || most_bits_per_key <= most_times_log_log_u * log_log_u;
    }
};

void play_whitelist(whitelist_game& p) {
    for (std::uint64_t game = 0; game < p.games; ++game) {
        const std::uint64_t seed = p.seed + game;
        whitelist_arena at{options_for(p.keys, p.rate, seed)};
        fill(at, p.keys);
        find_adversary(p.attack)->play(at, {.queries = p.keys, .seed = seed, .progress = [](double) {}});
        p.seen += at.counted();
        const whitelist_details parts = at.filter().details();
        p.listed += parts.list_entries;
        p.bloom_rate = parts.bloom_rate;
        if (bits_per_key(at) <= p.most_bits_per_key) continue;
        p.most_bits_per_key = bits_per_key(at);
        p.most_list_share =
            static_cast<double>(parts.list_bytes) / static_cast<double>(at.filter().stats().local_bytes);
    }
}

nlohmann::json whitelist_row(const whitelist_game& p) {
    return {{"what", "game"},
            {"adversary", p.attack},
            {"rate", p.rate},
            {"bloom_rate", p.bloom_rate},
            {"keys", p.keys},
            {"games", p.games},
            {"queries", p.seen.negatives},
            {"false_positives", p.seen.false_positives},
            {"most_plausible", most_plausible_hits(p.seen.negatives, p.rate)},
            {"guesses", p.seen.guesses},
            {"right_guesses", p.seen.right_guesses},
            {"false_negatives", p.seen.false_negatives},
            {"list_entries_a_game", static_cast<double>(p.listed) / static_cast<double>(p.games)},
            {"rate_times_keys", p.rate * static_cast<double>(p.keys)},
            {"bits_per_key", p.most_bits_per_key},
            {"list_share", p.most_list_share},
            {"allowed_bits_per_key", most_times_log_log_u * log_log_u},
            {"n_log_log_u_bits_per_key", log_log_u}};
}

struct judged_whitelist {
    bool kept = true;
    double most_rate_of_promise = 0;  // the highest rate seen, in ε
    double most_bits = 0;
    std::uint64_t queries = 0, false_negatives = 0;
    std::string broken{};
};

// All sizes of one adversary and one ε together.
void judge_whitelist(const std::vector<whitelist_game>& all, std::string_view attack, double rate,
                     judged_whitelist& so_far) {
    score sum;
    std::uint64_t listed = 0;
    bool small = true;
    double bloom_rate = rate;
    for (const whitelist_game& each : all) {
        if (each.attack != attack || each.rate != rate) continue;
        sum += each.seen;
        listed += each.listed;
        small = small && each.small_enough();
        bloom_rate = std::min(bloom_rate, each.bloom_rate);
        if (each.keys >= whitelist_judged_from) so_far.most_bits = std::max(so_far.most_bits, each.most_bits_per_key);
    }
    so_far.queries += sum.negatives;
    so_far.false_negatives += sum.false_negatives;
    so_far.most_rate_of_promise = std::max(so_far.most_rate_of_promise, static_cast<double>(sum.false_positives) /
                                                                            static_cast<double>(sum.negatives) / rate);
    const bool kept = sum.negatives >= trials_for(rate) &&
                      sum.false_positives <= most_plausible_hits(sum.negatives, rate) &&
                      sum.right_guesses <= most_plausible_hits(sum.guesses, rate) &&
                      listed <= most_plausible_hits(sum.negatives, bloom_rate) && small && sum.false_negatives == 0;
    if (!kept)
        so_far.broken +=
            (so_far.broken.empty() ? " Not kept: " : ", ") + std::string{attack} + " at " + shown_rate(rate);
    so_far.kept = so_far.kept && kept;
}

// n ≤ log u: in how many games is any key listed?
struct tiny_games {
    // 33 keys just fill a line of the Bloom filter: with 60 its rate is so far below n^-2 that no
    // key is ever listed, and nothing is tested.
    std::uint64_t keys = 33, games = 0, with_entries = 0;
    double bits_per_key = 0;
    [[nodiscard]] bool kept() const noexcept {
        return with_entries <= most_plausible_hits(games, 1 / static_cast<double>(keys));
    }
};

tiny_games play_tiny(std::uint64_t games, std::uint64_t seed) {
    tiny_games seen{.games = games};
    for (std::uint64_t game = 0; game < games; ++game) {
        whitelist_arena at{options_for(seen.keys, whitelist_rates.front(), seed + game)};
        fill(at, seen.keys);
        find_adversary("fresh")->play(at, {.queries = seen.keys, .seed = seed + game, .progress = [](double) {}});
        seen.with_entries += at.filter().details().list_entries > 0 ? 1u : 0u;
        seen.bits_per_key = std::max(seen.bits_per_key, 8 * static_cast<double>(at.filter().details().bloom_bytes) /
                                                            static_cast<double>(seen.keys));
    }
    return seen;
}

// The control with more queries than the lemma allows.
struct endless {
    std::vector<double> queries{}, entries{}, bits{};  // a key
    [[nodiscard]] bool grew() const noexcept {
        const double growth = entries.back() / entries.front(), asked = queries.back() / queries.front();
        return growth > 0.9 * asked && bits.back() > most_times_log_log_u * log_log_u;
    }
};

endless play_endless(std::uint64_t keys, std::uint64_t seed, nlohmann::json& series) {
    endless seen;
    whitelist_arena at{options_for(keys, whitelist_rates.front(), seed)};
    fill(at, keys);
    std::uint64_t next = std::uint64_t{1} << 40;
    for (const std::uint64_t times : {1u, 2u, 5u, 10u, 20u}) {
        while (at.counted().negatives < times * keys)
            next += at.query_run(next, times * keys - at.counted().negatives).asked;
        seen.queries.push_back(static_cast<double>(times));
        seen.entries.push_back(static_cast<double>(at.filter().details().list_entries) / static_cast<double>(keys));
        seen.bits.push_back(bits_per_key(at));
        series.push_back({{"what", "control: endless queries"},
                          {"keys", keys},
                          {"queries_per_key", times},
                          {"list_entries_per_key", seen.entries.back()},
                          {"bits_per_key", seen.bits.back()}});
    }
    return seen;
}

// The Bloom filter of a whitelist, without the list.
bool bloom_loses(std::string_view attack, double rate, std::uint64_t seed, nlohmann::json& lost) {
    constexpr std::uint64_t keys = 10'000;
    local_arena<bloom_filter> at{
        {keys, whitelist_filter::bloom_rate(keys, rate, whitelist_universe_bits), hasher{hash_key::from_seed(seed)}}};
    fill(at, keys);
    find_adversary(attack)->play(at, {.queries = 8 * keys, .seed = seed, .progress = [](double) {}});
    const score& seen = at.counted();
    const bool loses = seen.right_guesses > most_plausible_hits(seen.guesses, rate);
    lost[std::string{attack} + " at " + shown_rate(rate)] = {
        {"guesses", seen.guesses}, {"right", seen.right_guesses}, {"lost", loses}};
    return loses;
}

std::vector<report::section> draw_whitelist(const std::vector<whitelist_game>& all,
                                            const std::vector<std::uint64_t>& sizes, const endless& control) {
    report::line_chart space;
    space.title = "All local bits a key, after n queries";
    space.caption = "The most of all games and adversaries, list included. Allowed are 4 log log u = 24.";
    space.x = {"keys", true, report::unit::number};
    space.y = {"bits a key", false, report::unit::number};
    for (const std::uint64_t keys : sizes) space.at.push_back(static_cast<double>(keys));
    for (const double rate : whitelist_rates) {
        report::series line{"ε = " + shown_rate(rate), {}};
        for (const std::uint64_t keys : sizes) {
            double most = 0;
            for (const whitelist_game& each : all) {
                if (each.keys == keys && each.rate == rate) most = std::max(most, each.most_bits_per_key);
            }
            line.y.push_back(most);
        }
        space.lines.push_back(std::move(line));
    }
    report::line_chart growth;
    growth.title = "The list never ends";
    growth.caption = "Fresh absent keys without end, ε = 1/4: the control. The lemma is about O(n) queries.";
    growth.x = {"queries a key", false, report::unit::number};
    growth.y = {"bits a key", false, report::unit::number};
    growth.at = control.queries;
    growth.lines.push_back({"all local bits", control.bits});
    return {{"Space", "", {std::move(space), std::move(growth)}}};
}

outcome measure_whitelist(const run_options& options) {
    const std::vector<std::uint64_t> sizes = options.quick ? std::vector<std::uint64_t>{1'000, 10'000, 100'000}
                                                           : std::vector<std::uint64_t>{10'000, 100'000, 1'000'000};
    std::vector<whitelist_game> all;
    for (const double rate : whitelist_rates) {
        for (const char* attack : whitelist_attacks) {
            for (const std::uint64_t keys : sizes) {
                // The middle size supplies the sample of the rule: pools are at most a quarter of a
                // game.
                const std::uint64_t games = keys == sizes[1] ? trials_for(rate) / keys + 1 : 1;
                all.push_back({.attack = attack,
                               .rate = rate,
                               .keys = keys,
                               .games = games,
                               .seed = options.seed + 100'000 * all.size()});
            }
        }
    }
    parallel(
        all.size(), [&](std::size_t i) { play_whitelist(all[i]); }, [&](double done) { options.progress(0.8 * done); });
    outcome out;
    judged_whitelist verdict;
    for (const whitelist_game& each : all) out.series.push_back(whitelist_row(each));
    for (const double rate : whitelist_rates) {
        for (const char* attack : whitelist_attacks) judge_whitelist(all, attack, rate, verdict);
    }
    const tiny_games tiny = play_tiny(options.quick ? 3'000 : 30'000, options.seed);
    out.series.push_back({{"what", "n ≤ log u"},
                          {"keys", tiny.keys},
                          {"games", tiny.games},
                          {"games_with_a_list", tiny.with_entries},
                          {"most_plausible", most_plausible_hits(tiny.games, 1 / static_cast<double>(tiny.keys))},
                          {"bloom_bits_per_key", tiny.bits_per_key},
                          {"n_log_n_bits_per_key", std::log2(static_cast<double>(tiny.keys))}});
    options.progress(0.9);
    const endless control = play_endless(sizes[1], options.seed, out.series);
    nlohmann::json lost;
    bool bloom_lost = true;
    for (const double rate : whitelist_rates) {
        for (const char* attack : repeating_attacks)
            bloom_lost = bloom_loses(attack, rate, options.seed, lost) && bloom_lost;
    }
    out.promised = "for n queries of any adversary: a sustained rate of at most ε in at most " +
                   shown(most_times_log_log_u) +
                   " n log log u bits, list included (n of 10^4 and more); for n ≤ log u hardly ever a list at all";
    out.measured = "at most " + shown(verdict.most_rate_of_promise) + " ε over " + std::to_string(verdict.queries) +
                   " queries of " + std::to_string(whitelist_attacks.size()) + " adversaries at " +
                   std::to_string(whitelist_rates.size()) + " rates, at most " + shown(verdict.most_bits) +
                   " bits a key (n log log u are 6), " + std::to_string(verdict.false_negatives) +
                   " false negatives; of " + std::to_string(tiny.games) +
                   " games with n = " + std::to_string(tiny.keys) + ", " + std::to_string(tiny.with_entries) +
                   " listed a key." + verdict.broken;
    out.kept = verdict.kept && tiny.kept() && control.grew() && bloom_lost;
    out.control = {{"what",
                    "20 n queries must make the list grow in proportion, beyond the bits promised for n; and the Bloom "
                    "filter without its list must lose to adversaries that repeat queries"},
                   {"entries_per_key_after_n_and_20_n", {control.entries.front(), control.entries.back()}},
                   {"bits_per_key_after_n_and_20_n", {control.bits.front(), control.bits.back()}},
                   {"bloom", lost},
                   {"failed_as_they_must", control.grew() && bloom_lost}};
    out.parameters = {{"rates", whitelist_rates},
                      {"sizes", sizes},
                      {"universe_bits", whitelist_universe_bits},
                      {"queries_per_key", 1},
                      {"bits_judged_from_keys", whitelist_judged_from}};
    out.figures = draw_whitelist(all, sizes, control);
    return out;
}

const registration whitelist_experiment("whitelist", 114,
                                        "A filter with a small enough ε and a list of the false positives found so far "
                                        "matches that bound for O(n) queries.",
                                        "broom18 Lemma 28", measure_whitelist, {.quick_seconds = 5, .full_minutes = 10},
                                        {.filters = {whitelist_filter::name}});

}  // namespace
}  // namespace genista::lab
