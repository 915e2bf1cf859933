// Slices, threads, checks; and the search for false positives, on all cores if the filter does not
// learn. See run_phase.hpp.
#include "compare/run_phase.hpp"

#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "compare/workload.hpp"
#include "genista/detail/guard/latency_histogram.hpp"

namespace genista::tool::compare {
namespace {

using clock = std::chrono::steady_clock;
constexpr std::size_t most_slices = 50;
constexpr std::size_t timeline_points = 100;

// One thread's share of a slice.
struct share_of_work {
    std::size_t begin = 0, end = 0;
    std::uint64_t false_negatives = 0, absent_keys_found = 0, device_reads = 0;
    std::optional<error> failure;
};

// Accumulated over a phase.
struct state {
    figures sums;
    latency_histogram times;
    std::vector<unsigned char> wasted;  // by query
    guard_counters before;
};

void work(contender& of, const stream& asked, share_of_work& mine, state& all) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    const std::uint64_t reads_before = rocksdb::get_perf_context()->block_read_count;
    auto last = clock::now();
    for (std::size_t q = mine.begin; q < mine.end; ++q) {
        const key_number number = asked.queries[q];
        const auto got = of.ask((*asked.keys)[number]);
        const auto now = clock::now();
        all.times.record(static_cast<std::uint64_t>(std::chrono::nanoseconds{now - last}.count()));
        last = now;
        if (!got) {
            mine.failure = got.error();
            break;
        }
        if (number < asked.stored)
            mine.false_negatives += got->found ? 0u : 1u;
        else if (got->found)
            ++mine.absent_keys_found;
        else
            all.wasted[q] = got->let_through ? 1u : 0u;
    }
    mine.device_reads = rocksdb::get_perf_context()->block_read_count - reads_before;
}

result<void> run_slice(contender& of, const stream& asked, std::size_t begin, std::size_t end, std::size_t threads,
                       state& all) {
    std::vector<share_of_work> shares(threads);
    for (std::size_t t = 0; t < threads; ++t) {
        shares[t].begin = begin + (end - begin) * t / threads;
        shares[t].end = begin + (end - begin) * (t + 1) / threads;
    }
    const auto started = clock::now();
    if (threads == 1) {
        work(of, asked, shares[0], all);
    } else {
        std::vector<std::jthread> running;
        for (share_of_work& each : shares) running.emplace_back([&] { work(of, asked, each, all); });
    }
    all.sums.seconds += std::chrono::duration<double>(clock::now() - started).count();
    for (const share_of_work& each : shares) {
        if (each.failure) return *each.failure;
        all.sums.false_negatives += each.false_negatives;
        all.sums.absent_keys_found += each.absent_keys_found;
        all.sums.device_reads += each.device_reads;
    }
    return {};
}

// Everything that follows from which queries were wasted, in the order of the queries.
void count_wasted(const stream& asked, const state& all, figures& into) {
    std::vector<bool> seen(asked.keys->size()), wasted_before(asked.keys->size(), asked.all_wasted_before);
    const std::size_t queries = asked.queries.size();
    std::size_t next_point = 0;
    into.timeline_queries.push_back(0);
    into.timeline_wasted.push_back(0);
    for (std::size_t q = 0; q < queries; ++q) {
        const key_number number = asked.queries[q];
        if (number >= asked.stored) {
            ++into.absent;
            into.distinct_absent += seen[number] ? 0u : 1u;
            seen[number] = true;
        }
        if (all.wasted[q] != 0) {
            ++into.wasted_reads;
            into.repeated_wasted_reads += wasted_before[number] ? 1u : 0u;
            wasted_before[number] = true;
        }
        if ((q + 1) * timeline_points / queries > next_point) {
            next_point = (q + 1) * timeline_points / queries;
            into.timeline_queries.push_back(q + 1);
            into.timeline_wasted.push_back(into.wasted_reads);
        }
    }
    into.queries = queries;
}

figures finish(const contender& of, const stream& asked, const state& all, std::uint64_t stored_keys) {
    figures made = all.sums;
    made.filter = of.kind();
    count_wasted(asked, all, made);
    made.bits_per_key = static_cast<double>(of.local_bytes()) * 8 / static_cast<double>(stored_keys);
    const auto us = [&](double share) { return static_cast<double>(all.times.percentile(share)) / 1000; };
    made.p50_us = us(0.5);
    made.p99_us = us(0.99);
    made.p999_us = us(0.999);
    if (const auto now = of.counters()) {
        made.guard_wasted = now->wasted_reads - all.before.wasted_reads;
        made.adapts = now->adapts - all.before.adapts;
        made.remote_reads = now->filter.remote_reads - all.before.filter.remote_reads;
    }
    return made;
}

constexpr std::uint64_t questions_a_round = 1 << 16;  // a thread

struct search {
    std::uint64_t begin = 0;
    std::vector<fresh_key> hits;
    std::optional<error> failure;
};

void look(contender& victim, const key_table& stored, const fresh_keys& questions, std::uint64_t wanted, search& mine) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    for (std::uint64_t i = 0; i < questions_a_round; ++i) {
        const fresh_key key = questions.at(mine.begin + i);
        const auto got = victim.ask(key.text());
        if (!got) {
            mine.failure = got.error();
            return;
        }
        if (got->let_through && !got->found && !stored.find(key.text())) mine.hits.push_back(key);
        if (mine.hits.size() == wanted) return;
    }
}

}  // namespace

