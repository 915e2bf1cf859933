// The most expensive single write of a broom filter, in instructions [broom18 Thm 6: constant local
// work, for every single operation].
//
// A stream of writes on a full filter: a key is erased, a new key inserted, a false positive
// repaired; as many for every n. Single steps are too slow for all of them (a microsecond an
// instruction), so the stream is played several times, the same stream each time (`repeatable`):
// first with a clock, and the least time of each write over these passes shows which writes are the
// most expensive; then once more, and every instruction of these is counted, without R's own work.
//
// *Limits*, before any run. A write does at most this: it reads the keys of its bin (48 + 64 at the
// most), processes each of them, rehashes the bin under new salts until no two agree (each draw
// succeeds with a good chance), rewrites the block of its cluster (12 KiB at the most), and changes
// the salts of 64 bins. None of it depends on n. A median renewal does all but the last two once,
// so no write may take more than `most_renewals` median renewals of the smallest filter. And the
// most expensive of as many writes may not grow with n: by a factor of `costliest_flat` at most,
// over the mean of the few most expensive. Smallest defect seen: a step within one write that costs
// `most_renewals` renewals, or grows by half while n grows a hundredfold.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <vector>

#include "lab/experiments/two_brooms.hpp"
#include "lab/workloads/instruction_counter.hpp"

namespace genista::lab {

inline constexpr double most_renewals = 10;
inline constexpr double costliest_flat = 1.5;

struct costly_stream {
    std::uint64_t keys = 10'000;
    double rate = 0x1p-8;
    std::uint64_t rounds = 4'000;  // each has an erase, an insert and, where mistakes are found soon, a repair
    std::uint64_t seed = 1;
    std::uint64_t clocked = 3;  // passes with a clock
    std::uint64_t counted = 2;  // of each kind
    // Runs within the insert of each round; for a control.
    void (*hidden)(std::uint64_t round, std::uint64_t keys) = nullptr;
};

// Instructions of the most expensive writes.
struct costly_writes {
    std::vector<double> erases, inserts, repairs;
    [[nodiscard]] double costliest() const {
        double most = 0;
        for (const auto* each : {&erases, &inserts, &repairs}) {
            for (const double cost : *each) most = std::max(most, cost);
        }
        return most;
    }
    // Of the most expensive kind.
    [[nodiscard]] double mean_of_costliest() const {
        double most = 0;
        for (const auto* each : {&erases, &inserts, &repairs}) {
            if (!each->empty()) most = std::max(most, mean_of(*each));
        }
        return most;
    }
};

struct costliest_verdict {
    double costliest = 0, growth = 0;
    bool kept = false;
};
// `by_size`: the same stream at growing n.
[[nodiscard]] inline costliest_verdict judge_costliest(const std::vector<costly_writes>& by_size,
                                                       const std::vector<costly_writes>& others,
                                                       double median_renewal) {
    costliest_verdict verdict;
    for (std::size_t a = 0; a < by_size.size(); ++a) {
        for (std::size_t b = a + 1; b < by_size.size(); ++b)
            verdict.growth = std::max(verdict.growth,
                                      by_size[b].mean_of_costliest() / std::max(by_size[a].mean_of_costliest(), 1.0));
    }
    for (const auto* all : {&by_size, &others}) {
        for (const costly_writes& each : *all) verdict.costliest = std::max(verdict.costliest, each.costliest());
    }
    verdict.kept =
        !by_size.empty() && verdict.growth <= costliest_flat && verdict.costliest <= most_renewals * median_renewal;
    return verdict;
}

namespace costliest {

enum kind : unsigned { erase, insert, repair, kinds };

// One pass: do_write(kind, number, write) for each write; write(remote) does it.
template <class DoWrite>
void play(const costly_stream& stream, DoWrite do_write) {
    our_workload w{seeded<broom_options>(stream.keys, stream.rate, stream.seed)};
    w.load(0, stream.keys);
    broom_filter& filter = w.filter();
    std::uint64_t next_absent = first_absent_key;
    for (std::uint64_t round = 0; round < stream.rounds; ++round) {
        do_write(w, erase, round, [&](auto& remote) { (void)must(filter.erase(round, remote)); });
        const std::uint64_t key = stream.keys + round;
        (void)must(w.store().put(filter.hash()(key), integer_key{key}.view()));
        do_write(w, insert, round, [&](auto& remote) {
            if (must(filter.insert(key, remote)) == insert_outcome::full) throw workload_error{"the filter is full"};
            if (stream.hidden != nullptr) stream.hidden(round, stream.keys);
        });
        if (stream.rate < 0x1p-12) continue;
        while (!filter.may_contain(next_absent)) ++next_absent;
        do_write(w, repair, round, [&](auto& remote) { (void)must(filter.adapt(next_absent, remote)); });
        ++next_absent;
    }
}

}  // namespace costliest

// The most expensive writes by the clock: numbers of rounds, for each kind.
using costly_rounds = std::array<std::vector<std::uint64_t>, costliest::kinds>;

[[nodiscard]] inline costly_rounds choose_costliest(const costly_stream& stream) {
    using clock = std::chrono::steady_clock;
    std::array<std::vector<double>, costliest::kinds> least;
    for (auto& each : least) each.assign(stream.rounds, 1e300);
    for (std::uint64_t pass = 0; pass < stream.clocked; ++pass) {
        costliest::play(stream, [&](our_workload& w, costliest::kind kind, std::uint64_t round, auto write) {
            const auto begin = clock::now();
            write(w.store());
            const double took = std::chrono::duration<double>{clock::now() - begin}.count();
            least[kind][round] = std::min(least[kind][round], took);
        });
    }
    costly_rounds chosen;
    for (unsigned kind = 0; kind < costliest::kinds; ++kind) {
        std::vector<std::uint64_t> order(stream.rounds);
        std::iota(order.begin(), order.end(), std::uint64_t{0});
        const auto count = static_cast<std::ptrdiff_t>(std::min(stream.counted, stream.rounds));
        std::partial_sort(order.begin(), order.begin() + count, order.end(),
                          [&](std::uint64_t a, std::uint64_t b) { return least[kind][a] > least[kind][b]; });
        chosen[kind].assign(order.begin(), order.begin() + count);
    }
    return chosen;
}

[[nodiscard]] inline costly_writes find_costliest(const costly_stream& stream) {
    const costly_rounds chosen = choose_costliest(stream);
    costly_writes seen;
    std::vector<double>* const into[costliest::kinds] = {&seen.erases, &seen.inserts, &seen.repairs};
    instruction_counter counter;
    costliest::play(stream, [&](our_workload& w, costliest::kind kind, std::uint64_t round, auto write) {
        if (std::find(chosen[kind].begin(), chosen[kind].end(), round) == chosen[kind].end()) return write(w.store());
        uncounted_map<memory_map> remote{w.store()};
        into[kind]->push_back(static_cast<double>(counter.of([&] { write(remote); })));
    });
    return seen;
}

// A control's hidden step: two writes of the stream do something for every second key.
inline void walk_over_all_keys(std::uint64_t round, std::uint64_t keys) {
    if (round != 1'000 && round != 2'000) return;
    volatile std::uint64_t sum = 0;
    for (std::uint64_t key = 0; key < keys; key += 2) sum = sum + key;
}

}  // namespace genista::lab
