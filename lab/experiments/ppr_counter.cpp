// ppr-counter: a redundant counter goes up and down by O(1) digits, amortised, in at most min(2⌈log C⌉ + 2, C) bits [ppr05 Lemma 3.1].
//
// Every value up to `highest` and back; to and fro across every power of two; random walks; and an adversary who always takes the dearer
// of the two ways. *Judged*, at every step: the value, the invariant and the space; from zero on, digits read and written at most
// `amortised_digits` (11, proved in bits/redundant_counter.hpp) an operation; iszero is one probe.
//
// *Control*: non-adjacent form, a signed representation with a stricter invariant. From (4^k - 1)/3 to the next number and back it
// changes every digit. Must break the bound. A binary counter between 2^k - 1 and 2^k is told beside it.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "genista/bits/redundant_counter.hpp"
#include "lab/experiments/experiments.hpp"
#include "lab/workloads/experiment_run.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {
namespace {

constexpr std::uint64_t walk_steps = 1'000'000;
constexpr unsigned highest_power = 40;

struct seen_digits {
    std::uint64_t operations = 0, digits = 0, unsound = 0, too_large = 0, dear_zeros = 0;
    double most = 0;  // digits an operation, over any beginning of at least 1000 operations

    void note(const bits::redundant_counter& counter, std::uint64_t value) {
        ++operations;
        digits = counter.digits_read() + counter.digits_written();
        if (operations >= 1000) most = std::max(most, static_cast<double>(digits) / static_cast<double>(operations));
        unsound += counter.value() != value || !counter.is_sound() ? 1u : 0u;
        const std::uint64_t allowed =
            value == 0 ? 0
                       : std::min<std::uint64_t>(2 * static_cast<std::uint64_t>(std::bit_width(value - 1)) + 2, value);
        too_large += counter.space_bits() > allowed ? 1u : 0u;
    }
    [[nodiscard]] bool kept() const {
        return unsound == 0 && too_large == 0 && dear_zeros == 0 && most <= bits::amortised_digits;
    }
    [[nodiscard]] nlohmann::json row(const char* what) const {
        return {{"what", what},       {"operations", operations}, {"digits_an_operation", most},
                {"unsound", unsound}, {"too_large", too_large},   {"kept", kept()}};
    }
};

void move_counter(bits::redundant_counter& counter, seen_digits& seen, std::uint64_t& value, bool up) {
    if (up) {
        if (!counter.increment()) throw workload_error{"a counter that cannot go on"};
        ++value;
    } else {
        if (!counter.decrement()) throw workload_error{"a counter at zero above zero"};
        --value;
    }
    seen.note(counter, value);
}

seen_digits up_and_down(std::uint64_t highest) {
    seen_digits seen;
    bits::redundant_counter counter;
    std::uint64_t value = 0;
    while (value < highest) move_counter(counter, seen, value, true);
    while (value > 0) move_counter(counter, seen, value, false);
    const auto before = counter.digits_read();
    if (!counter.is_zero() || counter.digits_read() != before + 1 || counter.decrement()) ++seen.dear_zeros;
    return seen;
}

// Around every power of two up to 2^20, in steps of 1 to 3, a hundred times each.
seen_digits across_powers() {
    seen_digits seen;
    bits::redundant_counter counter;
    std::uint64_t value = 0;
    for (unsigned power = 1; power <= 20; ++power) {
        while (value < (std::uint64_t{1} << power) - 1) move_counter(counter, seen, value, true);
        for (unsigned round = 0; round < 300; ++round) {
            const unsigned steps = 1 + round % 3;
            for (unsigned i = 0; i < steps; ++i) move_counter(counter, seen, value, true);
            for (unsigned i = 0; i < steps; ++i) move_counter(counter, seen, value, false);
        }
    }
    return seen;
}

seen_digits random_walk(double up, std::uint64_t seed) {
    seen_digits seen;
    bits::redundant_counter counter;
    random_stream chance{seed};
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < walk_steps; ++i) move_counter(counter, seen, value, value == 0 || chance.unit() < up);
    return seen;
}

