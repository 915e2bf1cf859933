// adaptive-cascade: does the cascade over a single-hash filter keep [broom17 §5, Thm 20]?
//
// At ε = 1/4, 1/8, 1/16 and 2^-8:
//   (1) the ADAPTIVITY-GAME against every adversary of the lab that does not ask the filter to
//       grow, judged by the rule for rates (docs/papers.md), each adversary by itself, its claims
//       by themselves, and the sum, which has at least 10^4/ε queries;
//   (2) all local bits, before and after n queries and after 3 n more with a tenth of the keys
//       replaced: at most n log(1/ε) + 6 n, at 2^-8 n log(1/ε) + 4.5 n;
//   (3) levels: at most log* n; n_1 within six standard deviations of its expectation, later n_i
//       at most ε_(i-1) n_(i-1) (1 + 1/log n) and the slack that the design gives to chance;
//   (4) R: no read for an insert or a negative; for a false positive one point read, and a range
//       read for each level in which it was found; one range read for an erase. New hash functions,
//       once in n queries, are counted apart;
//   (5) no false negative.
// Controls: a Bloom filter, which is FIX switched off, must lose to the adversaries that repeat
// queries; and at 1/4 a cascade whose rates are all ε must be made of more than log* n levels. (n
// queries need not reach the last of them, and do not.)
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lab/experiment.hpp"
#include "lab/experiments/adaptive_cascade.hpp"

