// ppr-reduction: storing h(S) answers membership with at most ε false positives, if h is drawn from
// the right family.
//
// The promise [ppr05 §2], for every set S of n keys and every x ∉ S, over the draw of h: Pr[h(x) ∈
// h(S)] ≤ ε if h is universal into [n/ε], 2-universal into [2n/ε], or 4-wise independent into the
// smaller range of hash/reduction.hpp.
//
// Exact: over universes of up to 64 keys, every function of the family, every x and every S (or
// 20,000 drawn sets where there are too many); whole numbers are compared, so there is no error of
// measurement. n = 1 is universality itself: all pairs, all ranges. Sampled: the same code over
// 64-bit keys, judged by the one rule for rates (statistics/binomial.hpp).
//   far queries:   x uniform in 2^64. Given h and S the answers are independent and their rate is
//                  |h(S)|/m ≤ n/m, so a binomial bounds the count although one h serves many
//                  queries.
//   near queries:  S an arithmetic progression and x its next term, with a new h for *every* query,
//                  because under one linear h the answers for such x depend on each other.
// Control: h(x) = (x + b) mod m, b drawn. Each value is uniform, but the family is not universal:
// keys m apart always collide, and the same measurements must show a rate of 1.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "genista/detail/hash/families.hpp"
#include "hash/reduction.hpp"
#include "lab/experiment.hpp"
#include "lab/statistics/binomial.hpp"

namespace genista::lab {
namespace {

struct fraction {
    std::uint64_t over, under;

    [[nodiscard]] double value() const { return static_cast<double>(over) / static_cast<double>(under); }
    [[nodiscard]] std::string text() const { return std::to_string(over) + "/" + std::to_string(under); }
    [[nodiscard]] bool at_most(const fraction& other) const {
        return static_cast<uint128>(over) * other.under <= static_cast<uint128>(other.over) * under;
    }
};

// The control: uniform for every key, universal for no two keys m apart.
class shift_hash {
  public:
    shift_hash(std::uint64_t range, std::uint64_t b) : range_{range}, b_{b} {}
    [[nodiscard]] std::uint64_t operator()(std::uint64_t key) const { return (key % range_ + b_) % range_; }

