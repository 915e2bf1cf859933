// broom-property10 for the paper's structure: x, once a false positive through y, is none through y
// again until one of them gets another hash function, even if y is erased and inserted again
// [broom18 Prop. 10].
//
// (1) The property. A false positive x is repaired; then the stored keys are erased and inserted
// again in any order, and x is asked after every step, until some key has got another hash function
// (a repair moves the frontier, so does an insert that collides; a key that changes its level has
// changed its function, too). It must never be a false positive. (2) The attack of [§4.3]: delete
// and reinsert stored keys until x is a false positive again, then continue with that key. Every
// look-up is a guess, judged by the rule for rates.
//
// Control: the same two with ghosts that are forgotten. There the attack wins round after round,
// until the frontier passes.
#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "lab/experiments/broom_paper.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/paper_workload.hpp"
#include "lab/workloads/property10_run.hpp"

namespace genista::lab {
namespace {

using hash_functions_seen = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

hash_functions_seen seen_by(const broom_paper_filter& filter) {
    const broom_paper_details now = filter.details();
    return {now.phases, now.rehashed, now.rebuilds, now.overflow_keys};
}

property_seen try_to_collide_in_paper(const broom_paper_options& options, std::uint64_t targets, std::uint64_t seed) {
    constexpr std::uint64_t members = 48;
    paper_workload w{options};
    std::mt19937_64 chance{seed};
    std::vector<std::uint64_t> inside(members), outside;
    for (std::uint64_t key = 0; key < members; ++key) inside[key] = key;
    w.load(0, members);
    property_seen seen;
    while (seen.caught < targets) {
        for (const std::uint64_t key : outside) w.insert(key);
        inside.insert(inside.end(), outside.begin(), outside.end());
        outside.clear();
        std::uint64_t x = 0;
        w.attack(1, [&](std::uint64_t key) { x = key; });
        ++seen.caught;
        ++seen.epochs;
        const hash_functions_seen then = seen_by(w.filter());
        for (std::uint64_t step = 0; step < 4 * members && seen_by(w.filter()) == then; ++step) {
            const bool erases_next = outside.empty() || (!inside.empty() && chance() % 2 == 0);
            std::vector<std::uint64_t>&from = erases_next ? inside : outside, &to = erases_next ? outside : inside;
            std::swap(from[chance() % from.size()], from.back());
            const std::uint64_t y = from.back();
            from.pop_back();
            to.push_back(y);
            erases_next ? w.erase(y) : w.insert(y);
            if (seen_by(w.filter()) != then) break;
            ++seen.asked;
            seen.violations += w.filter().may_contain(x) ? 1u : 0u;
        }
    }
    return seen;
}

// Each stored key in turn is erased and inserted again, and x asked after each.
reinsertion_seen attack_by_reinserting(const broom_paper_options& options, std::uint64_t members,
                                       const reinsertion_plan& plan, const std::function<void(double)>& progress) {
    paper_workload w{options};
    w.load(0, members);
    reinsertion_seen seen;
    const auto hits_after_reinserting = [&](std::uint64_t x, std::uint64_t y) {
        w.erase(y);
        w.insert(y);
        return w.query_absent_key(x);
    };
    while (seen.guesses() < plan.guesses) {
        std::uint64_t x = 0;
        w.attack(1, [&](std::uint64_t key) { x = key; });
        ++seen.targets;
        std::uint64_t y = 0;
        for (bool hit = false; y < members && !hit; y += hit ? 0u : 1u) {
            hit = hits_after_reinserting(x, y);
            ++seen.search_guesses;
            seen.search_wins += hit ? 1u : 0u;
        }
        if (y == members) continue;
        ++seen.partners_found;
        for (std::uint64_t round = 0; round < plan.rounds; ++round) {
            ++seen.rounds;
            seen.rounds_won += hits_after_reinserting(x, y) ? 1u : 0u;
        }
        progress(static_cast<double>(seen.guesses()) / static_cast<double>(plan.guesses));
    }
    return seen;
}

nlohmann::json paper_reinsertion_row(const char* what, double rate, const reinsertion_seen& seen) {
    return {{"what", what},
            {"rate", rate},
            {"targets", seen.targets},
            {"partners_found", seen.partners_found},
            {"search_guesses", seen.search_guesses},
            {"search_wins", seen.search_wins},
            {"rounds", seen.rounds},
            {"rounds_won", seen.rounds_won}};
}

}  // namespace

outcome measure_paper_property10(const run_options& options) {
    constexpr std::uint64_t capacity = 1000, members = 850;
    const std::uint64_t targets = options.quick ? 300 : 5'000;
    const std::uint64_t guesses = options.quick ? 60'000 : 1'000'000;
    const std::vector<double> rates = {0x1p-5, 0x1p-8, 0x1p-12};  // small, large, large
    outcome out;
    property_seen property;
    reinsertion_seen all;
    bool stopped = true;
    double done = 0;
    for (const double rate : rates) {
        const property_seen seen = try_to_collide_in_paper(seeded_paper(64, rate, options.seed), targets, options.seed);
        out.series.push_back({{"what", "property"},
                              {"rate", rate},
                              {"caught", seen.caught},
                              {"asked_again", seen.asked},
                              {"violations", seen.violations}});
        property.caught += seen.caught;
        property.asked += seen.asked;
        property.violations += seen.violations;
        const reinsertion_seen attacked = attack_by_reinserting(
            seeded_paper(capacity, rate, options.seed), members, {.guesses = guesses, .rounds = 50},
            [&](double share) { options.progress((done + share) / 4); });
        out.series.push_back(paper_reinsertion_row("delete and reinsert", rate, attacked));
        stopped = stopped && attacked.wins() <= most_plausible_hits(attacked.guesses(), rate);
        all.add(attacked);
        options.progress(++done / 4);
    }
    auto forgetful = seeded_paper(64, 0x1p-8, options.seed);
    forgetful.ghosts = ghost_rule::forgotten;
    const property_seen no_property = try_to_collide_in_paper(forgetful, targets / 10, options.seed);
    forgetful.capacity = capacity;
    const reinsertion_seen no_ghosts =
        attack_by_reinserting(forgetful, members, {.guesses = guesses / 10, .rounds = 50}, [](double) {});
    const bool control_failed =
        no_property.violations > 0 && no_ghosts.rounds > 0 && 10 * no_ghosts.rounds_won >= 7 * no_ghosts.rounds;

    out.promised =
        "a repaired false positive is none again through the same stored key until one of the two has another hash "
        "function; "
        "deleting and reinserting stored keys wins at most ε of the guesses";
    out.measured = std::to_string(property.violations) + " of " + std::to_string(property.asked) +
                   " repeated questions about " + std::to_string(property.caught) +
                   " repaired false positives; the attack won " + std::to_string(all.wins()) + " of " +
                   std::to_string(all.guesses()) + " guesses; with ghosts forgotten " +
                   std::to_string(no_ghosts.rounds_won) + " of " + std::to_string(no_ghosts.rounds) + " rounds";
    out.control = paper_reinsertion_row("ghosts that are forgotten", 0x1p-8, no_ghosts);
    out.control["property_violations"] = no_property.violations;
    out.control["property_asked"] = no_property.asked;
    out.control["failed_as_it_must"] = control_failed;
    out.kept = property.violations == 0 && property.asked > 0 && stopped && control_failed;
    out.parameters = {{"filter", broom_paper_filter::name},
                      {"rates", rates},
                      {"property_targets", targets},
                      {"attack_capacity", capacity},
                      {"attack_stored_keys", members},
                      {"attack_guesses", guesses},
                      {"rounds_per_partner", 50}};
    return out;
}

}  // namespace genista::lab
