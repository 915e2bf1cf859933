// broom-property10: a repaired collision stays repaired until a hash function changes, even if the
// stored key is erased and inserted again [broom18 Prop. 10].
//
// Two measurements. (1) The property: a false positive that was repaired is asked again after every
// erase and insert until its hash function changes; it must never be one again. (2) The attack of
// [broom18 §4.3]: find a false positive x, delete and reinsert stored keys until it is one again,
// continue with that key. Every look-up is a guess, and guesses must stay within ε by the rule for
// rates.
//
// Ours (workloads/broom_runs.hpp): filters of one bin, every repaired key asked until the bin is
// renewed. Control: a filter whose erases leave no history. There the attack wins every round.
//
// The paper's structure: x, once a false positive through y, is none through y again until some key
// has got another hash function (a repair moves the frontier, so does an insert that collides; a
// key that changes its level has changed its function, too). Control: ghosts that are forgotten.
// There the attack wins round after round, until the frontier passes.
#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "lab/controls/controls.hpp"
#include "lab/experiment.hpp"
#include "lab/experiments/two_brooms.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/broom_runs.hpp"

namespace genista::lab {
namespace {

constexpr std::uint64_t partner_rounds = 50;  // with a partner once found

bool stopped(const reinsertion_seen& seen, double rate) {
    return seen.wins() <= most_plausible_hits(seen.guesses(), rate) &&
           seen.rounds_won <= most_plausible_hits(seen.rounds, rate);
}

nlohmann::json reinsertion_json(const reinsertion_seen& seen, const char* what) {
    return {{"what", what},
            {"targets", seen.targets},
            {"partners_found", seen.partners_found},
            {"search_guesses", seen.search_guesses},
            {"search_wins", seen.search_wins},
            {"rounds", seen.rounds},
            {"rounds_won", seen.rounds_won}};
}

nlohmann::json property_row(double rate, const property_seen& seen) {
    return {{"what", "property"},
            {"rate", rate},
            {"caught", seen.caught},
            {"asked_again", seen.asked},
            {"violations", seen.violations}};
}

std::string told_of_property(const property_seen& seen) {
    return std::to_string(seen.violations) + " of " + std::to_string(seen.asked) + " repeated questions about " +
           std::to_string(seen.caught) + " repaired false positives";
}

nlohmann::json forgetting_control(const char* what, const reinsertion_seen& attacked, const property_seen& property,
                                  bool failed) {
    nlohmann::json control = reinsertion_json(attacked, what);
    control["property_violations"] = property.violations;
    control["property_asked"] = property.asked;
    control["failed_as_it_must"] = failed;
    return control;
}

outcome measure_property10(const run_options& options) {
    struct kind {
        double rate;
        broom_history history;
        const char* name;
    };
    const std::vector<kind> kinds = {{0x1p-8, broom_history::tombstone, "tombstone"},
                                     {0x1p-8, broom_history::renew, "renew"},
                                     {0x1p-10, broom_history::tombstone, "tombstone"},
                                     {0x1p-12, broom_history::tombstone, "tombstone"}};
    const std::uint64_t steps = options.quick ? 20'000 : 200'000;
    outcome out;
    property_seen property;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        auto of_one_bin = seeded<broom_options>(40, kinds[i].rate, options.seed + i);
        of_one_bin.history = kinds[i].history;
        const property_seen seen = try_to_collide_again<broom_filter>(of_one_bin, steps, options.seed + i);
        out.series.push_back(property_row(kinds[i].rate, seen));
        out.series.back()["history"] = kinds[i].name;
        out.series.back()["epochs"] = seen.epochs;
        property.add(seen);
        options.progress(0.5 * static_cast<double>(i + 1) / static_cast<double>(kinds.size()));
    }

