// broom-time for the structure of the paper: a constant amount of local work, whatever n and ε are
// [broom18 Thm 6].
//
// Instructions, counted one by one (workloads/instruction_counter.hpp), in full filters. R's own
// work is left out; the filter's work on R's records is included.
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
//
// Controls: binary search in a sorted array grows with n, inserts into a Bloom filter with
// log(1/ε).
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "genista/filters/bloom.hpp"
#include "lab/experiments/broom_paper.hpp"
#include "lab/statistics/averages.hpp"
#include "lab/workloads/instruction_counter.hpp"
#include "lab/workloads/paper_workload.hpp"

namespace genista::lab {
namespace {

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

struct paper_quantity {
    const char* name;
    double paper_times::*value;
};
constexpr std::array judged_paper_times = {
    paper_quantity{"negative", &paper_times::negative}, paper_quantity{"positive", &paper_times::positive},
    paper_quantity{"insert", &paper_times::insert}, paper_quantity{"erase", &paper_times::erase},
    paper_quantity{"repair", &paper_times::repair}};

struct paper_time_cell {
    std::uint64_t keys = 0;
    double rate = 0;
    bool large = false;
    paper_times seen{};
};

template <class Operation>
std::vector<double> count_each_from(instruction_counter& counter, std::uint64_t first, std::uint64_t count,
                                    Operation operation) {
    std::vector<double> counts;
    for (std::uint64_t key = first; key < first + count; ++key)
        counts.push_back(static_cast<double>(counter.of([&] { operation(key); })));
    return counts;
}

void measure_paper_cell(paper_time_cell& at, const paper_samples& sample, std::uint64_t seed) {
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
    at.seen.negative = mean_of(count_each_from(counter, first_absent_key, sample.lookups, ask));
    at.seen.positive = mean_of(count_each_from(counter, 0, sample.lookups, ask));
    const auto erases = count_each_from(counter, 0, sample.erases,
                                        [&](std::uint64_t key) { sink = filter.erase(key, remote).has_value(); });
    for (std::uint64_t key = sample.erases; key < sample.inserts; ++key) w.erase(key);  // room for as many inserts
    for (std::uint64_t key = n; key < n + sample.inserts; ++key)
        (void)must(w.store().put(filter.hash()(key), integer_key{key}.view()));
    const auto inserts = count_each_from(counter, n, sample.inserts,
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

    std::vector<std::uint64_t> sorted(n);
    for (std::uint64_t i = 0; i < n; ++i) sorted[i] = filter.hash()(i).position;
    std::sort(sorted.begin(), sorted.end());
    at.seen.control_search = mean_of(count_each_from(counter, first_absent_key, sample.erases, [&](std::uint64_t key) {
        sink = std::binary_search(sorted.begin(), sorted.end(), filter.hash()(key).position);
    }));
    bloom_filter bloom =
        must(bloom_filter::make({.capacity = n, .false_positive_rate = at.rate, .hash = filter.hash()}));
    at.seen.control_bloom_insert = mean_of(count_each_from(
        counter, 0, sample.erases, [&](std::uint64_t key) { sink = bloom.insert(key) == insert_outcome::full; }));
}

// The largest factor by which a figure grows between two cells of one design that `compared`
// selects.
template <class Compared>
double paper_growth(const std::vector<paper_time_cell>& cells, double paper_times::*value, Compared compared) {
    double worst = 0;
    for (const paper_time_cell& a : cells) {
        for (const paper_time_cell& b : cells) {
            if (a.large == b.large && compared(a, b)) worst = std::max(worst, b.seen.*value / (a.seen.*value));
        }
    }
    return worst;
}
double paper_growth_over_sizes(const std::vector<paper_time_cell>& cells, double paper_times::*value) {
    return paper_growth(cells, value, [](const paper_time_cell& a, const paper_time_cell& b) {
        return a.rate == b.rate && a.keys < b.keys;
    });
}
double paper_growth_over_rates(const std::vector<paper_time_cell>& cells, double paper_times::*value) {
    return paper_growth(cells, value, [](const paper_time_cell& a, const paper_time_cell& b) {
        return a.keys == b.keys && a.rate > b.rate;
    });
}

std::vector<paper_time_cell> paper_time_cells(bool quick) {
    std::vector<paper_time_cell> cells;
    const std::uint64_t largest = quick ? 1'000'000 : 10'000'000;
    for (const double rate : {paper_small_rate, 0x1p-12, 0x1p-16, 0x1p-24}) {
        for (std::uint64_t n = 10'000; n <= largest; n *= 10) {
            const bool crosses = rate >= 0x1p-12 || (n == 100'000 && rate == 0x1p-24);
            if (!quick || crosses) cells.push_back({n, rate});
        }
    }
    return cells;
}

}  // namespace

outcome measure_paper_time(const run_options& options) {
    if (!instruction_counter::available())
        throw workload_error{"broom-time counts instructions by single steps: Linux on x86-64, without a debugger"};
    const paper_samples sample = options.quick ? paper_samples{40, 11, 61, 11} : paper_samples{400, 61, 201, 41};
    outcome out;
    std::vector<paper_time_cell> cells = paper_time_cells(options.quick);
    double costliest = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        // A repair needs a false positive: half as many repairs where look-ups do not find one
        // soon.
        paper_samples mine = sample;
        if (cells[i].rate < 0x1p-16) mine.repairs = (mine.repairs + 1) / 2;
        measure_paper_cell(cells[i], mine, options.seed);
        nlohmann::json row{
            {"keys", cells[i].keys}, {"rate", cells[i].rate}, {"design", cells[i].large ? "large" : "small"}};
        for (const paper_quantity& each : judged_paper_times) row[each.name] = cells[i].seen.*each.value;
        row["dearest_write"] = cells[i].seen.costliest;
        row["control_binary_search"] = cells[i].seen.control_search;
        row["control_bloom_insert"] = cells[i].seen.control_bloom_insert;
        out.series.push_back(std::move(row));
        costliest = std::max(costliest, cells[i].seen.costliest);
        options.progress(static_cast<double>(i + 1) / static_cast<double>(cells.size()));
    }
    bool flat = costliest <= most_of_a_write;
    std::string summary;
    nlohmann::json factors;
    for (const paper_quantity& each : judged_paper_times) {
        const double by_size = paper_growth_over_sizes(cells, each.value),
                     by_rate = paper_growth_over_rates(cells, each.value);
        flat = flat && by_size <= paper_flat_over_sizes && by_rate <= paper_flat_over_rates;
        factors[each.name] = {{"over_sizes", by_size}, {"over_rates", by_rate}};
        summary += (summary.empty() ? "" : "; ") + std::string{each.name} + " " + shown(cells[0].seen.*each.value) +
                   " (" + shown(by_size, 3) + "× over n, " + shown(by_rate, 3) + "× over ε)";
    }
    const double search = paper_growth_over_sizes(cells, &paper_times::control_search);
    const double bloom = paper_growth_over_rates(cells, &paper_times::control_bloom_insert);
    const bool controls_failed = search > paper_flat_over_sizes && bloom > paper_flat_over_rates;
    out.promised = "look-ups (mean) and writes (median) take the same number of instructions for every n (within " +
                   shown(paper_flat_over_sizes) + "×) and, in the large design, every ε (within " +
                   shown(paper_flat_over_rates) + "×); no write takes more than " + shown(most_of_a_write, 6);
    out.measured = "instructions at n = 10^4 and ε = " + shown_rate(cells[0].rate) + ": " + summary +
                   "; the most expensive write " + shown(costliest);
    out.control = {{"what", "binary search over n; inserts into a Bloom filter over ε"},
                   {"binary_search_over_sizes", search},
                   {"bloom_insert_over_rates", bloom},
                   {"failed_as_they_must", controls_failed}};
    out.kept = flat && controls_failed;
    out.parameters = {{"filter", broom_paper_filter::name},
                      {"lookups_each", sample.lookups},
                      {"erases_each", sample.erases},
                      {"inserts_each", sample.inserts},
                      {"repairs_each", sample.repairs},
                      {"flat_over_sizes", paper_flat_over_sizes},
                      {"flat_over_rates", paper_flat_over_rates},
                      {"factors", factors}};
    return out;
}

}  // namespace genista::lab
