// ppr-counter: a redundant counter counts up and down with O(1) digits, amortised, in at most
// min(2⌈log C⌉ + 2, C) bits [ppr05 Lemma 3.1].
//
// Every value up to `highest` and back; to and fro across every power of two; random walks; an
// adversary that always takes the more expensive of the two ways; and to and fro a thousand times
// at 2^k - 1 and (2^k - 1)/3 for k = 4, 8 .. 40, each at its own k. *Judged*, at every step: the
// value, the invariant and the space; digits read and written, with a potential of 2 for every
// digit that is not zero, at most 5 for an increment and 9 for a decrement, and in the mean from
// zero on at most 9 (proved in ppr_counter.hpp); iszero is one probe.
//
// *Controls*, on the same walks and by the same judgement: a binary counter, which must lose at 2^k
// - 1, and non-adjacent form, which must lose at (2^k - 1)/3, both from k = 20 on. Both count from
// zero to `highest` and back in a mean of at most 9, so they could pass.
//
// Smallest defect seen: one digit read too many in one increment.
#include "lab/experiments/ppr_counter.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "lab/experiment.hpp"

namespace genista::lab {
namespace {

constexpr std::uint64_t counter_walk_steps = 1'000'000;
constexpr unsigned highest_power = 40, rivals_lose_from = 20;

report::section drawn_counters(std::vector<double>& at, std::vector<double> redundant, std::vector<double> binary,
                               std::vector<double> naf) {
    report::line_chart chart{
        "Going to and fro at the worst place near 2^k",
        "Digits read and written an operation, measured; of non-adjacent form only those written.",
        {"k", false, report::unit::number},
        {"digits an operation", false, report::unit::number},
        at,
        {{"redundant", std::move(redundant)}, {"binary", std::move(binary)}, {"non-adjacent form", std::move(naf)}}};
    return {"Counters", "", {std::move(chart)}};
}

outcome measure_counter(const run_options& options) {
    outcome out;
    const std::uint64_t highest = options.quick ? 100'000 : 1'000'000;
    bool kept = true;
    double most = 0;
    const auto take = [&](const std::string& what, const seen_digits& seen) {
        out.series.push_back(seen.row(what));
        kept = kept && seen.kept();
        most = std::max(most, seen.most);
    };
    take("every value up and down", up_and_down<redundant_walker>(highest));
    take("across every power of two", across_powers<redundant_walker>(20));
    options.progress(0.3);
    for (const double up : {0.5, 0.52, 0.7})
        take("random walk", random_walk<redundant_walker>(up, counter_walk_steps, options.seed));
    options.progress(0.6);
    for (const std::uint64_t climb : {10u, 1000u, 100'000u})
        take("the more expensive way each time", greedy_walk<redundant_walker>(climb, counter_walk_steps));
    options.progress(0.9);

    std::vector<double> powers, redundant, binary, naf;
    bool binary_failed = true, naf_failed = true;
    for (unsigned power = 4; power <= highest_power; power += 4) {
        const std::uint64_t ones = (std::uint64_t{1} << power) - 1, thirds = ones / 3;
        const seen_digits at_ones = to_and_fro<redundant_walker>(ones),
                          at_thirds = to_and_fro<redundant_walker>(thirds);
        take("to and fro at 2^" + std::to_string(power) + " - 1", at_ones);
        take("to and fro at (2^" + std::to_string(power) + " - 1)/3", at_thirds);
        const seen_digits its_binary = to_and_fro<binary_walker>(ones), its_naf = to_and_fro<naf_walker>(thirds);
        if (power >= rivals_lose_from) {
            binary_failed = binary_failed && !its_binary.cheap();
            naf_failed = naf_failed && !its_naf.cheap();
        }
        powers.push_back(power);
        redundant.push_back(std::max(at_ones.most, at_thirds.most));
        binary.push_back(its_binary.most);
        naf.push_back(its_naf.most);
    }
    const double binary_one_way = up_and_down<binary_walker>(highest).most,
                 naf_one_way = up_and_down<naf_walker>(highest).most;
    const bool failed = binary_failed && naf_failed && binary_one_way <= double{most_of_a_decrement} &&
                        naf_one_way <= double{most_of_a_decrement};
    out.promised = "O(1) digits an operation: with the potential at most " + std::to_string(most_of_an_increment) +
                   " an increment and " + std::to_string(most_of_a_decrement) +
                   " a decrement; at most min(2⌈log C⌉ + 2, C) bits; iszero in one probe";
    out.measured = std::string{kept ? "so" : "NOT so"} + " at every step: at most " + shown(most, 3) +
                   " digits an operation in the mean, values up to " + std::to_string(highest) +
                   " and at 2^k for k = 4 .. " + std::to_string(highest_power);
    out.control = {
        {"what", "a binary counter at 2^k - 1 and non-adjacent form at (2^k - 1)/3, to and fro, k = 20 .. 40"},
        {"binary_digits_an_operation", binary.back()},
        {"naf_digits_an_operation", naf.back()},
        {"binary_up_and_down", binary_one_way},
        {"naf_up_and_down", naf_one_way},
        {"failed_as_it_must", failed}};
    out.kept = kept && failed;
    out.parameters = {{"highest", highest},
                      {"walk_steps", counter_walk_steps},
                      {"smallest_defect_seen", "one digit in one increment"}};
    out.figures.push_back(drawn_counters(powers, redundant, binary, naf));
    return out;
}

const registration ppr_counter_experiment("ppr-counter", 202,
                                          "A counter with redundant digits counts up and down in O(1) amortised bit "
                                          "probes and little more than twice the bits of a plain one.",
                                          "ppr05 Lemma 3.1", measure_counter,
                                          {.quick_seconds = 0.6, .full_minutes = 0.1});

}  // namespace
}  // namespace genista::lab
