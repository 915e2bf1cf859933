// broom-property10: a repaired collision stays repaired until a hash function changes, even if the
// stored key is erased and inserted again [broom18 Prop. 10].
//
// Two measurements (workloads/property10_run.hpp). (1) The property: on filters of one bin, every
// false positive that was repaired is asked again after every operation until the bin is renewed;
// it must never be one again. (2) The attack of [broom18 §4.3]: find a false positive x, delete and
// reinsert stored keys until it is one again, continue with that key. Every look-up is a guess, and
// guesses must stay within ε by the rule for rates.
//
// Control: the same two against a filter whose erases leave no history. There the attack wins every
// round.
#include <string>
#include <vector>

#include "genista/filters/broom.hpp"
#include "lab/controls/property10_control.hpp"
#include "lab/experiment.hpp"
#include "lab/experiments/broom_paper.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/property10_run.hpp"

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
        out.series.push_back({{"what", "property"},
                              {"rate", kinds[i].rate},
                              {"history", kinds[i].name},
                              {"epochs", seen.epochs},
                              {"caught", seen.caught},
                              {"asked_again", seen.asked},
                              {"violations", seen.violations}});
        property.asked += seen.asked;
        property.caught += seen.caught;
        property.violations += seen.violations;
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
        "at most ε "
        "of the guesses";
    out.measured =
        std::to_string(property.violations) + " of " + std::to_string(property.asked) + " repeated questions about " +
        std::to_string(property.caught) + " repaired false positives; the attack won " + std::to_string(attack.wins()) +
        " of " + std::to_string(attack.guesses()) + " guesses (" +
        shown(static_cast<double>(attack.wins()) / static_cast<double>(attack.guesses()) / rate, 3) + " ε), " +
        std::to_string(attack.rounds_won) + " of " + std::to_string(attack.rounds) + " rounds; without history " +
        std::to_string(no_history.rounds_won) + " of " + std::to_string(no_history.rounds) + " rounds";
    out.control = reinsertion_json(no_history, "erases that leave no history");
    out.control["property_violations"] = no_property.violations;
    out.control["property_asked"] = no_property.asked;
    out.control["failed_as_it_must"] = control_failed;
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

const registration broom_property10_experiment{{
    .id = "broom-property10",
    .order = 104,
    .promise = "A repaired collision between two keys stays repaired until one of them gets a new hash function, even "
               "if the stored key is erased and inserted again.",
    .where = "broom18 Prop. 10",
    .measure = either<measure_property10, measure_paper_property10>,
    .filters = {"broom", "broom_paper"},
    .takes = {.quick_seconds = 2, .full_minutes = 1},
}};

}  // namespace
}  // namespace genista::lab