    constexpr std::uint64_t capacity = 360;  // 8 bins
    constexpr double rate = 0x1p-8;
    const std::uint64_t guesses = options.quick ? trials_for(rate) / 4 : 4 * trials_for(rate);
    const reinsertion_plan as_in_the_text{.guesses = guesses / 32, .rounds = partner_rounds, .targets_at_once = 1};
    const reinsertion_plan many_targets{.guesses = guesses, .rounds = partner_rounds, .targets_at_once = 16};
    const auto play = [&](const reinsertion_plan& plan, double from, double to) {
        return delete_and_reinsert<broom_filter>(seeded<broom_options>(capacity, rate, options.seed), plan,
                                                 [&](double share) { options.progress(from + (to - from) * share); });
    };
    reinsertion_seen attack = play(as_in_the_text, 0.5, 0.65);
    out.series.push_back(reinsertion_json(attack, "delete and reinsert"));
    bool attack_stopped = stopped(attack, rate);
    const reinsertion_seen many = play(many_targets, 0.65, 1);
    out.series.push_back(reinsertion_json(many, "delete and reinsert, 16 targets at once"));
    attack_stopped = attack_stopped && stopped(many, rate);
    attack.add(many);

    const property_seen no_property = try_to_collide_again_without_history(steps / 10, options.seed);
    const reinsertion_seen no_history =
        delete_and_reinsert_without_history(capacity, {20'000, partner_rounds, 1}, options.seed);
    const bool control_failed = no_property.violations > 0 && no_history.rounds > 0 && !stopped(no_history, rate) &&
                                10 * no_history.rounds_won >= 9 * no_history.rounds;

    out.promised =
        "a repaired false positive is none again until its bin is renewed; deleting and reinserting its partner wins "
        "at most ε of the guesses";
    out.measured = told_of_property(property) + "; the attack won " + std::to_string(attack.wins()) + " of " +
                   std::to_string(attack.guesses()) + " guesses (" +
                   shown(static_cast<double>(attack.wins()) / static_cast<double>(attack.guesses()) / rate, 3) +
                   " ε), " + std::to_string(attack.rounds_won) + " of " + std::to_string(attack.rounds) +
                   " rounds; without history " + std::to_string(no_history.rounds_won) + " of " +
                   std::to_string(no_history.rounds) + " rounds";
    out.control = forgetting_control("erases that leave no history", no_history, no_property, control_failed);
    out.kept = property.violations == 0 && property.asked > 0 && attack_stopped && control_failed;
    out.parameters = {{"property_steps", steps},
                      {"members_of_one_bin", 30},
                      {"attack_capacity", capacity},
                      {"attack_load", 0.85},
                      {"attack_rate", rate},
                      {"guesses_as_in_the_text", as_in_the_text.guesses},
                      {"guesses_with_many_targets", guesses},
                      {"many_targets", 16},
                      {"rounds_per_partner", partner_rounds}};
    return out;
}

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
        out.series.push_back(property_row(rate, seen));
        property.add(seen);
        const reinsertion_seen attacked = attack_by_reinserting(
            seeded_paper(capacity, rate, options.seed), members, {.guesses = guesses, .rounds = 50},
            [&](double share) { options.progress((done + share) / 4); });
        out.series.push_back(reinsertion_json(attacked, "delete and reinsert"));
        out.series.back()["rate"] = rate;
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
        "function; deleting and reinserting stored keys wins at most ε of the guesses";
    out.measured = told_of_property(property) + "; the attack won " + std::to_string(all.wins()) + " of " +
                   std::to_string(all.guesses()) + " guesses; with ghosts forgotten " +
                   std::to_string(no_ghosts.rounds_won) + " of " + std::to_string(no_ghosts.rounds) + " rounds";
    out.control = forgetting_control("ghosts that are forgotten", no_ghosts, no_property, control_failed);
    out.control["rate"] = 0x1p-8;
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

const registration broom_property10_experiment(
    "broom-property10", 104,
    "A repaired collision between two keys stays repaired until one of them gets a new hash function, even if the "
    "stored key is erased and inserted again.",
    "broom18 Prop. 10", either<measure_property10, measure_paper_property10>, {.quick_seconds = 2, .full_minutes = 1},
    {.filters = {"broom", "broom_paper"}});

}  // namespace
}  // namespace genista::lab
