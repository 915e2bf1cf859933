// sustained-guard: a store behind a broom filter keeps its throughput under every attack of the
// lab; with adapting switched off, and with a Bloom filter, it collapses. Ours.
//
// Each adversary plays against a guarded RocksDB (clustered layout, values of 400 bytes, direct
// reads where the file system has them, a cache of 256 KB) on the stage where it is strongest. Two
// judgements:
//   - wasted reads: the share of absent queries that reached the store, by the rule for rates
//     (docs/papers.md), for every adversary;
//   - queries of absent keys a second, for adversaries against a store that does not fit into
//     its cache: at least half of the rate of fresh queries in the same run.
// Controls: the same store with adapting off, and with a Bloom filter of the same rate, replaying
// what was found: their claims get at most a fifth of the queries a second that fresh queries get.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "genista/filters/broom.hpp"
#include "lab/adversaries/adversary.hpp"
#include "lab/experiment.hpp"
#include "lab/games/guard_arena.hpp"
#include "lab/statistics/binomial.hpp"

namespace genista::lab {
namespace {

constexpr double guard_rate = 0x1p-8;
constexpr double least_kept = 0.5;
constexpr double most_collapsed = 0.2;

struct guard_game {
    std::string_view adversary;
    std::string_view filter;
    score seen;
    double queries_per_second = 0;
    double claims_per_second = 0;

    [[nodiscard]] bool within_rate() const noexcept {
        return seen.negatives > 0 && seen.false_negatives == 0 &&
               seen.false_positives <= most_plausible_hits(seen.negatives, guard_rate);
    }
    [[nodiscard]] double wasted_share() const noexcept {
        return static_cast<double>(seen.false_positives) /
               static_cast<double>(std::max<std::uint64_t>(1, seen.negatives));
    }
};

enum class defence { broom, broom_static, bloom };

guard_game play_guard(const adversary& by, const stage& on, defence how, std::uint64_t effort, std::uint64_t seed) {
    const attacked_store_options options{.capacity = on.capacity,
                                         .rate = guard_rate,
                                         .adapt = how == defence::broom ? adapting::on_read : adapting::off,
                                         .grows = on.keys <= on.capacity && on.capacity > few_bins.capacity,
                                         .seed = seed};
    const std::string_view name = how == defence::broom ? "broom" : how == defence::bloom ? "bloom" : "broom_static";
    guard_arena at{name, guard_rate, how == defence::bloom ? bloom_store(options) : broom_store(options)};
    fill(at, on.keys);
    at.begin();
    by.play(at, {.queries = effort, .seed = seed, .progress = [](double) {}});
    return {by.name, name, at.counted(), at.queries_per_second(), at.claims_per_second()};
}

nlohmann::json sustained_row(const guard_game& p) {
    return {{"adversary", p.adversary},
            {"filter", p.filter},
            {"absent_queries", p.seen.negatives},
            {"wasted_reads", p.seen.false_positives},
            {"wasted_share", p.wasted_share()},
            {"most_plausible", most_plausible_hits(p.seen.negatives, guard_rate)},
            {"false_negatives", p.seen.false_negatives},
            {"range_reads", p.seen.reads},
            {"queries_per_second", p.queries_per_second},
            {"claims_per_second", p.claims_per_second}};
}

outcome measure_sustained_guard(const run_options& options) {
    const std::uint64_t effort = options.quick ? 60'000 : 1'000'000;
    const std::uint64_t large_effort = options.quick ? 400'000 : 3'000'000;
    // Controls read the disk for every claim: some ten thousand show a collapse as well as a
    // million.
    const std::uint64_t control_effort = options.quick ? 100'000 : large_effort;
    const stage large = options.quick ? stage{30'000, 30'000} : many_bins;
    outcome out;
    double done = 0;
    const double all = static_cast<double>(all_adversaries().size()) + 4;
    const auto count = [&](const guard_game& p) {
        out.series.push_back(sustained_row(p));
        options.progress(++done / all);
        return p;
    };

    const guard_game fresh =
        count(play_guard(*find_adversary("fresh"), large, defence::broom, large_effort, options.seed));
    double slowest = 1, worst_share = fresh.wasted_share();
    bool kept = fresh.within_rate();
    std::uint64_t false_negatives = 0;
    std::string broken;
    for (const adversary& by : all_adversaries()) {
        if (by.name == "fresh") continue;
        const bool is_large = by.plays_on.keys == many_bins.keys;
        const guard_game one = count(play_guard(by, is_large ? large : by.plays_on, defence::broom,
                                                is_large ? large_effort : effort, options.seed));
        const double speed = is_large ? one.queries_per_second / fresh.queries_per_second : 1;
        if (!one.within_rate() || speed < least_kept) broken.append(" ").append(by.name);
        slowest = std::min(slowest, speed);
        worst_share = std::max(worst_share, one.wasted_share());
        false_negatives += one.seen.false_negatives;
    }
    kept = kept && broken.empty();

    bool collapsed = true;
    nlohmann::json controls = nlohmann::json::object();
    for (const defence how : {defence::broom_static, defence::bloom}) {
        for (const char* name : {"pool-replay", "rounds"}) {
            const guard_game one = count(play_guard(*find_adversary(name), large, how, control_effort, options.seed));
            const double speed = one.claims_per_second / fresh.queries_per_second;
            collapsed = collapsed && one.seen.guesses > 0 && speed <= most_collapsed;
            controls[std::string{one.filter} + " under " + name] = speed;
        }
    }

    out.promised = "every adversary wastes at most ε = " + shown_rate(guard_rate) +
                   " of its absent queries, and those on a large store leave it at least " + shown(least_kept) +
                   " of the queries a second that fresh queries get";
    out.measured = std::to_string(all_adversaries().size()) + " adversaries: at most " + shown(100 * worst_share, 3) +
                   " % wasted; " + shown(slowest, 3) + " of the fresh queries a second (" +
                   shown(fresh.queries_per_second, 3) + ") at worst; " + std::to_string(false_negatives) +
                   " false negatives" + (broken.empty() ? "" : "; broken by" + broken);
    controls["what"] = "claims a second of the same attacks, as a share of fresh queries a second";
    controls["failed_as_they_must"] = collapsed;
    out.control = controls;
    out.kept = kept && collapsed;
    out.parameters = {{"rate", guard_rate},
                      {"effort", effort},
                      {"large_effort", large_effort},
                      {"large_keys", large.keys},
                      {"control_effort", control_effort}};
    return out;
}

const registration sustained_guard_experiment(
    "sustained-guard", 503,
    "A store behind a broom filter keeps its throughput under attack; without repairs its throughput collapses.",
    "ours", measure_sustained_guard, {.quick_seconds = 28, .full_minutes = 5, .alone = true}, {.filters = {"broom"}});

}  // namespace
}  // namespace genista::lab