// Tries both ways on copies and takes the dearer; at first it climbs, to have something to ruin.
seen_digits greedy(std::uint64_t climb) {
    seen_digits seen;
    bits::redundant_counter counter;
    std::uint64_t value = 0;
    while (value < climb) move_counter(counter, seen, value, true);
    for (std::uint64_t i = 0; i < walk_steps; ++i) {
        bits::redundant_counter up = counter, down = counter;
        (void)up.increment();
        (void)down.decrement();
        const auto cost = [](const bits::redundant_counter& c) { return c.digits_read() + c.digits_written(); };
        move_counter(counter, seen, value, value == 0 || cost(up) >= cost(down));
    }
    return seen;
}

// Digits that differ between the non-adjacent forms of two numbers.
std::uint64_t naf_changes(std::uint64_t a, std::uint64_t b) {
    const auto plus = [](std::uint64_t x) { return (3 * x & ~x) >> 1; };
    const auto minus = [](std::uint64_t x) { return (~(3 * x) & x) >> 1; };
    return static_cast<std::uint64_t>(std::popcount((plus(a) ^ plus(b)) | (minus(a) ^ minus(b))));
}

report::section drawn_counters(std::vector<double>& at, std::vector<double> redundant, std::vector<double> binary,
                               std::vector<double> naf) {
    report::line_chart chart{
        "Going to and fro at the worst place near 2^k",
        "Digits an operation. The redundant counter reads some, too; the others count changes only.",
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
    const auto take = [&](const char* what, const seen_digits& seen) {
        out.series.push_back(seen.row(what));
        kept = kept && seen.kept();
        most = std::max(most, seen.most);
    };
    take("every value up and down", up_and_down(highest));
    take("across every power of two", across_powers());
    options.progress(0.3);
    for (const double up : {0.5, 0.52, 0.7}) take("random walk", random_walk(up, options.seed));
    options.progress(0.6);
    for (const std::uint64_t climb : {10u, 1000u, 100'000u}) take("the dearer way each time", greedy(climb));
    options.progress(0.9);

    std::vector<double> powers, redundant, binary, naf;
    for (unsigned power = 4; power <= highest_power; power += 4) {
        powers.push_back(power);
        bits::redundant_counter counter;
        const std::uint64_t climb = std::min<std::uint64_t>((std::uint64_t{1} << power) - 1, 1u << 20);
        for (std::uint64_t i = 0; i < climb; ++i) (void)counter.increment();
        const auto before = counter.digits_read() + counter.digits_written();
        for (int i = 0; i < 500; ++i) {
            (void)counter.increment();
            (void)counter.decrement();
        }
        redundant.push_back(static_cast<double>(counter.digits_read() + counter.digits_written() - before) / 1000);
        binary.push_back(power + 1);
        const std::uint64_t all_change = ((std::uint64_t{1} << power) - 1) / 3;
        naf.push_back(static_cast<double>(naf_changes(all_change, all_change + 1)));
    }
    const double worst_naf = naf.back();
    const bool control_failed = worst_naf > bits::amortised_digits;
    out.promised = "O(1) digits an operation, amortised: at most " + std::to_string(bits::amortised_digits) +
                   "; at most min(2⌈log C⌉ + 2, C) bits; iszero in one probe";
    out.measured = std::string{kept ? "so" : "NOT so"} + " at every step: at most " + shown(most, 3) +
                   " digits an operation, values up to " + std::to_string(highest);
    out.control = {{"what", "non-adjacent form, from (4^k - 1)/3 to the next number and back, k = 20"},
                   {"digits_an_operation", worst_naf},
                   {"failed_as_it_must", control_failed}};
    out.kept = kept && control_failed;
    out.parameters = {
        {"seed", options.seed}, {"quick", options.quick}, {"highest", highest}, {"walk_steps", walk_steps}};
    out.figures.push_back(drawn_counters(powers, redundant, binary, naf));
    return out;
}

}  // namespace

result<outcome> run_ppr_counter(const run_options& options) {
    if (const auto refused = refuse_filter("ppr-counter", options); !refused) return refused.error();
    return run_experiment("ppr-counter", options, [&] { return measure_counter(options); });
}

}  // namespace genista::lab