  private:
    std::uint64_t range_, b_;
};

// ---- every function of a family ----------------------------------------------------------------

template <class Field>
void all_universal(std::uint64_t range, const auto& visit) {
    const auto p = static_cast<std::uint64_t>(Field::modulus());
    for (std::uint64_t a = 1; a < p; ++a)
        for (std::uint64_t b = 0; b < p; ++b) visit(*universal_hash<Field>::make(range, a, b));
}

template <unsigned W>
void all_multiply_shift(std::uint64_t range, const auto& visit) {
    const auto bits = static_cast<unsigned>(std::bit_width(range) - 1);  // range is a power of two
    for (std::uint64_t a = 1; a < std::uint64_t{1} << W; a += 2) visit(*multiply_shift<W>::make(bits, a));
}

template <class Field>
void all_cubic(std::uint64_t range, const auto& visit) {
    const auto p = static_cast<std::uint64_t>(Field::modulus());
    for (std::uint64_t a = 0; a < p; ++a)
        for (std::uint64_t b = 0; b < p; ++b)
            for (std::uint64_t c = 0; c < p; ++c)
                for (std::uint64_t d = 0; d < p; ++d) visit(*polynomial_hash<Field, 4>::make(range, {a, b, c, d}));
}

void all_shifts(std::uint64_t range, const auto& visit) {
    for (std::uint64_t b = 0; b < range; ++b) visit(shift_hash{range, b});
}

// ---- exact rates over a universe of up to 64 keys ----------------------------------------------

constexpr std::uint64_t most_sets = 50'000, drawn_sets = 20'000;

std::uint64_t choose(std::uint64_t n, std::uint64_t k) {
    uint128 product = 1;
    for (std::uint64_t i = 1; i <= k; ++i) {
        product = product * (n - k + i) / i;
        if (product > most_sets) return most_sets + 1;
    }
    return static_cast<std::uint64_t>(product);
}

// Sets of `keys` out of `universe` elements, as bit masks: all of them, or `drawn_sets` at random
// if there are too many.
std::vector<std::uint64_t> sets_of(std::uint64_t universe, std::uint64_t keys, std::uint64_t seed) {
    std::vector<std::uint64_t> sets;
    if (choose(universe, keys) <= most_sets) {
        const std::uint64_t beyond = universe == 64 ? 0 : std::uint64_t{1} << universe;
        for (std::uint64_t set = (std::uint64_t{1} << keys) - 1;;) {
            sets.push_back(set);
            const std::uint64_t lowest = set & (~set + 1), ripple = set + lowest;  // the next mask of as many ones
            if (ripple == 0) break;
            set = (((ripple ^ set) >> 2) / lowest) | ripple;
            if (beyond != 0 && set >= beyond) break;
        }
        return sets;
    }
    std::mt19937_64 random{seed};
    std::vector<std::uint64_t> order(universe);
    std::iota(order.begin(), order.end(), 0);
    while (sets.size() < drawn_sets) {
        std::uint64_t set = 0;
        for (std::uint64_t i = 0; i < keys; ++i) {
            std::swap(order[i], order[i + random() % (universe - i)]);
            set |= std::uint64_t{1} << order[i];
        }
        sets.push_back(set);
    }
    return sets;
}

struct exact_case {
    const char* family;
    std::uint64_t universe, keys, range;
    fraction rate;
    std::uint64_t universal_range;  // by the union bound; 0 where nothing is compared
};

struct exact_rate {
    fraction worst;  // over every set and every key outside it
    std::uint64_t functions, sets;
    bool all_sets;
};

exact_rate measure_exactly(const exact_case& what, std::uint64_t seed, const auto& for_each_function) {
    const auto sets = sets_of(what.universe, what.keys, seed);
    std::vector<std::uint32_t> hits(what.universe * sets.size());
    std::vector<std::uint64_t> value(what.universe);
    std::uint64_t functions = 0;
    for_each_function(what.range, [&](const auto& h) {
        ++functions;
        for (std::uint64_t x = 0; x < what.universe; ++x) value[x] = h(x);
        for (std::uint64_t x = 0; x < what.universe; ++x) {
            std::uint64_t same = 0;  // the keys with the value of x
            for (std::uint64_t y = 0; y < what.universe; ++y) same |= std::uint64_t{value[x] == value[y]} << y;
            std::uint32_t* const row = hits.data() + x * sets.size();
            for (std::size_t s = 0; s < sets.size(); ++s) row[s] += (same & sets[s]) != 0 ? 1u : 0u;
        }
    });
    std::uint64_t worst = 0;
    for (std::uint64_t x = 0; x < what.universe; ++x)
        for (std::size_t s = 0; s < sets.size(); ++s)
            if ((sets[s] >> x & 1) == 0) worst = std::max<std::uint64_t>(worst, hits[x * sets.size() + s]);
    return {{worst, functions}, functions, sets.size(), choose(what.universe, what.keys) <= most_sets};
}

nlohmann::json exact_row_json(const exact_case& what, const exact_rate& rate, bool kept) {
    nlohmann::json row{{"kind", "exact"},
                       {"family", what.family},
                       {"universe", what.universe},
                       {"functions", rate.functions},
                       {"keys", what.keys},
                       {"range", what.range},
                       {"sets", rate.sets},
                       {"all_sets", rate.all_sets},
                       {"promised", what.rate.text()},
                       {"worst", rate.worst.text()},
                       {"worst_rate", rate.worst.value()},
                       {"kept", kept}};
    if (what.universal_range != 0) row["range_if_universal"] = what.universal_range;
    return row;
}

// Any four keys see each of the p^4 value vectors exactly once, over all p^4 functions.
template <class Field>
bool is_4wise_independent() {
    const auto p = static_cast<std::uint64_t>(Field::modulus());
    std::vector<std::vector<std::uint64_t>> at(p);
    all_cubic<Field>(p, [&](const auto& h) {
        for (std::uint64_t x = 0; x < p; ++x) at[x].push_back(h(x));
    });
    for (const std::uint64_t set : sets_of(p, 4, 0)) {
        std::vector<std::uint64_t> joint(at[0].size());
        for (std::uint64_t x = 0; x < p; ++x)
            if (set >> x & 1)
                for (std::size_t f = 0; f < joint.size(); ++f) joint[f] = joint[f] * p + at[x][f];
        std::vector<bool> seen(joint.size());
        for (const std::uint64_t vector : joint) {
            if (seen[vector]) return false;
            seen[vector] = true;
        }
    }
    return true;
}

// ---- sampled rates over 64-bit keys ------------------------------------------------------------

struct rate_sample {
    std::uint64_t queries = 0, false_positives = 0, false_negatives = 0;

