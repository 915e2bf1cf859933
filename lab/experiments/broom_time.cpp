// broom-time: look-up, insert and erase do a constant amount of local work, independent of n and ε
// [broom18 Thm 6].
//
// Work is counted in instructions, one by one (workloads/instruction_counter.hpp), not timed:
// caches and other processes make times grow with n. R's own work is left out; the filter's work on
// the keys of a range read is included. Filters at their capacity, n = 10^4 to 10^7, ε = 2^-8,
// 2^-16, 2^-24:
//
//     negative, positive   look-ups of absent keys and of stored keys
//     insert               of a new key, into a bin of 44 keys, without renewal
//     erase                of a key that is buried, in a bin of 45 keys (the mean)
//     renewal              an erase in a bin of 50 keys, which is full: the bin is rehashed
//     renewals             the mean number of them in an ordinary replacement (an erase and an
//                          insert of a new key)
//
// Bins of one size, because populations are Poisson with the same mean for every n. Single steps
// are slow, so samples are small. Look-ups are judged by their mean, writes by their median. From
// any n to a larger one a figure may grow by `flat_over_sizes` at most, from any ε to a smaller one
// by `flat_over_rates`: filters with tails maintain one more array. Smallest defects seen: 25 %
// more over n, twice as much over ε.
//
// The theorem is about every single operation, so the most expensive writes of a stream are found,
// counted and judged, too: see broom_costliest.hpp for the method and the limits.
//
// Controls: binary search in a sorted array grows with n, a Bloom filter's inserts grow with
// log(1/ε); and the same stream with a pass over all keys hidden in two of its inserts, which no
// median shows, must be detected.
//
// The structure of the paper, in full filters:
//
//     negative, positive   look-ups of absent keys and of stored keys: mean
//     erase, insert        of a key, of a new key: median. An insert that finds its slot empty
//                          takes half of what others take: more of them
//     repair               of a false positive, with the frontier's c = 3 keys: median. They differ
//                          by a third among themselves
//
// The two designs are judged apart. From any n to a larger one a figure may grow by
// `paper_flat_over_sizes`; from any r to a larger one, in the large design, by
// `paper_flat_over_rates`. No write of the sample may take more than `most_of_a_write`, for any n
// and ε: an insert that collides also repairs. *Believed* constant: remainders slide within a
// window of 6 log n slots, O(1) words of log n bits, while ours have 64 bits for every n.
// Controls: the search and the Bloom filter.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "genista/filters/bloom.hpp"
#include "lab/experiment.hpp"
#include "lab/experiments/broom_costliest.hpp"
#include "lab/experiments/two_brooms.hpp"
#include "lab/workloads/instruction_counter.hpp"