result<std::vector<figures>> run_phase(const contenders& field, std::span<const stream> streams, std::size_t threads,
                                       std::uint64_t stored_keys, const tick& tell) {
    std::vector<std::unique_ptr<state>> states;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < field.size(); ++i) {
        state& made = *states.emplace_back(std::make_unique<state>());
        made.wasted.resize(streams[i].queries.size());
        if (const auto counters = field[i]->counters()) made.before = *counters;
        longest = std::max(longest, streams[i].queries.size());
    }
    const std::size_t slices = std::clamp<std::size_t>(longest / 1000, 1, most_slices);
    for (std::size_t slice = 0; slice < slices; ++slice) {
        for (std::size_t turn = 0; turn < field.size(); ++turn) {
            const std::size_t i = (turn + slice) % field.size();
            const std::size_t queries = streams[i].queries.size();
            tell(static_cast<double>(slice * field.size() + turn) / static_cast<double>(slices * field.size()),
                 field[i]->name());
            const auto done = run_slice(*field[i], streams[i], queries * slice / slices, queries * (slice + 1) / slices,
                                        threads, *states[i]);
            if (!done) return done.error();
        }
    }
    std::vector<figures> made;
    for (std::size_t i = 0; i < field.size(); ++i)
        made.push_back(finish(*field[i], streams[i], *states[i], stored_keys));
    return made;
}

result<void> warm_up(const contenders& field, const stream& queries) {
    for (const auto& each : field) {
        state unused;
        unused.wasted.resize(queries.queries.size());
        if (const auto done = run_slice(*each, queries, 0, queries.queries.size(), 1, unused); !done) return done;
    }
    return {};
}

result<pool> find_pool(contender& victim, const key_table& stored, const request& asked, const tick& tell) {
    const fresh_keys questions{asked.seed, fresh_keys::stream::attack};
    // A filter that learns is queried in one order, so that a run can be repeated.
    const std::size_t threads = victim.learns() ? 1 : std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
    pool found;
    while (found.keys.size() < asked.pool && found.asked < asked.most_questions) {
        std::vector<search> searches(threads);
        {
            std::vector<std::jthread> running;
            for (search& each : searches) {
                each.begin = found.asked;
                found.asked += questions_a_round;
                running.emplace_back([&] { look(victim, stored, questions, asked.pool, each); });
            }
        }
        for (const search& each : searches) {
            if (each.failure) return *each.failure;
            for (const fresh_key& key : each.hits) {
                if (found.keys.size() < asked.pool) found.keys.add(key.text());
            }
        }
        tell(std::max(static_cast<double>(found.keys.size()) / static_cast<double>(asked.pool),
                      static_cast<double>(found.asked) / static_cast<double>(asked.most_questions)),
             victim.name());
    }
    return found;
}

std::vector<key_number> replay_of(const pool& found, std::uint64_t queries) {
    std::vector<key_number> made;
    if (found.keys.size() == 0) return made;
    made.reserve(queries);
    for (std::uint64_t i = 0; i < queries; ++i) made.push_back(static_cast<key_number>(i % found.keys.size()));
    return made;
}

}  // namespace genista::tool::compare