    [[nodiscard]] bool keeps(double rate) const {
        return false_negatives == 0 && false_positives <= most_plausible_hits(queries, rate);
    }
    [[nodiscard]] double rate() const { return static_cast<double>(false_positives) / static_cast<double>(queries); }
};

nlohmann::json sample_row_json(const char* kind, const char* family, const char* keys_are, std::uint64_t keys,
                               std::uint64_t range, double rate, const rate_sample& seen) {
    return {{"kind", kind},
            {"family", family},
            {"set", keys_are},
            {"keys", keys},
            {"range", range},
            {"promised", rate},
            {"queries", seen.queries},
            {"false_positives", seen.false_positives},
            {"most_plausible_hits", most_plausible_hits(seen.queries, rate)},
            {"false_negatives", seen.false_negatives},
            {"measured", seen.rate()},
            {"kept", seen.keeps(rate)}};
}

std::vector<std::uint64_t> random_keys(std::uint64_t count, std::mt19937_64& random) {
    std::unordered_set<std::uint64_t> distinct;
    while (distinct.size() < count) distinct.insert(random());
    return {distinct.begin(), distinct.end()};
}

std::vector<std::uint64_t> progression(std::uint64_t start, std::uint64_t stride, std::uint64_t count) {
    std::vector<std::uint64_t> keys(count);
    for (std::uint64_t i = 0; i < count; ++i) keys[i] = start + i * stride;
    return keys;
}

// h(S) as a bit for each value; uniform queries; the exact set separates stored keys from false
// positives.
rate_sample far_queries(const std::vector<std::uint64_t>& keys, std::uint64_t range, std::uint64_t queries,
                        std::uint64_t draws, std::mt19937_64& random, const auto& draw) {
    const std::unordered_set<std::uint64_t> exact{keys.begin(), keys.end()};
    rate_sample seen;
    std::vector<std::uint64_t> stored((range + 63) / 64);
    const auto holds = [&](std::uint64_t v) { return (stored[v / 64] >> (v % 64) & 1) != 0; };
    for (std::uint64_t round = 0; round < draws; ++round) {
        const auto h = draw(random);
        std::fill(stored.begin(), stored.end(), 0);
        for (const std::uint64_t key : keys) stored[h(key) / 64] |= std::uint64_t{1} << (h(key) % 64);
        for (const std::uint64_t key : keys) seen.false_negatives += holds(h(key)) ? 0u : 1u;
        for (std::uint64_t asked = 0; asked < queries / draws;) {
            const std::uint64_t x = random();
            const bool positive = holds(h(x));
            if (positive && exact.contains(x)) continue;
            ++asked;
            seen.false_positives += positive ? 1u : 0u;
        }
        seen.queries += queries / draws;
    }
    return seen;
}

// One query to each drawn function: x is the term after the last of the progression.
rate_sample near_queries(std::uint64_t keys, std::uint64_t stride, std::uint64_t queries, std::mt19937_64& random,
                         const auto& draw) {
    rate_sample seen;
    for (; seen.queries < queries; ++seen.queries) {
        const auto h = draw(random);
        const std::uint64_t start = random() >> 24, x = start + keys * stride;  // no wrap: terms stay different
        const std::uint64_t value = h(x);
        for (std::uint64_t key = start; key != x; key += stride)
            if (h(key) == value) {
                ++seen.false_positives;
                break;
            }
    }
    return seen;
}

// ---- the experiment ----------------------------------------------------------------------------

class reduction_run {
  public:
    explicit reduction_run(const run_options& options) : options_{options}, random_{options.seed} {}

    outcome run() {
        exact_universal();
        options_.progress(0.1);
        exact_2universal();
        options_.progress(0.2);
        exact_4wise();
        options_.progress(0.4);
        sampled_far();
        options_.progress(0.6);
        sampled_near();
        options_.progress(0.9);
        control();
        return report();
    }

  private:
    void exact(const exact_case& what, const auto& for_each_function) {
        const exact_rate rate = measure_exactly(what, options_.seed, for_each_function);
        const bool kept = rate.worst.at_most(what.rate);
        exact_kept_ = exact_kept_ && kept;
        exact_functions_ += rate.functions;
        ++exact_cases_;
        out_.series.push_back(exact_row_json(what, rate, kept));
    }

    template <class Field>
    void exact_universal_over(const char* family) {
        const auto p = static_cast<std::uint64_t>(Field::modulus());
        const auto all = [](std::uint64_t range, const auto& visit) { all_universal<Field>(range, visit); };
        for (std::uint64_t range = 1; range <= p; ++range) exact({family, p, 1, range, {1, range}, 0}, all);
        for (const auto& [keys, rate] : {std::pair{3ull, fraction{1, 4}},
                                         {6ull, fraction{1, 2}},
                                         {3ull, fraction{1, 8}},
                                         {7ull, fraction{1, 4}},
                                         {15ull, fraction{1, 2}}}) {
            const std::uint64_t range = *range_for_universal(keys, rate.value());
            if (range <= p) exact({family, p, keys, range, rate, 0}, all);
        }
    }