namespace genista::lab {
namespace {

constexpr double flat_over_sizes = 1.25;
constexpr double flat_over_rates = 2;

struct time_samples {
    std::uint64_t lookups, inserts, erases, renewals;
};

// One filter, in instructions: means of look-ups, medians of writes.
struct time_means {
    double negative = 0, positive = 0, insert = 0, erase = 0, renewal = 0;
    double renewals = 0;   // a replacement
    double costliest = 0;  // write of the sample
    double control_search = 0, control_bloom_insert = 0;
};

// Means are those of one kind of filter.
template <class Means>
struct time_quantity {
    const char* name;
    double Means::*value;
};
constexpr std::array<time_quantity<time_means>, 6> judged_times = {
    {{"negative", &time_means::negative},
     {"positive", &time_means::positive},
     {"insert", &time_means::insert},
     {"erase", &time_means::erase},
     {"renewal", &time_means::renewal},
     {"renewals_per_replacement", &time_means::renewals}}};

template <class Operation>
std::vector<double> count_each(instruction_counter& counter, const std::vector<std::uint64_t>& keys,
                               Operation operation) {
    std::vector<double> counts;
    counts.reserve(keys.size());
    for (const std::uint64_t key : keys) counts.push_back(static_cast<double>(counter.of([&] { operation(key); })));
    return counts;
}

std::vector<std::uint64_t> keys_from(std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> keys(count);
    for (std::uint64_t i = 0; i < count; ++i) keys[i] = first + i;
    return keys;
}

template <class Means>
struct time_cell {
    std::uint64_t keys = 0;
    double rate = 0;
    bool large = false;  // design; ours has one for all ε
    Means seen{};
};

// Binary search in a sorted array of the keys' positions, and inserts into a Bloom filter.
template <class Means>
void measure_time_controls(Means& seen, instruction_counter& counter, const hasher& hash, std::uint64_t n, double rate,
                           std::uint64_t samples) {
    [[maybe_unused]] volatile bool sink = false;
    std::vector<std::uint64_t> sorted(n);
    for (std::uint64_t i = 0; i < n; ++i) sorted[i] = hash(i).position;
    std::sort(sorted.begin(), sorted.end());
    const auto search = [&](std::uint64_t key) {
        sink = std::binary_search(sorted.begin(), sorted.end(), hash(key).position);
    };
    seen.control_search = mean_of(count_each(counter, keys_from(first_absent_key, samples), search));
    bloom_filter bloom = must(bloom_filter::make({.capacity = n, .false_positive_rate = rate, .hash = hash}));
    const auto insert = [&](std::uint64_t key) { sink = bloom.insert(key) == insert_outcome::full; };
    seen.control_bloom_insert = mean_of(count_each(counter, keys_from(0, samples), insert));
}

// The largest factor by which a figure grows between two cells of one design that `compared`
// selects.
template <class Means, class Compared>
double time_growth(const std::vector<time_cell<Means>>& cells, double Means::*value, Compared compared) {
    double worst = 0;
    for (const time_cell<Means>& a : cells) {
        for (const time_cell<Means>& b : cells) {
            if (a.large == b.large && compared(a, b)) worst = std::max(worst, b.seen.*value / (a.seen.*value));
        }
    }
    return worst;
}
// From a smaller n to a larger one at the same ε …
template <class Means>
double time_growth_over_sizes(const std::vector<time_cell<Means>>& cells, double Means::*value) {
    return time_growth(cells, value, [](const auto& a, const auto& b) { return a.rate == b.rate && a.keys < b.keys; });
}
// … and from a larger ε to a smaller one at the same n.
template <class Means>
double time_growth_over_rates(const std::vector<time_cell<Means>>& cells, double Means::*value) {
    return time_growth(cells, value, [](const auto& a, const auto& b) { return a.keys == b.keys && a.rate > b.rate; });
}

// The row of a cell, without what only one kind of filter has.
template <class Means, std::size_t Count>
nlohmann::json time_row(const time_cell<Means>& cell, const std::array<time_quantity<Means>, Count>& quantities) {
    nlohmann::json row{{"keys", cell.keys}, {"rate", cell.rate}};
    for (const time_quantity<Means>& each : quantities) row[each.name] = cell.seen.*each.value;
    row["control_binary_search"] = cell.seen.control_search;
    row["control_bloom_insert"] = cell.seen.control_bloom_insert;
    return row;
}

// How every quantity grows, and whether none grows by more than this.
struct time_verdict {
    bool flat = true, controls_failed = false;
    double search = 0, bloom = 0;  // growth of the controls
    std::string summary;
    nlohmann::json factors;
};
template <class Means, std::size_t Count>
time_verdict judge_times(const std::vector<time_cell<Means>>& cells,
                         const std::array<time_quantity<Means>, Count>& quantities, double most_over_sizes,
                         double most_over_rates) {
    time_verdict verdict;
    for (const time_quantity<Means>& each : quantities) {
        const double by_size = time_growth_over_sizes(cells, each.value),
                     by_rate = time_growth_over_rates(cells, each.value);
        verdict.flat = verdict.flat && by_size <= most_over_sizes && by_rate <= most_over_rates;
        verdict.factors[each.name] = {{"over_sizes", by_size}, {"over_rates", by_rate}};
        verdict.summary += (verdict.summary.empty() ? "" : "; ") + std::string{each.name} + " " +
                           shown(cells[0].seen.*each.value) + " (" + shown(by_size, 3) + "× over n, " +
                           shown(by_rate, 3) + "× over ε)";
    }
    verdict.search = time_growth_over_sizes(cells, &Means::control_search);
    verdict.bloom = time_growth_over_rates(cells, &Means::control_bloom_insert);
    verdict.controls_failed = verdict.search > most_over_sizes && verdict.bloom > most_over_rates;
    return verdict;
}

// Keys in bins of one population, one of each bin.
class chosen_by_population {
  public:
    chosen_by_population(const broom_filter& filter, std::uint64_t n)
        : filter_{filter}, bins_{filter.details().bins}, population_(bins_) {
        for (std::uint64_t key = 0; key < n; ++key) ++population_[bin_of(key)];
    }
    // Fewer than `count` where not so many bins of that population are left: small filters have few
    // bins.
    std::vector<std::uint64_t> keys(std::uint64_t first, unsigned population, std::uint64_t count) {
        const auto left = std::count(population_.begin(), population_.end(), population);
        count = std::min(count, static_cast<std::uint64_t>(left));
        std::vector<std::uint64_t> found;
        for (std::uint64_t key = first; found.size() < count; ++key) {
            if (population_[bin_of(key)] != population) continue;
            population_[bin_of(key)] = 0;
            found.push_back(key);
        }
        return found;
    }
    // The keys among the first n that are in a bin of about this population; empty if no such bin
    // is left.
    std::vector<std::uint64_t> keys_of_a_bin(std::uint64_t n, unsigned population) {
        for (const int more : {0, 1, -1, 2, -2, 3, -3}) {
            const auto wanted = static_cast<unsigned>(static_cast<int>(population) + more);
            const auto at = std::find(population_.begin(), population_.end(), wanted);
            if (at == population_.end()) continue;
            *at = 0;
            const auto bin = static_cast<std::uint64_t>(at - population_.begin());
            std::vector<std::uint64_t> found;
            for (std::uint64_t key = 0; key < n; ++key) {
                if (bin_of(key) == bin) found.push_back(key);
            }
            return found;
        }
        return {};
    }

