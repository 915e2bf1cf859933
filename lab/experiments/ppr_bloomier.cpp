// ppr-bloomier: values for keys, with false positives [ppr05 §6.2]: a minimal perfect hash function
// for S, and an array of n entries, each with ⌈log(2/ε)⌉ bits of h(x), h from a 2-universal family,
// and the value. O(n + log w) bits from optimal, look-ups in constant time.
//
// bloomier_filter at ε = 2^-4, 2^-8 and 2^-12, values of 0, 1, 8 and 20 bits, n over three decades
// and more. *Judged:*
//
//   1  every key finds its value, and again after every seventh value was updated in place;
//   2  the rule for rates at ε, for each n and ε over all widths. Given h and S, the digest of a
//      number that was never asked for is as good as random, and so are its check bits: a binomial
//      bounds the count although one h answers many queries;
//   3  the same over the draw of h, for pairs close to each other: a filter of one key, asked for
//      one other, under a new h each time;
//   4  a false positive has the value of some element of S: only certain values are given to keys;
//   5  bits: at most 3 a key for the perfect hash function (n ≥ 10^4), and log(1/ε) + 1 + 3 + the
//      value's all in all (n ≥ 10^5, where the object itself, some 700 bytes, is negligible).
//
// *Control.* A check of ⌈log(2/ε)⌉ - 2 bits must break the rate, at each ε.
//
// Sample: 10^4/ε queries for each n and ε, and as many draws of h at the larger rates. False alarm:
// at most 10^-9 each.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "bits/words.hpp"
#include "genista/filters/bloomier.hpp"
#include "lab/experiment.hpp"
#include "lab/experiments/ppr_shared.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/parallel.hpp"

namespace genista::lab {
namespace {

constexpr std::array bloomier_rates{0x1p-4, 0x1p-8, 0x1p-12};
constexpr std::array value_widths{0u, 1u, 8u, 20u};
constexpr std::uint64_t absent_keys_from = std::uint64_t{1} << 63;

// Two in three values of each width but the narrowest belong to no key.
std::uint64_t value_of(std::uint64_t chance, unsigned width) {
    if (width < 2) return chance & bits::low_mask(width);
    return chance % (bits::low_mask(width) / 3) * 3;
}
bool belongs_to_a_key(std::uint64_t value, unsigned width) {
    return value <= bits::low_mask(width) && (width < 2 || value % 3 == 0);
}

std::uint64_t mixed_word(std::uint64_t word) {
    word = (word ^ word >> 31) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 29) * 0x94d049bb133111ebu;
    return word ^ word >> 32;
}

struct bloomier_cell {
    std::uint64_t keys = 0;
    double rate = 0;
    unsigned width = 0;
    std::uint64_t seed = 0;
    std::uint64_t queries = 0, false_positives = 0, unused_values = 0, wrong = 0, wrong_after_updates = 0;
    double perfect_bits = 0, check_bits = 0, value_bits = 0, all_bits = 0;  // a key

    [[nodiscard]] double allowed_bits() const {
        return -std::log2(rate) + 1 + minimal_perfect::most_bits_per_key + width;
    }
    [[nodiscard]] bool is_small() const {
        return perfect_bits <= minimal_perfect::most_bits_per_key &&
               (keys < ppr_judged_from || all_bits <= allowed_bits());
    }
    [[nodiscard]] bool is_right() const { return wrong == 0 && wrong_after_updates == 0 && unused_values == 0; }
};

bloomier_filter build_bloomier(const std::vector<std::uint64_t>& keys, const std::vector<std::uint64_t>& values,
                               double rate, unsigned width, std::uint64_t seed) {
    return must(bloomier_filter::build(
        {.false_positive_rate = rate, .value_bits = width, .hash = hasher{hash_key::from_seed(seed)}},
        std::span<const std::uint64_t>{keys}, values, 1));
}

std::uint64_t count_wrong(const bloomier_filter& filter, const std::vector<std::uint64_t>& keys,
                          const std::vector<std::uint64_t>& values) {
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) wrong += filter.find(keys[i]) != values[i] ? 1u : 0u;
    return wrong;
}

