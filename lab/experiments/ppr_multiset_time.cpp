// The time of Theorem 1.1 [ppr05]: look-up O(1), counts O(1 + log c), updates O(1) amortised; and
// the most expensive update, which the theorem does not bound. See ppr_multiset_time.hpp for the
// limits.
//
// Instructions are counted one by one (instruction_counter.hpp), of samples. The most expensive
// updates are found first without counting: every one is timed in three equal runs, and those whose
// shortest time is the longest are counted in a fourth. *Controls*, run and counted alike:
// std::map's look-up grows with n, std::multiset's count with c, and std::unordered_map, whose
// updates are O(1) amortised, too, has one that rehashes the whole table.
#include "lab/experiments/ppr_multiset_time.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "genista/filters/succinct_set.hpp"
#include "lab/statistics/averages.hpp"
#include "lab/workloads/experiment_run.hpp"
#include "lab/workloads/instruction_counter.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {
namespace {

// The size of the samples: a counted instruction takes microseconds.
struct counted_samples {
    std::uint64_t looked_up, updated;
    std::size_t costliest;  // of the inserts, and of the erases
};
constexpr counted_samples full_samples{100, 100, 3}, quick_samples{50, 100, 3};

struct timed_multiset {
    std::uint64_t n, universe, seed;
    std::vector<std::uint64_t> numbers;
    timed_multiset(std::uint64_t keys, std::uint64_t from) : n{keys}, universe{256 * keys}, seed{from}, numbers(keys) {
        random_stream draws{seed};
        for (std::uint64_t& x : numbers) x = draws.below(universe);
    }
    [[nodiscard]] succinct_multiset empty() const {
        return must(succinct_multiset::make({universe, hasher{hash_key::from_seed(seed)}}));
    }
    static void put(succinct_multiset& all, std::uint64_t x) {
        if (must(all.insert(x)) != insert_outcome::inserted) throw workload_error{"the multiset is full"};
    }
    static void take(succinct_multiset& all, std::uint64_t x) {
        if (must(all.erase(x)) != erase_outcome::erased) throw workload_error{"an element is lost"};
    }
};

// Those with the longest shortest times.
std::vector<bool> costliest_of(const std::vector<float>& shortest, std::size_t count) {
    std::vector<std::uint32_t> order(shortest.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto some = static_cast<std::ptrdiff_t>(std::min(count, order.size()));
    std::partial_sort(order.begin(), order.begin() + some, order.end(),
                      [&](std::uint32_t a, std::uint32_t b) { return shortest[a] > shortest[b]; });
    std::vector<bool> chosen(shortest.size());
    for (auto each = order.begin(); each != order.begin() + some; ++each) chosen[*each] = true;
    return chosen;
}

multiset_time_at time_multiset(std::uint64_t n, const counted_samples& sample_of, std::uint64_t seed) {
    const timed_multiset with{n, seed};
    std::vector<float> inserts(n, 1e30f), erases(n, 1e30f);
    const auto timed = [](float& shortest, auto&& work) {
        const auto before = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<float, std::nano> taken = std::chrono::steady_clock::now() - before;
        shortest = std::min(shortest, taken.count());
    };
    for (int run = 0; run < 3; ++run) {
        succinct_multiset all = with.empty();
        for (std::uint64_t i = 0; i < n; ++i) timed(inserts[i], [&] { timed_multiset::put(all, with.numbers[i]); });
        for (std::uint64_t i = 0; i < n; ++i) timed(erases[i], [&] { timed_multiset::take(all, with.numbers[i]); });
    }
    const std::vector<bool> costly_inserts = costliest_of(inserts, sample_of.costliest),
                            costly_erases = costliest_of(erases, sample_of.costliest);

    multiset_time_at seen{.keys = n};
    instruction_counter counter;
    succinct_multiset all = with.empty();
    const std::uint64_t every = n / 2 / sample_of.updated;
    const auto go = [&](const std::vector<bool>& costly, std::uint64_t sampled_from, double& mean, double& costliest,
                        auto&& work) {
        std::vector<double> sample;
        for (std::uint64_t i = 0; i < n; ++i) {
            const bool sampled = i >= sampled_from && i < sampled_from + n / 2 && i % every == 0;
            if (!sampled && !costly[i]) {
                work(with.numbers[i]);
                continue;
            }
            const auto taken = static_cast<double>(counter.of([&] { work(with.numbers[i]); }));
            costliest = std::max(costliest, taken);
            if (sampled) sample.push_back(taken);
        }
        mean = mean_of(sample);
    };
    go(costly_inserts, n - n / 2, seen.insert, seen.costliest_insert,
       [&](std::uint64_t x) { timed_multiset::put(all, x); });
    std::vector<double> looks;
    random_stream absent{seed + 1};
    volatile bool sink = false;
    for (std::uint64_t i = 0; i < sample_of.looked_up; ++i) {
        const std::uint64_t x = i % 2 == 0 ? with.numbers[i * (n / sample_of.looked_up)] : absent.below(with.universe);
        looks.push_back(static_cast<double>(counter.of([&] { sink = all.contains(x); })));
    }
    seen.look_up = mean_of(looks);
    seen.costliest_look_up = *std::max_element(looks.begin(), looks.end());
    go(costly_erases, 0, seen.erase, seen.costliest_erase, [&](std::uint64_t x) { timed_multiset::take(all, x); });
    return seen;
}

void time_counts(multiset_time_seen& seen, std::uint64_t seed) {
    const timed_multiset with{100'000, seed};
    succinct_multiset all = with.empty();
    for (const std::uint64_t x : with.numbers) timed_multiset::put(all, x);
    instruction_counter counter;
    volatile std::uint64_t sink = 0;
    std::uint64_t next = 0;
    for (const unsigned log : {0u, 4u, 8u, 12u, 16u, 24u, 32u, 48u}) {
        const std::uint64_t count = std::uint64_t{1} << log;
        std::vector<double> taken;
        while (taken.size() < 3) {
            const std::uint64_t x = with.universe - ++next;
            if (all.contains(x)) continue;
            if (must(all.insert(x, count)) != insert_outcome::inserted) throw workload_error{"the multiset is full"};
            taken.push_back(static_cast<double>(counter.of([&] { sink = all.count(x); })));
            if (sink != count) throw workload_error{"a wrong count"};
        }
        const double mean = mean_of(taken), first = log == 0 ? mean : seen.counts.front().taken;
        seen.counts.push_back({count, mean, first * (1 + log)});
    }
    std::multiset<std::uint64_t> rival;
    const std::uint64_t count = 1u << 12;
    for (std::uint64_t i = 0; i < count; ++i) rival.insert(7);
    seen.control_count = {count, static_cast<double>(counter.of([&] { sink = rival.count(7); })),
                          seen.counts.front().taken * (1 + std::bit_width(count) - 1)};
}

void time_rivals(multiset_time_seen& seen, std::uint64_t largest, const counted_samples& sample_of,
                 std::uint64_t seed) {
    instruction_counter counter;
    volatile bool sink = false;
    for (int large = 0; large < 2; ++large) {
        const timed_multiset with{large == 0 ? 10'000 : largest, seed};
        std::map<std::uint64_t, std::uint32_t> rival;
        for (const std::uint64_t x : with.numbers) ++rival[x];
        std::vector<double> looks;
        for (std::uint64_t i = 0; i < sample_of.looked_up; ++i) {
            const std::uint64_t x = with.numbers[i * (with.n / sample_of.looked_up)] + i % 2;
            looks.push_back(static_cast<double>(counter.of([&] { sink = rival.find(x) != rival.end(); })));
        }
        seen.control_look_up[large] = mean_of(looks);
    }
    const timed_multiset with{6'000, seed};  // it rehashes 5,087 elements: twice the limit
    std::uint64_t last = 0;
    for (const bool counting : {false, true}) {
        std::unordered_map<std::uint64_t, std::uint64_t> rival;
        for (std::uint64_t i = 0; i < with.n; ++i) {
            const std::size_t before = rival.bucket_count();
            if (counting && i == last) {
                seen.control_costliest = static_cast<double>(counter.of([&] { ++rival[with.numbers[i]]; }));
                return;
            }
            ++rival[with.numbers[i]];
            if (!counting && rival.bucket_count() != before) last = i;
        }
    }
}

}  // namespace

double multiset_time_seen::growth(double multiset_time_at::*value) const {
    double worst = 0, least = 1e30;
    for (const multiset_time_at& at : sizes) {
        worst = std::max(worst, at.*value / least);
        least = std::min(least, at.*value);
    }
    return worst;
}
double multiset_time_seen::costliest() const {
    double most = 0;
    for (const multiset_time_at& at : sizes) most = std::max({most, at.costliest_insert, at.costliest_erase});
    return most;
}
bool multiset_time_seen::kept() const {
    bool good = growth(&multiset_time_at::look_up) <= multiset_flat_look_up && costliest() <= multiset_most_update;
    for (const auto value : {&multiset_time_at::insert, &multiset_time_at::erase})
        good = good && growth(value) <= multiset_flat_update;
    for (const multiset_time_at& at : sizes) good = good && at.costliest_look_up <= multiset_most_look_up;
    for (const count_at& at : counts) good = good && at.taken <= at.allowed;
    return good;
}
bool multiset_time_seen::controls_failed() const {
    return control_look_up[1] > multiset_flat_look_up * control_look_up[0] &&
           control_count.taken > control_count.allowed && control_costliest > multiset_most_update;
}
std::string multiset_time_seen::summary() const {
    std::string text = "instructions at n = 10^4";
    for (const multiset_time_at& at : sizes) {
        if (&at != &sizes.front()) text += ", " + shown(static_cast<double>(at.keys));
        text += ": look-up " + shown(at.look_up, 3) + ", insert " + shown(at.insert, 4) + ", erase " +
                shown(at.erase, 4) + ", most expensive update " +
                shown(std::max(at.costliest_insert, at.costliest_erase), 5);
    }
    return text + "; a count of 2^48 in " + shown(counts.back().taken / counts.front().taken, 3) +
           " times a count of 1";
}
nlohmann::json multiset_time_seen::rows() const {
    nlohmann::json all = nlohmann::json::array();
    const bool good = kept();
    for (const multiset_time_at& at : sizes)
        all.push_back({{"what", "instructions"},
                       {"keys", at.keys},
                       {"look_up", at.look_up},
                       {"dearest_look_up", at.costliest_look_up},
                       {"insert", at.insert},
                       {"erase", at.erase},
                       {"dearest_insert", at.costliest_insert},
                       {"dearest_erase", at.costliest_erase},
                       {"kept", good}});
    for (const count_at& at : counts)
        all.push_back({{"what", "instructions of a count"},
                       {"count", at.count},
                       {"taken", at.taken},
                       {"allowed", at.allowed},
                       {"kept", at.taken <= at.allowed}});
    return all;
}
nlohmann::json multiset_time_seen::control() const {
    return {{"what", "std::map's look-up, std::multiset's count, std::unordered_map's most expensive update"},
            {"look_up_grows_by", control_look_up[1] / control_look_up[0]},
            {"look_up_may_grow_by", multiset_flat_look_up},
            {"count", control_count.taken},
            {"count_allowed", control_count.allowed},
            {"dearest_update", control_costliest},
            {"dearest_update_allowed", multiset_most_update},
            {"failed_as_it_must", controls_failed()}};
}

multiset_time_seen measure_multiset_time(bool quick, std::uint64_t seed) {
    if (!instruction_counter::available())
        throw workload_error{"ppr-multiset counts instructions by single steps: Linux on x86-64, without a debugger"};
    multiset_time_seen seen;
    const counted_samples& samples = quick ? quick_samples : full_samples;
    const std::uint64_t largest = quick ? 1'000'000 : 10'000'000;
    const std::uint64_t step = quick ? 100 : 10;  // quick: the two ends
    for (std::uint64_t n = 10'000; n <= largest; n *= step) seen.sizes.push_back(time_multiset(n, samples, seed));
    time_counts(seen, seed);
    time_rivals(seen, largest, samples, seed);
    return seen;
}

}  // namespace genista::lab