  private:
    [[nodiscard]] std::uint64_t bin_of(std::uint64_t key) const { return scale(filter_.hash()(key).position, bins_); }

    const broom_filter& filter_;
    std::uint64_t bins_;
    std::vector<unsigned> population_;
};

// Ordinary replacements, not counted step by step: an equal share of the keys at every size.
double renewals_per_replacement(std::uint64_t n, double rate, std::uint64_t seed) {
    std::uint64_t replacements = 0, renewals = 0;
    for (std::uint64_t filters = 0; replacements < 5'000; ++filters) {
        our_workload w{seeded<broom_options>(n, rate, seed + filters)};
        w.load(0, n);
        const std::uint64_t before = w.filter().stats().renewals;
        for (std::uint64_t i = 0; i < n / 50; ++i) {
            w.erase(i);
            w.insert(n + i);
        }
        renewals += w.filter().stats().renewals - before;
        replacements += n / 50;
    }
    return static_cast<double>(renewals) / static_cast<double>(replacements);
}

// Instructions of one erase, and whether it renewed its bin.
std::pair<double, bool> count_erase(our_workload& w, instruction_counter& counter, std::uint64_t key) {
    uncounted_map<memory_map> remote{w.store()};
    const std::uint64_t before = w.filter().stats().renewals;
    volatile bool sink = false;
    const std::uint64_t instructions = counter.of([&] { sink = w.filter().erase(key, remote).has_value(); });
    return {static_cast<double>(instructions), w.filter().stats().renewals != before};
}

// In bins of 45 keys. Those that renew are left out: such a bin may have a full half.
std::vector<double> count_plain_erases(our_workload& w, instruction_counter& counter, chosen_by_population& choose,
                                       std::uint64_t count) {
    std::vector<double> counts;
    while (counts.size() < count) {
        const std::vector<std::uint64_t> chosen = choose.keys(0, 45, 1);
        if (chosen.empty()) break;
        if (const auto [instructions, renewed] = count_erase(w, counter, chosen.front()); !renewed)
            counts.push_back(instructions);
    }
    if (counts.empty()) throw workload_error{"broom-time: no bin of 45 keys whose erase does not renew it"};
    return counts;
}

// In bins of about 50 keys, which are full: the first erases bury (decision 11), then one renews.
std::vector<double> count_renewing_erases(our_workload& w, instruction_counter& counter, chosen_by_population& choose,
                                          std::uint64_t n, std::uint64_t count) {
    std::vector<double> counts;
    while (counts.size() < count) {
        const std::vector<std::uint64_t> keys = choose.keys_of_a_bin(n, 50);
        if (keys.empty()) break;
        for (const std::uint64_t key : keys) {
            const auto [instructions, renewed] = count_erase(w, counter, key);
            if (!renewed) continue;
            counts.push_back(instructions);
            break;
        }
    }
    if (counts.empty()) throw workload_error{"broom-time: no erase in a bin of about 50 keys renews it"};
    return counts;
}

time_means measure_time_cell(std::uint64_t n, double rate, const time_samples& sample, std::uint64_t seed) {
    time_means seen;
    seen.renewals = renewals_per_replacement(n, rate, seed);
    our_workload w{seeded<broom_options>(n, rate, seed)};
    w.load(0, n);
    broom_filter& filter = w.filter();
    uncounted_map<memory_map> remote{w.store()};
    chosen_by_population choose{filter, n};
    instruction_counter counter;
    volatile bool sink = false;
    const auto ask = [&](std::uint64_t key) { sink = filter.may_contain(key); };
    seen.negative = mean_of(count_each(counter, keys_from(first_absent_key, sample.lookups), ask));
    seen.positive = mean_of(count_each(counter, keys_from(0, sample.lookups), ask));
    const std::vector<std::uint64_t> fresh = choose.keys(n, 44, sample.inserts);
    if (fresh.empty()) throw workload_error{"broom-time: no bin of the population wanted"};
    for (const std::uint64_t key : fresh) (void)must(w.store().put(filter.hash()(key), integer_key{key}.view()));
    const auto inserts =
        count_each(counter, fresh, [&](std::uint64_t key) { sink = filter.insert(key, remote).has_value(); });
    const auto erases = count_plain_erases(w, counter, choose, sample.erases);
    const auto renewals = count_renewing_erases(w, counter, choose, n, sample.renewals);
    seen.insert = median_of(inserts);
    seen.erase = median_of(erases);
    seen.renewal = median_of(renewals);
    for (const auto* counts : {&inserts, &erases, &renewals})
        seen.costliest = std::max(seen.costliest, *std::max_element(counts->begin(), counts->end()));

    measure_time_controls(seen, counter, filter.hash(), n, rate, sample.inserts);
    return seen;
}

std::vector<time_cell<time_means>> time_cells(const run_options& options) {
    if (options.quick) {  // a cross: over n at one ε, over ε at one n
        return {{10'000, 0x1p-8}, {100'000, 0x1p-8}, {1'000'000, 0x1p-8}, {100'000, 0x1p-16}, {100'000, 0x1p-24}};
    }
    std::vector<time_cell<time_means>> cells;
    for (const double rate : {0x1p-8, 0x1p-16, 0x1p-24}) {
        for (std::uint64_t n = 10'000; n <= 10'000'000; n *= 10) cells.push_back({n, rate});
    }
    return cells;
}

// The same stream at growing n, at a smaller ε, and with a hidden pass over all keys.
struct costliest_seen {
    std::vector<costly_writes> by_size, others, control;
    nlohmann::json series = nlohmann::json::array();

    void add(const char* what, const costly_stream& stream, std::vector<costly_writes>& into) {
        into.push_back(find_costliest(stream));
        series.push_back({{"what", what},
                          {"keys", stream.keys},
                          {"rate", stream.rate},
                          {"rounds", stream.rounds},
                          {"dearest_erases", into.back().erases},
                          {"dearest_inserts", into.back().inserts},
                          {"dearest_repairs", into.back().repairs}});
    }
};

costliest_seen measure_costliest(const run_options& options) {
    costliest_seen seen;
    costly_stream stream{.seed = options.seed};
    for (stream.keys = 10'000; stream.keys <= (options.quick ? 1'000'000u : 10'000'000u); stream.keys *= 10)
        seen.add("most expensive writes", stream, seen.by_size);
    stream.keys = 100'000;
    stream.rate = 0x1p-24;
    seen.add("most expensive writes", stream, seen.others);
    stream.rate = 0x1p-8;
    stream.hidden = walk_over_all_keys;
    for (stream.keys = 10'000; stream.keys <= 100'000; stream.keys *= 10)
        seen.add("control: most expensive writes with a hidden pass over all keys", stream, seen.control);
    return seen;
}

outcome measure_time(const run_options& options) {
    const time_samples sample = options.quick ? time_samples{200, 9, 3, 2} : time_samples{2000, 41, 5, 3};
    outcome out;
    std::vector<time_cell<time_means>> cells = time_cells(options);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        cells[i].seen = measure_time_cell(cells[i].keys, cells[i].rate, sample, options.seed);
        out.series.push_back(time_row(cells[i], judged_times));
        out.series.back()["dearest_write_of_the_sample"] = cells[i].seen.costliest;
        options.progress(0.6 * static_cast<double>(i + 1) / static_cast<double>(cells.size()));
    }
    costliest_seen costly = measure_costliest(options);
    const costliest_verdict costliest = judge_costliest(costly.by_size, costly.others, cells[0].seen.renewal);
    const costliest_verdict hidden = judge_costliest(costly.control, {}, cells[0].seen.renewal);
    for (nlohmann::json& row : costly.series) out.series.push_back(std::move(row));
    const time_verdict verdict = judge_times(cells, judged_times, flat_over_sizes, flat_over_rates);
    const bool flat = costliest.kept && verdict.flat, controls_failed = verdict.controls_failed && !hidden.kept;
    out.promised = "look-ups (mean) and writes (median) take the same number of instructions for every n (within " +
                   shown(flat_over_sizes) + "×) and every ε (within " + shown(flat_over_rates) +
                   "×); the most expensive single writes grow by at most " + shown(costliest_flat) +
                   "× over n and none takes more than " + shown(most_renewals) + " median renewals";
    out.measured = "instructions at n = 10^4 and ε = 2^-8: " + verdict.summary + "; the most expensive write " +
                   shown(costliest.costliest) + ", " + shown(costliest.costliest / cells[0].seen.renewal, 2) +
                   " renewals (" + shown(costliest.growth, 3) + "× over n)";
    out.control = {
        {"what",
         "binary search over n; inserts into a Bloom filter over ε; a walk over all keys hidden in two inserts of " +
             std::to_string(costly_stream{}.rounds)},
        {"binary_search_over_sizes", verdict.search},
        {"bloom_insert_over_rates", verdict.bloom},
        {"hidden_walk_dearest", hidden.costliest},
        {"hidden_walk_over_sizes", hidden.growth},
        {"failed_as_they_must", controls_failed}};
    out.kept = flat && controls_failed;
    out.parameters = {{"measure", "instructions, by single steps, without R's own"},
                      {"lookups_each", sample.lookups},
                      {"inserts_each", sample.inserts},
                      {"erases_each", sample.erases},
                      {"renewals_each", sample.renewals},
                      {"flat_over_sizes", flat_over_sizes},
                      {"flat_over_rates", flat_over_rates},
                      {"dearest_flat", costliest_flat},
                      {"most_renewals", most_renewals},
                      {"factors", verdict.factors}};
    return out;
}

constexpr double paper_flat_over_sizes = 1.25;
constexpr double paper_flat_over_rates = 1.5;
constexpr double most_of_a_write = 100'000;

struct paper_samples {
    std::uint64_t lookups, erases, inserts, repairs;
};

struct paper_times {
    double negative = 0, positive = 0, insert = 0, erase = 0, repair = 0;
    double costliest = 0;  // insert or erase of the sample
    double control_search = 0, control_bloom_insert = 0;
};

constexpr std::array<time_quantity<paper_times>, 5> judged_paper_times = {{{"negative", &paper_times::negative},
                                                                           {"positive", &paper_times::positive},
                                                                           {"insert", &paper_times::insert},
                                                                           {"erase", &paper_times::erase},
                                                                           {"repair", &paper_times::repair}}};

void measure_paper_cell(time_cell<paper_times>& at, const paper_samples& sample, std::uint64_t seed) {
    const std::uint64_t n = at.keys;
    paper_workload w{seeded_paper(n, at.rate, seed)};
    w.load(0, n);
    broom_paper_filter& filter = w.filter();
    at.large = filter.details().is_large;
    uncounted_map<memory_map> records{w.store().map()}, index{w.store().index()};
    with_index<uncounted_map<memory_map>, uncounted_map<memory_map>> remote{records, index};
    instruction_counter counter;
    volatile bool sink = false;
    const auto ask = [&](std::uint64_t key) { sink = filter.may_contain(key); };
    at.seen.negative = mean_of(count_each(counter, keys_from(first_absent_key, sample.lookups), ask));
    at.seen.positive = mean_of(count_each(counter, keys_from(0, sample.lookups), ask));
    const auto erases = count_each(counter, keys_from(0, sample.erases),
                                   [&](std::uint64_t key) { sink = filter.erase(key, remote).has_value(); });
    for (std::uint64_t key = sample.erases; key < sample.inserts; ++key) w.erase(key);  // room for as many inserts
    for (std::uint64_t key = n; key < n + sample.inserts; ++key)
        (void)must(w.store().put(filter.hash()(key), integer_key{key}.view()));
    const auto inserts = count_each(counter, keys_from(n, sample.inserts),
                                    [&](std::uint64_t key) { sink = filter.insert(key, remote).has_value(); });
    at.seen.erase = median_of(erases);
    at.seen.insert = median_of(inserts);
    for (const auto* counts : {&erases, &inserts})
        at.seen.costliest = std::max(at.seen.costliest, *std::max_element(counts->begin(), counts->end()));
    std::vector<double> repairs;
    scan(filter, first_absent_key, std::uint64_t{1} << 60, [&](std::uint64_t key) {
        if (!filter.may_contain(key)) return true;  // repaired since the batch
        repairs.push_back(static_cast<double>(counter.of([&] { sink = filter.adapt(key, remote).has_value(); })));
        return repairs.size() < sample.repairs;
    });
    at.seen.repair = median_of(repairs);

    measure_time_controls(at.seen, counter, filter.hash(), n, at.rate, sample.erases);
}

std::vector<time_cell<paper_times>> paper_time_cells(bool quick) {
    std::vector<time_cell<paper_times>> cells;
    const std::uint64_t largest = quick ? 1'000'000 : 10'000'000;
    for (const double rate : {paper_small_rate, 0x1p-12, 0x1p-16, 0x1p-24}) {
        for (std::uint64_t n = 10'000; n <= largest; n *= 10) {
            const bool crosses = rate >= 0x1p-12 || (n == 100'000 && rate == 0x1p-24);
            if (!quick || crosses) cells.push_back({n, rate});
        }
    }
    return cells;
}

outcome measure_paper_time(const run_options& options) {
    const paper_samples sample = options.quick ? paper_samples{40, 11, 61, 11} : paper_samples{400, 61, 201, 41};
    outcome out;
    std::vector<time_cell<paper_times>> cells = paper_time_cells(options.quick);
    double costliest = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        // A repair needs a false positive: half as many repairs where look-ups do not find one
        // soon.
        paper_samples mine = sample;
        if (cells[i].rate < 0x1p-16) mine.repairs = (mine.repairs + 1) / 2;
        measure_paper_cell(cells[i], mine, options.seed);
        out.series.push_back(time_row(cells[i], judged_paper_times));
        out.series.back()["design"] = cells[i].large ? "large" : "small";
        out.series.back()["dearest_write"] = cells[i].seen.costliest;
        costliest = std::max(costliest, cells[i].seen.costliest);
        options.progress(static_cast<double>(i + 1) / static_cast<double>(cells.size()));
    }
    const time_verdict verdict = judge_times(cells, judged_paper_times, paper_flat_over_sizes, paper_flat_over_rates);
    out.promised = "look-ups (mean) and writes (median) take the same number of instructions for every n (within " +
                   shown(paper_flat_over_sizes) + "×) and, in the large design, every ε (within " +
                   shown(paper_flat_over_rates) + "×); no write takes more than " + shown(most_of_a_write, 6);
    out.measured = "instructions at n = 10^4 and ε = " + shown_rate(cells[0].rate) + ": " + verdict.summary +
                   "; the most expensive write " + shown(costliest);
    out.control = {{"what", "binary search over n; inserts into a Bloom filter over ε"},
                   {"binary_search_over_sizes", verdict.search},
                   {"bloom_insert_over_rates", verdict.bloom},
                   {"failed_as_they_must", verdict.controls_failed}};
    out.kept = costliest <= most_of_a_write && verdict.flat && verdict.controls_failed;
    out.parameters = {{"filter", broom_paper_filter::name},
                      {"lookups_each", sample.lookups},
                      {"erases_each", sample.erases},
                      {"inserts_each", sample.inserts},
                      {"repairs_each", sample.repairs},
                      {"flat_over_sizes", paper_flat_over_sizes},
                      {"flat_over_rates", paper_flat_over_rates},
                      {"factors", verdict.factors}};
    return out;
}

outcome measure_either_time(const run_options& options) {
    if (!instruction_counter::available())
        throw workload_error{"broom-time counts instructions by single steps: Linux on x86-64, without a debugger"};
    return either<measure_time, measure_paper_time>(options);
}

const registration broom_time_experiment(
    "broom-time", 107, "Look-up, insert and erase do a constant amount of local work for every n and ε.",
    "broom18 Thm 6", measure_either_time, {.quick_seconds = 40, .full_minutes = 10},
    {.filters = {"broom", "broom_paper"}});

}  // namespace
}  // namespace genista::lab