// take(value) for each false positive among `queries` fresh absent keys.
template <class Take>
void ask_absent_keys(const bloomier_filter& filter, std::uint64_t queries, const Take& take) {
    constexpr std::size_t batch = 4096;
    std::vector<std::uint64_t> asked(batch), found(batch), bits(words_for(batch));
    for (std::uint64_t first = 0; first < queries; first += batch) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(batch, queries - first));
        for (std::size_t i = 0; i < count; ++i) asked[i] = absent_keys_from + first + i;
        filter.find(std::span<const std::uint64_t>{asked}.first(count), found, bits);
        for (std::size_t i = 0; i < count; ++i) {
            if ((bits[i / 64] >> i % 64 & 1) != 0) take(found[i]);
        }
    }
}

void measure_cell(bloomier_cell& c) {
    std::vector<std::uint64_t> keys(c.keys), values(c.keys);
    for (std::uint64_t i = 0; i < c.keys; ++i) {
        keys[i] = i;
        values[i] = value_of(mixed_word(c.seed + i), c.width);
    }
    bloomier_filter filter = build_bloomier(keys, values, c.rate, c.width, c.seed);
    c.wrong = count_wrong(filter, keys, values);
    ask_absent_keys(filter, c.queries, [&](std::uint64_t value) {
        ++c.false_positives;
        c.unused_values += belongs_to_a_key(value, c.width) ? 0u : 1u;
    });
    for (std::size_t i = 0; i < keys.size(); i += 7) {
        values[i] = value_of(mixed_word(~c.seed - i), c.width);
        c.wrong_after_updates += must(filter.update(keys[i], values[i])) == update_outcome::updated ? 0u : 1u;
    }
    c.wrong_after_updates += count_wrong(filter, keys, values);
    const bloomier_details parts = filter.details();
    const auto n = static_cast<double>(c.keys);
    c.perfect_bits = 8 * static_cast<double>(parts.perfect_bytes) / n;
    c.check_bits = parts.check_bits;
    c.value_bits = parts.value_bits;
    c.all_bits = 8 * static_cast<double>(filter.stats().local_bytes) / n;
}

nlohmann::json bloomier_row(const bloomier_cell& c) {
    return {{"what", "filter"},
            {"keys", c.keys},
            {"rate", c.rate},
            {"value_bits", c.width},
            {"queries", c.queries},
            {"false_positives", c.false_positives},
            {"values_of_no_key", c.unused_values},
            {"wrong_values", c.wrong},
            {"wrong_values_after_updates", c.wrong_after_updates},
            {"perfect_hash_bits_per_key", c.perfect_bits},
            {"check_bits_per_key", c.check_bits},
            {"all_bits_per_key", c.all_bits},
            {"allowed_bits_per_key", c.allowed_bits()}};
}

struct absent_key_counts {
    std::uint64_t queries = 0, false_positives = 0;
    [[nodiscard]] bool keeps(double rate) const {
        return queries >= trials_for(rate) && false_positives <= most_plausible_hits(queries, rate);
    }
    [[nodiscard]] double of_promise(double rate) const {
        return static_cast<double>(false_positives) / static_cast<double>(queries) / rate;
    }
};

// One stored key, one absent key whose digest lies close by, and a new h for each pair. With n = 1
// all keys share the one entry; Pr[h(x) = h(y)] remains.
absent_key_counts ask_neighbours(double rate, std::uint64_t seed) {
    constexpr std::array<std::pair<std::uint64_t, std::uint64_t>, 4> pairs{
        {{1, 2}, {3, 5}, {std::uint64_t{1} << 40, std::uint64_t{3} << 40}, {0x9e3779b97f4a7c15u, 0x9e3779b97f4a7c16u}}};
    absent_key_counts seen;
    for (const std::uint64_t wanted = trials_for(rate); seen.queries < wanted; ++seen.queries) {
        const auto& [member, absent_key] = pairs[seen.queries % pairs.size()];
        const std::array keys{digest{seed, member}};
        const auto filter =
            must(bloomier_filter::build({.false_positive_rate = rate,
                                         .value_bits = 0,
                                         .hash = hasher{hash_key::from_seed(mixed_word(seed + seen.queries))}},
                                        std::span<const digest>{keys}, {}));
        seen.false_positives += filter.may_contain(digest{seed, absent_key}) ? 1u : 0u;
    }
    return seen;
}