    void exact_universal() {
        exact_universal_over<mersenne_field<3>>("universal, p = 7");
        exact_universal_over<prime_field<13>>("universal, p = 13");
        exact_universal_over<mersenne_field<5>>("universal, p = 31");
        if (!options_.quick) exact_universal_over<prime_field<61>>("universal, p = 61");
    }

    template <unsigned W>
    void exact_2universal_over(const char* family) {  // the first 64 keys of 2^W: masks have 64 bits
        const auto all = [](std::uint64_t range, const auto& visit) { all_multiply_shift<W>(range, visit); };
        for (std::uint64_t range = 2; range <= std::uint64_t{1} << W; range *= 2)
            exact({family, 64, 1, range, {2, range}, 0}, all);
        for (const auto& [keys, rate] : {std::pair{3ull, fraction{1, 4}},
                                         {3ull, fraction{1, 2}},
                                         {3ull, fraction{1, 16}},
                                         {7ull, fraction{1, 2}},
                                         {16ull, fraction{1, 2}}}) {
            const std::uint64_t range = std::bit_ceil(*range_for_2universal(keys, rate.value()));
            if (range < std::uint64_t{1} << W) exact({family, 64, keys, range, rate, 0}, all);  // else one-to-one
        }
    }

    void exact_2universal() {
        exact_2universal_over<6>("2-universal, multiply-shift of 6 bits");
        exact_2universal_over<8>("2-universal, multiply-shift of 8 bits");
    }

    template <class Field>
    void exact_4wise_case(const char* family, std::uint64_t keys, const fraction& rate) {
        const auto range = range_for_4wise<Field>(keys, rate.value());
        const std::uint64_t universal = *range_for_universal(keys, rate.value());
        if (!range || *range >= universal) {  // the point of the family is a smaller range
            exact_kept_ = false;
            return;
        }
        exact({family, static_cast<std::uint64_t>(Field::modulus()), keys, *range, rate, universal},
              [](std::uint64_t m, const auto& visit) { all_cubic<Field>(m, visit); });
    }

    void exact_4wise() {
        independent_ = is_4wise_independent<mersenne_field<3>>() && is_4wise_independent<prime_field<11>>();
        exact_4wise_case<mersenne_field<3>>("4-wise, p = 7", 4, {1, 2});
        exact_4wise_case<prime_field<11>>("4-wise, p = 11", 3, {1, 4});
        exact_4wise_case<prime_field<11>>("4-wise, p = 11", 7, {1, 2});
        exact_4wise_case<prime_field<13>>("4-wise, p = 13", 4, {9, 32});
        exact_4wise_case<prime_field<13>>("4-wise, p = 13", 8, {1, 2});
        if (!options_.quick) exact_4wise_case<prime_field<17>>("4-wise, p = 17", 3, {11, 64});
        if (!options_.quick) exact_4wise_case<prime_field<19>>("4-wise, p = 19", 5, {1, 4});
    }

    // Calls visit(name, range, draw) for each of the three families over 64-bit keys.
    void for_each_family(std::uint64_t keys, double rate, const auto& visit) const {
        const std::uint64_t universal = *range_for_universal(keys, rate);
        const std::uint64_t doubled = std::bit_ceil(*range_for_2universal(keys, rate));
        const std::uint64_t smaller = *range_for_4wise<mersenne_field<89>>(keys, rate);
        const auto bits = static_cast<unsigned>(std::bit_width(doubled) - 1);
        visit("universal", universal, [=](auto& random) { return *universal_hash_64::draw(universal, random); });
        visit("2-universal", doubled, [=](auto& random) { return *two_universal_hash_64::draw(bits, random); });
        visit("4-wise", smaller, [=](auto& random) { return *four_wise_hash_64::draw(smaller, random); });
    }

    void sampled(const char* kind, const char* family, const char* set, std::uint64_t keys, std::uint64_t range,
                 double rate, const rate_sample& seen) {
        sampled_kept_ = sampled_kept_ && seen.keeps(rate);
        worst_share_ = std::max(worst_share_, seen.rate() / rate);
        sampled_queries_ += seen.queries;
        out_.series.push_back(sample_row_json(kind, family, set, keys, range, rate, seen));
    }