namespace genista::lab {
namespace {

constexpr std::array judged_cascade_rates{0.25, 0.125, 0.0625, 0x1p-8};

// The number of logarithms after which n is at most 1.
unsigned log_star(double n) {
    unsigned count = 0;
    for (; n > 1; ++count) n = std::log2(n);
    return count;
}

double most_cascade_bits(double rate) {
    return std::log2(1 / rate) + (rate > 0x1p-8 ? 6 : 4.5);
}

bool levels_kept(const cascade_life& life) {
    const double n = static_cast<double>(life.keys), slack = 1 + 1 / std::log2(n);
    if (life.after.levels.size() > log_star(n)) return false;
    for (std::size_t i = 1; i < life.after.levels.size(); ++i) {
        const auto come = static_cast<double>(life.after.levels[i].come);
        const double mean = life.expected(i), sigma = std::sqrt(mean);
        if (i == 1 && std::abs(come - mean) > 6 * sigma) return false;
        if (i > 1 && come > mean * slack + 4 * sigma + 16) return false;
    }
    return true;
}

bool reads_kept(const cascade_life& life) {
    const auto none = [](const cascade_reads& each) { return each.range_reads + each.point_reads == 0; };
    // One point read shows that it is absent; each level in which it was found costs one range
    // read.
    const std::uint64_t most = 1 + life.after.levels.size();
    return none(life.inserts) && none(life.negatives) && life.fixes.operations > 0 && life.fixes.each() < 2.5 &&
           life.fixes.most_reads <= most && life.erases.operations > 0 && life.erases.most_reads == 1;
}

bool bits_kept(const cascade_life& life) {
    return std::max({life.bits_before, life.bits_after, life.bits_at_last}) <= most_cascade_bits(life.rate);
}

nlohmann::json cascade_row(const cascade_life& life) {
    nlohmann::json levels = nlohmann::json::array();
    for (std::size_t i = 0; i < life.after.levels.size(); ++i) {
        const auto& each = life.after.levels[i];
        levels.push_back({{"rate", each.rate},
                          {"come", each.come},
                          {"expected", life.expected(i)},
                          {"made_for", each.most_keys},
                          {"values", each.values},
                          {"stored", each.stored},
                          {"dead", each.dead},
                          {"bits_per_key", 8 * static_cast<double>(each.bytes) / static_cast<double>(life.keys)},
                          {"share_of_lookups", life.reached[i]}});
    }
    const auto reads = [](const cascade_reads& each) {
        return nlohmann::json{{"operations", each.operations}, {"reads_each", each.each()}, {"most", each.most_reads}};
    };
    return {
        {"rate", life.rate},
        {"keys", life.keys},
        {"bits_per_key", {{"full", life.bits_before}, {"after_n", life.bits_after}, {"after_4n", life.bits_at_last}}},
        {"most_bits_per_key", most_cascade_bits(life.rate)},
        {"levels", levels},
        {"log_star", log_star(static_cast<double>(life.keys))},
        {"queries", life.queries},
        {"false_positives", life.false_positives},
        {"false_negatives", life.false_negatives},
        {"rebuilds", life.rebuilds},
        {"reads",
         {{"insert", reads(life.inserts)},
          {"negative", reads(life.negatives)},
          {"false_positive", reads(life.fixes)},
          {"erase", reads(life.erases)}}}};
}

std::vector<report::section> drawn_cascades(const std::vector<cascade_life>& lives) {
    report::bar_chart space;
    space.title = "Local bits a key";
    space.caption = "Everything allocated; the bound is log(1/ε) + 6, at 2^-8 log(1/ε) + 4.5.";
    space.value = {"bits a key", false, report::unit::number};
    space.bars = {{"full", {}}, {"after n queries", {}}, {"after 4 n queries", {}}, {"bound", {}}, {"log(1/ε)", {}}};
    report::section levels{"Levels", "", {}};
    for (const cascade_life& life : lives) {
        space.categories.push_back("ε = " + shown_rate(life.rate));
        space.bars[0].y.push_back(life.bits_before);
        space.bars[1].y.push_back(life.bits_after);
        space.bars[2].y.push_back(life.bits_at_last);
        space.bars[3].y.push_back(most_cascade_bits(life.rate));
        space.bars[4].y.push_back(std::log2(1 / life.rate));
        report::line_chart chart;
        chart.title = "Keys that have reached a level, ε = " + shown_rate(life.rate);
        chart.caption = "Share of all keys, over n queries by absent keys; every false positive is fixed.";
        chart.x = {"queries / n", false, report::unit::number};
        chart.y = {"n_i / n", true, report::unit::number};
        for (std::size_t i = 0; i < life.after.levels.size(); ++i) {
            report::series line{"level " + std::to_string(i), {}};
            for (const auto& each : life.come) line.y.push_back(each[i]);
            chart.lines.push_back(std::move(line));
        }
        for (std::size_t part = 0; part < life.come.size(); ++part)
            chart.at.push_back(static_cast<double>(part + 1) / static_cast<double>(life.come.size()));
        levels.figures.emplace_back(std::move(chart));
    }
    return {{"Space", "", {std::move(space)}}, std::move(levels)};
}

std::string summary_of_cascade(const cascade_game& game, const cascade_life& life) {
    const auto share = [](std::uint64_t part, std::uint64_t of) {
        return shown(of == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(of)) + " %";
    };
    std::string text = "at " + shown_rate(game.rate) + ": " + share(game.all.false_positives, game.all.negatives) +
                       " of " + std::to_string(game.all.negatives) + " queries and " +
                       share(game.all.right_guesses, game.all.guesses) + " of " + std::to_string(game.all.guesses) +
                       " claims, " + shown(std::max({life.bits_before, life.bits_after, life.bits_at_last})) +
                       " bits a key, " + std::to_string(life.after.levels.size()) + " levels, " +
                       std::to_string(life.levels_used()) + " of them used, " + shown(life.fixes.each(), 3) +
                       " reads a false positive";
    if (!game.won_by.empty()) text += " (won by " + game.won_by + ")";
    return text;
}

outcome measure_adaptive_cascade(const run_options& options) {
    outcome out;
    const std::uint64_t keys = options.quick ? 100'000 : 1'000'000;
    const std::uint64_t effort = options.quick ? 200'000 : 1'000'000;
    bool games_kept = true, bits = true, levels = true, reads = true, control_lost = true;
    std::uint64_t denied = 0;
    nlohmann::json lost;
    std::vector<cascade_life> lives;
    for (std::size_t i = 0; i < judged_cascade_rates.size(); ++i) {
        const double rate = judged_cascade_rates[i], part = 1.0 / judged_cascade_rates.size();
        const cascade_game game = play_cascade_game(rate, effort, 100 * options.seed, out.series);
        options.progress(part * (static_cast<double>(i) + 0.6));
        lives.push_back(live_cascade(keys, rate, cascade_rates::tower, options.seed));
        const cascade_life& life = lives.back();
        out.series.push_back(cascade_row(life));
        games_kept = games_kept && game.kept;
        control_lost = control_lost && game.control_lost;
        bits = bits && bits_kept(life);
        levels = levels && levels_kept(life);
        reads = reads && reads_kept(life);
        denied += game.all.false_negatives + life.false_negatives;
        out.measured += (i == 0 ? "" : "; ") + summary_of_cascade(game, life);
        lost["bloom at " + shown_rate(rate)] = game.control;
        options.progress(part * static_cast<double>(i + 1));
    }
    // Without a tower.
    const cascade_life flat = live_cascade(keys / 10, judged_cascade_rates[0], cascade_rates::equal, options.seed);
    const bool too_many = flat.after.levels.size() > log_star(static_cast<double>(flat.keys));
    lost["equal rates"] = {{"levels", flat.after.levels.size()},
                           {"levels_used", flat.levels_used()},
                           {"log_star", log_star(static_cast<double>(flat.keys))},
                           {"keys", flat.keys}};
    out.measured += "; " + std::to_string(denied) + " false negatives";
    out.promised =
        "a query of an absent key is a false positive with probability at most ε whatever came before, in n log(1/ε) + "
        "O(n) bits (at most 6 n more, 4.5 n at 2^-8) and O(log* n) levels; R is read for false positives and erases, "
        "O(1) times, never for inserts and negatives";
    out.kept = games_kept && bits && levels && reads && denied == 0 && control_lost && too_many;
    out.control = {{"what",
                    "a Bloom filter, FIX switched off, must lose to repeaters; rates that are all 1/4 must be made of "
                    "more than log* n levels"},
                   {"played", lost},
                   {"failed_as_they_must", control_lost && too_many}};
    out.parameters = {{"filter", cascade_filter::name},
                      {"keys", keys},
                      {"effort_for_each_adversary", effort},
                      {"games_kept", games_kept},
                      {"bits_kept", bits},
                      {"levels_kept", levels},
                      {"reads_kept", reads}};
    out.figures = drawn_cascades(lives);
    return out;
}

const registration adaptive_cascade_experiment(
    "adaptive-cascade", 116,
    "The same with single-hash filters whose rates fall like a tower needs only about log* n levels and optimal space.",
    "broom17 §5, Thm 20", measure_adaptive_cascade, {.quick_seconds = 9, .full_minutes = 10},
    {.filters = {cascade_filter::name}});

}  // namespace
}  // namespace genista::lab