// Two bits fewer, as for a rate of 4 ε, judged by ε.
absent_key_counts short_of_two_bits(double rate, std::uint64_t seed) {
    std::vector<std::uint64_t> keys(10'000);
    for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = i;
    const bloomier_filter filter = build_bloomier(keys, {}, 4 * rate, 0, seed);
    absent_key_counts seen{.queries = trials_for(rate)};
    ask_absent_keys(filter, seen.queries, [&](std::uint64_t) { ++seen.false_positives; });
    return seen;
}

struct judged_bloomier {
    bool kept = true;
    double most_of_promise = 0, most_perfect_bits = 0;
    std::uint64_t queries = 0, wrong = 0;
    std::string broken{};

    void demand(bool holds, const std::string& what) {
        kept = kept && holds;
        if (!holds) broken += (broken.empty() ? " Not kept: " : ", ") + what;
    }
};

void judge_bloomier(const std::vector<bloomier_cell>& cells, std::uint64_t keys, double rate, judged_bloomier& so_far) {
    absent_key_counts sum;
    const std::string where = std::to_string(keys) + " keys at " + shown_rate(rate);
    for (const bloomier_cell& c : cells) {
        if (c.keys != keys || c.rate != rate) continue;
        sum.queries += c.queries;
        sum.false_positives += c.false_positives;
        so_far.most_perfect_bits = std::max(so_far.most_perfect_bits, c.perfect_bits);
        so_far.wrong += c.wrong + c.wrong_after_updates + c.unused_values;
        so_far.demand(c.is_right(), "values of " + where);
        so_far.demand(c.is_small(), "bits of " + where);
    }
    so_far.queries += sum.queries;
    so_far.most_of_promise = std::max(so_far.most_of_promise, sum.of_promise(rate));
    so_far.demand(sum.keeps(rate), "the rate of " + where);
}

std::vector<report::section> draw_bloomier(const std::vector<bloomier_cell>& cells,
                                           const std::vector<std::uint64_t>& sizes) {
    report::line_chart parts;
    parts.title = "Bits a key, part by part";
    parts.caption =
        "ε = 2^-8, no values. Promised are log(1/ε) + 1 bits for the check and 3 for the perfect hash function.";
    parts.x = {"keys", true, report::unit::number};
    parts.y = {"bits a key", false, report::unit::number};
    report::series perfect{"perfect hash function", {}}, checks{"checks", {}}, all{"all local bits", {}},
        promise{"promised", {}};
    for (const std::uint64_t keys : sizes) {
        parts.at.push_back(static_cast<double>(keys));
        for (const bloomier_cell& c : cells) {
            if (c.keys != keys || c.rate != bloomier_rates[1] || c.width != 0) continue;
            perfect.y.push_back(c.perfect_bits);
            checks.y.push_back(c.check_bits);
            all.y.push_back(c.all_bits);
            promise.y.push_back(c.allowed_bits());
        }
    }
    parts.lines = {std::move(perfect), std::move(checks), std::move(all), std::move(promise)};
    report::line_chart over;
    over.title = "Bits beyond log(1/ε) and the value";
    over.caption =
        "Values of 8 bits. Allowed are 4: one for the 2-universal check, three for the perfect hash function.";
    over.x = parts.x;
    over.y = parts.y;
    over.at = parts.at;
    for (const double rate : bloomier_rates) {
        report::series line{"ε = " + shown_rate(rate), {}};
        for (const bloomier_cell& c : cells) {
            if (c.rate == rate && c.width == 8) line.y.push_back(c.all_bits - 8 + std::log2(rate));
        }
        over.lines.push_back(std::move(line));
    }
    return {{"Space", "", {std::move(parts), std::move(over)}}};
}

outcome measure_bloomier(const run_options& options) {
    std::vector<std::uint64_t> sizes{10'000, 100'000, 1'000'000};
    if (!options.quick) sizes.push_back(10'000'000);
    std::vector<bloomier_cell> cells;
    for (const std::uint64_t keys : sizes) {
        for (const double rate : bloomier_rates) {
            for (const unsigned width : value_widths) {
                cells.push_back({.keys = keys,
                                 .rate = rate,
                                 .width = width,
                                 .seed = options.seed + 1'000'003 * cells.size(),
                                 .queries = trials_for(rate) / value_widths.size() + 1});
            }
        }
    }
    parallel(
        cells.size(), [&](std::size_t i) { measure_cell(cells[i]); },
        [&](double done) { options.progress(0.8 * done); });
    outcome out;
    judged_bloomier verdict;
    for (const bloomier_cell& each : cells) out.series.push_back(bloomier_row(each));
    for (const std::uint64_t keys : sizes) {
        for (const double rate : bloomier_rates) judge_bloomier(cells, keys, rate, verdict);
    }

    nlohmann::json controls = nlohmann::json::array();
    bool controls_failed = true;
    double most_near = 0;
    for (const double rate : bloomier_rates) {
        const absent_key_counts without = short_of_two_bits(rate, options.seed);
        controls_failed = controls_failed && !without.keeps(rate);
        controls.push_back({{"rate", rate},
                            {"check_bits", bloomier_filter::check_bits_for(4 * rate)},
                            {"queries", without.queries},
                            {"false_positives", without.false_positives},
                            {"most_plausible", most_plausible_hits(without.queries, rate)},
                            {"rate_of_promise", without.of_promise(rate)},
                            {"failed_as_it_must", !without.keeps(rate)}});
        if (rate < (options.quick ? bloomier_rates[0] : bloomier_rates[1])) continue;
        const absent_key_counts near = ask_neighbours(rate, options.seed);
        most_near = std::max(most_near, near.of_promise(rate));
        verdict.demand(near.keeps(rate), "the rate of neighbours at " + shown_rate(rate));
        out.series.push_back({{"what", "neighbours, a new h each time"},
                              {"rate", rate},
                              {"queries", near.queries},
                              {"false_positives", near.false_positives},
                              {"most_plausible", most_plausible_hits(near.queries, rate)}});
    }
    const bloomier_cell& largest = *std::ranges::find_if(cells, [&](const bloomier_cell& c) {
        return c.keys == sizes.back() && c.rate == bloomier_rates[1] && c.width == 8;
    });
    out.promised =
        "every key finds its value, also after updates in place; absent keys pass with probability at most ε and have "
        "the value of some key; at most 3 bits a key for the perfect hash function, log(1/ε) + 4 and the value's all "
        "in all";
    out.measured = std::to_string(verdict.wrong) + " wrong values; at most " + shown(verdict.most_of_promise) +
                   " ε over " + std::to_string(verdict.queries) + " absent keys, " + shown(most_near) +
                   " ε over draws of h for neighbours; the perfect hash function takes at most " +
                   shown(verdict.most_perfect_bits) + " bits a key; all in all " + shown(largest.all_bits) + " of " +
                   shown(largest.allowed_bits()) + " bits at " + std::to_string(largest.keys) +
                   " keys, ε = 2^-8 and 8-bit values." + verdict.broken;
    out.kept = verdict.kept && controls_failed;
    out.control = {{"what", "a check two bits shorter must break the rate"},
                   {"runs", controls},
                   {"failed_as_they_must", controls_failed}};
    out.parameters = {{"rates", bloomier_rates},
                      {"sizes", sizes},
                      {"value_bits", value_widths},
                      {"bits_judged_from_keys", ppr_judged_from}};
    out.figures = draw_bloomier(cells, sizes);
    return out;
}

const registration ppr_bloomier_experiment(
    "ppr-bloomier", 207, "Values for keys: a minimal perfect hash function and a short check for absent keys.",
    "ppr05 §6.2", measure_bloomier, {.quick_seconds = 7.7, .full_minutes = 2}, {.filters = {bloomier_filter::name}});

}  // namespace
}  // namespace genista::lab