    void sampled_far() {
        std::vector<std::uint64_t> sizes{10'000, 100'000};
        if (!options_.quick) sizes.push_back(1'000'000);
        for (const std::uint64_t keys : sizes) {
            const auto visit_set = [&](const char* set_name, const std::vector<std::uint64_t>& set) {
                for_each_family(keys, far_rate, [&](const char* family, std::uint64_t range, const auto& draw) {
                    const rate_sample seen = far_queries(set, range, trials_for(far_rate), 8, random_, draw);
                    sampled("far queries", family, set_name, keys, range, far_rate, seen);
                });
            };
            visit_set("random", random_keys(keys, random_));
            visit_set("consecutive", progression(random_() >> 1, 1, keys));
            visit_set("progression of stride 2^32", progression(random_() >> 40, std::uint64_t{1} << 32, keys));
        }
    }

    void sampled_near() {
        const std::uint64_t keys = near_keys();
        for_each_family(keys, near_rate, [&](const char* family, std::uint64_t range, const auto& draw) {
            const rate_sample seen = near_queries(keys, range, trials_for(near_rate), random_, draw);
            sampled("near queries", family, "progression of stride m", keys, range, near_rate, seen);
        });
    }

    void control() {
        const exact_case what{"(x + b) mod m", 64, 3, *range_for_universal(3, 0.25), {1, 4}, 0};
        const exact_rate rate = measure_exactly(
            what, options_.seed, [](std::uint64_t range, const auto& visit) { all_shifts(range, visit); });
        const bool exact_breaks = !rate.worst.at_most(what.rate);

        const std::uint64_t keys = near_keys(), range = *range_for_universal(keys, near_rate);
        const auto draw = [=](auto& random) {
            std::uniform_int_distribution<std::uint64_t> any{0, range - 1};
            return shift_hash{range, any(random)};
        };
        const rate_sample seen = near_queries(keys, range, trials_for(near_rate), random_, draw);
        control_failed_ = exact_breaks && !seen.keeps(near_rate);
        out_.control = {{"family", "(x + b) mod m, not universal"},
                        {"must", "break both measurements"},
                        {"exact", exact_row_json(what, rate, !exact_breaks)},
                        {"sampled", sample_row_json("near queries", what.family, "progression of stride m", keys, range,
                                                    near_rate, seen)},
                        {"failed", control_failed_}};
    }

    outcome report() {
        char text[400];
        std::snprintf(
            text, sizeof text,
            "exact: %llu cases, %llu functions, every worst rate <= promised: %s; 4-wise joint values uniform: %s; "
            "sampled: %llu queries, worst rate %.3f of the promised one, within the 1 - 1e-9 quantile: %s",
            static_cast<unsigned long long>(exact_cases_), static_cast<unsigned long long>(exact_functions_),
            exact_kept_ ? "yes" : "NO", independent_ ? "yes" : "NO", static_cast<unsigned long long>(sampled_queries_),
            worst_share_, sampled_kept_ ? "yes" : "NO");
        out_.promised =
            "for all S and x not in S: Pr[h(x) in h(S)] <= eps with h universal into [n/eps], 2-universal into "
            "[2n/eps], or 4-wise independent into a smaller range";
        out_.measured = text;
        out_.kept = exact_kept_ && independent_ && sampled_kept_ && control_failed_;
        out_.parameters = {{"far_rate", far_rate},     {"far_queries_per_row", trials_for(far_rate)},
                           {"near_rate", near_rate},   {"near_queries_per_row", trials_for(near_rate)},
                           {"near_keys", near_keys()}, {"drawn_sets_where_not_all", drawn_sets}};
        return std::move(out_);
    }

    [[nodiscard]] std::uint64_t near_keys() const { return options_.quick ? 250 : 2'000; }

    static constexpr double far_rate = 1.0 / 256, near_rate = 1.0 / 16;

    const run_options& options_;
    std::mt19937_64 random_;
    outcome out_;
    bool exact_kept_ = true, independent_ = false, sampled_kept_ = true, control_failed_ = false;
    std::uint64_t exact_cases_ = 0, exact_functions_ = 0, sampled_queries_ = 0;
    double worst_share_ = 0;
};

outcome measure_ppr_reduction(const run_options& options) {
    return reduction_run{options}.run();
}

const registration ppr_reduction_experiment(
    "ppr-reduction", 201,
    "Storing the hashed set exactly, under a universal function into n/ε values, is a filter of rate ε; four-wise "
    "independence allows a smaller range.",
    "ppr05 §2", measure_ppr_reduction, {.quick_seconds = 5.3, .full_minutes = 0.7});

}  // namespace
}  // namespace genista::lab
