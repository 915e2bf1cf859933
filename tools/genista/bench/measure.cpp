// The steps for the filters of one size, but for the rounds (rounds.cpp). See measure.hpp.
#include "bench/measure.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "bench/filter_subject.hpp"
#include "filters/cache_line_floor.hpp"
#include "machine.hpp"

namespace genista::tool::bench {
namespace {

// Rates: how often an absent key is answered "maybe", and that no stored key is ever answered
// "absent". Counted in batches.

std::uint64_t count_positives(const reader& of, const key_source& keys, key_use use, std::uint64_t total) {
    std::vector<std::uint64_t> some(static_cast<std::size_t>(std::min<std::uint64_t>(total, key_chunk)));
    std::uint64_t positives = 0;
    for (std::uint64_t first = 0; first < total; first += key_chunk) {
        const std::span part =
            std::span{some}.first(static_cast<std::size_t>(std::min<std::uint64_t>(total - first, key_chunk)));
        keys.fill(use, first, part);
        of.before_lookups(part, use == key_use::stored);
        positives += of.count_batch(part);
    }
    return positives;
}

// Queries `queries` keys that were never stored and never queried before; fills in the rate and its
// interval.
void measure_rate(const reader& of, const key_source& keys, std::uint64_t queries, figures& into) {
    into.rate_queries = queries;
    into.false_positives = count_positives(of, keys, key_use::rate, queries);
    into.fpr_interval = lab::exact_interval(into.false_positives, queries);
}

// Queries every stored key, and adds those answered "absent" to into.lost_keys.
void count_lost_keys(const reader& of, const key_source& keys, std::uint64_t stored, figures& into) {
    into.lost_keys += stored - count_positives(of, keys, key_use::stored, stored);
}

// The floor: the least time of a look-up. Hash the key, fetch one random cache line, test one bit
// of it. No filter that leaves the processor's caches can be faster, so times are read as multiples
// of it. Its array is as large as the smallest filter of the run, the strictest floor for all of
// them, and the same loops time it in the same rounds.
result<std::unique_ptr<reader>> make_floor(std::uint64_t size_bytes, const hasher& hash) {
    result<cache_line_floor> made = cache_line_floor::make(size_bytes, hash);
    if (!made) return made.error();
    return std::unique_ptr<reader>{std::make_unique<reader_of<cache_line_floor>>(std::move(*made))};
}

// Churn: a filter after many replacements.
//
// A churned filter is a second one beside the measured one. It is filled the same way, and then
// keys are replaced: a present key, drawn at random, is erased, and a new one is inserted, again
// and again. All churned filters of a run get the same replacements.

constexpr std::uint64_t victim_stream = 3, sample_stream = 4;

// erases[0], inserts[0], erases[1], inserts[1] …: never more keys than the filter was made for.
void replace(subject& filter, std::span<const std::uint64_t> erases, std::span<const std::uint64_t> inserts,
             figures& into) {
    into.lost_keys += 1 - filter.erase(erases.first(1));
    const update_counts counts = filter.mixed({.operations = 2 * inserts.size() - 1,
                                               .update_percent = 100,
                                               .lookups = {},
                                               .inserts = inserts,
                                               .erases = erases.subspan(1)});
    into.lost_keys += counts.lost;
    into.refused_keys += counts.refused;
}

// Calls part(keys, first) for stretches of `all`.
template <class Part>
void in_chunks(std::span<const std::uint64_t> all, const Part& part) {
    for (std::size_t first = 0; first < all.size(); first += key_chunk) {
        part(all.subspan(first, std::min(key_chunk, all.size() - first)), first);
    }
}

// Fills the filters, replaces keys, and queries every filter for every key that it holds in the
// end. Returns `sample` of these keys, drawn at random with replacement. `into` has one entry a
// filter; `tick` gets the share that is done.
result<std::vector<std::uint64_t>> replace_keys(const plan& what, const key_source& keys,
                                                std::span<const std::unique_ptr<subject>> churned, std::size_t sample,
                                                std::span<figures> into, const std::function<void(double)>& tick) {
    const auto steps = static_cast<double>(what.keys + what.replacements());
    std::vector<std::uint64_t> present(static_cast<std::size_t>(what.keys));
    keys.fill(key_use::stored, 0, present);
    for (const auto& each : churned) {
        if (result<void> emptied = each->empty(); !emptied) return emptied.error();
    }
    in_chunks(present, [&](std::span<const std::uint64_t> part, std::size_t first) {
        for (std::size_t t = 0; t < churned.size(); ++t) {
            churned[t]->before_insert(part);
            into[t].refused_keys += churned[t]->insert(part);
        }
        tick(static_cast<double>(first) / steps);
    });

    std::vector<std::uint64_t> range_reads(churned.size()), slot_reads(churned.size());
    std::vector<std::uint64_t> erases, inserts;
    for (std::uint64_t done = 0; done < what.replacements(); done += inserts.size()) {
        erases.resize(static_cast<std::size_t>(std::min<std::uint64_t>(key_chunk, what.replacements() - done)));
        inserts.resize(erases.size());
        keys.fill(key_use::churned, done, inserts);
        for (std::size_t i = 0; i < erases.size(); ++i) {
            std::uint64_t& victim = present[static_cast<std::size_t>(keys.chance(victim_stream, done + i, what.keys))];
            erases[i] = std::exchange(victim, inserts[i]);
        }
        for (std::size_t t = 0; t < churned.size(); ++t) {
            const std::uint64_t ranges = churned[t]->remote_range_reads(), slots = churned[t]->remote_slot_reads();
            replace(*churned[t], erases, inserts, into[t]);
            range_reads[t] += churned[t]->remote_range_reads() - ranges;
            slot_reads[t] += churned[t]->remote_slot_reads() - slots;
        }
        tick(static_cast<double>(what.keys + done) / steps);
    }

    for (std::size_t t = 0; t < churned.size(); ++t) {
        in_chunks(present, [&](std::span<const std::uint64_t> part, std::size_t) {
            into[t].lost_keys += part.size() - churned[t]->count_batch(part);
        });
        if (!churned[t]->asks_remote() || what.replacements() == 0) continue;
        const auto updates = static_cast<double>(2 * what.replacements());
        into[t].range_reads_per_update = static_cast<double>(range_reads[t]) / updates;
        if (churned[t]->slot_bytes() > 0) into[t].slot_reads_per_update = static_cast<double>(slot_reads[t]) / updates;
    }
    std::vector<std::uint64_t> drawn(sample);
    for (std::size_t i = 0; i < sample; ++i) {
        drawn[i] = present[static_cast<std::size_t>(keys.chance(sample_stream, i, what.keys))];
    }
    return drawn;
}

hasher hash_of(const plan& what) {
    return hasher{hash_key::from_seed(what.seed), what.hash};
}

result<std::unique_ptr<subject>> make_subject(const plan& what, const filter_entry& entry) {
    const filter_options options{.capacity = what.keys, .false_positive_rate = what.error_rate, .hash = hash_of(what)};
    auto made = entry.make_subject(options);
    if (made || made.error().code() != error_code::out_of_memory) return made;
    return error::make(error_code::out_of_memory, "%llu keys are too many for this machine: %s %s",
                       static_cast<unsigned long long>(what.keys), entry.name.data(),
                       std::string{made.error().message()}.c_str());
}

std::uint64_t bytes_of_all(const subjects& some) {
    std::uint64_t bytes = 0;
    for (const auto& each : some) bytes += each->stats().local_bytes + each->slot_bytes() + each->building_bytes();
    return bytes;
}

// The records of R (stored keys, and those that come later) if any of these filters asks R at all.
result<void> announce(const plan& what, const key_source& keys, key_use later, std::uint64_t later_count,
                      const subjects& some) {
    const auto asks_remote = [](const auto& each) { return each->asks_remote(); };
    if (std::ranges::none_of(some, asks_remote)) return {};
    const auto fill = [&](std::uint64_t first, std::span<std::uint64_t> out) {
        const std::uint64_t stored = std::min<std::uint64_t>(what.keys - std::min(what.keys, first), out.size());
        keys.fill(key_use::stored, first, out.first(static_cast<std::size_t>(stored)));
        keys.fill(later, first + stored - what.keys, out.subspan(static_cast<std::size_t>(stored)));
    };
    const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
    result<flat_records> sorted = flat_records::make(hash_of(what), what.keys + later_count, fill, threads);
    if (!sorted) return sorted.error();
    const auto shared = std::make_shared<const flat_records>(*std::move(sorted));
    for (const auto& each : some) each->announce(shared);
    return {};
}

// Replaces keys in the churned filters. R is released afterwards: look-ups need none, and it is
// larger than all the rest.
result<std::vector<std::uint64_t>> age(const plan& what, const key_source& keys, const subjects& churned,
                                       std::span<figures> into, const std::function<void(double)>& tick) {
    if (churned.empty()) return std::vector<std::uint64_t>{};
    if (const auto ready = announce(what, keys, key_use::churned, what.replacements(), churned); !ready) {
        return ready.error();
    }
    auto present = replace_keys(what, keys, churned, static_cast<std::size_t>(what.most_lookups()), into, tick);
    for (const auto& each : churned) each->announce(nullptr);
    return present;
}

void look_over(const subject& each, const plan& what, const key_source& keys, figures& into) {
    into.stats = each.stats();
    measure_rate(each, keys, what.rate_queries(), into);
}

}  // namespace

result<contestants> make_contestants(const plan& what, std::span<const filter_entry* const> filters) {
    contestants made;
    bool asks_remote = false;
    for (const filter_entry* entry : filters) {
        auto one = make_subject(what, *entry);
        if (!one) return one.error();
        asks_remote = asks_remote || (*one)->asks_remote();
        const bool has_churned = what.replacements() > 0 && (*one)->can_erase();
        made.under_test.push_back(*std::move(one));
        if (!has_churned) continue;
        auto second = make_subject(what, *entry);
        if (!second) return second.error();
        made.churned.push_back(*std::move(second));
    }
    // Untouched pages cost nothing yet. A run that fills more memory than there is would be killed
    // without a message.
    std::uint64_t records = 0, aged_records = 0;
    if (asks_remote) {
        records = flat_records::bytes_for(what.keys + what.mix_keys());
        if (!made.churned.empty()) aged_records = flat_records::bytes_for(what.keys + what.replacements());
    }
    if (!made.churned.empty()) aged_records += what.keys * sizeof(std::uint64_t);
    const std::uint64_t needed = 4 * sizeof(std::uint64_t) * what.most_lookups() + bytes_of_all(made.under_test) +
                                 bytes_of_all(made.churned) + std::max(records, aged_records);
    if (const std::uint64_t there = physical_memory_bytes(); there != 0 && needed > there) {
        return error::make(error_code::out_of_memory, "%llu keys need %llu bytes for these filters; there are %llu",
                           static_cast<unsigned long long>(what.keys), static_cast<unsigned long long>(needed),
                           static_cast<unsigned long long>(there));
    }
    return made;
}

std::optional<std::string> first_fault(const size_report& size) {
    for (const figures& each : size.filters) {
        if (auto fault = each.fault()) return fault;
    }
    return std::nullopt;
}

// Churned filters first, then build, rates, rounds, and every stored key once more after the last
// update.
result<size_report> measure(const plan& what, std::span<const filter_entry* const> filters,
                            const std::function<void(double, std::string)>& tick) {
    const key_source keys{what.seed};
    result<contestants> made = make_contestants(what, filters);
    if (!made) return made.error();
    const auto& [under_test, churned] = *made;

    size_report run{.what = what};
    const std::size_t teams = what.threads.size();
    for (const auto& each : under_test) run.filters.emplace_back(each->name(), teams);
    for (const auto& each : churned) run.filters.emplace_back(std::string{each->name()}.append(churned_suffix), teams);
    const std::span churned_figures = std::span{run.filters}.subspan(under_test.size());

    const double ageing = churned.empty() ? 0 : 0.3;  // of the time, by experience
    const auto aged = age(what, keys, churned, churned_figures, [&](double share) { tick(share * ageing, "churn"); });
    if (!aged) return aged.error();
    for (std::size_t t = 0; t < churned.size(); ++t) look_over(*churned[t], what, keys, churned_figures[t]);

    tick(ageing, "sorting R");
    if (const auto ready = announce(what, keys, key_use::mixed, what.mix_keys(), under_test); !ready) {
        return ready.error();
    }
    std::uint64_t ticks = 0;
    const auto all_ticks = static_cast<double>(rounds::ticks(what, under_test.size(), churned.size()));
    rounds timing{what, keys, under_test, churned, [&](std::string_view name) {
                      tick(ageing + (1 - ageing) * static_cast<double>(++ticks) / all_ticks, std::string{name});
                  }};
    if (result<void> built = timing.build_all(0, run.filters); !built) return built.error();
    for (std::size_t s = 0; s < under_test.size(); ++s) {
        figures& into = run.filters[s];
        look_over(*under_test[s], what, keys, into);
        count_lost_keys(*under_test[s], keys, what.keys, into);
        if (s == 0 || into.stats.local_bytes < run.floor.size_bytes) run.floor.size_bytes = into.stats.local_bytes;
    }
    if (first_fault(run)) return run;
    const auto floor = make_floor(run.floor.size_bytes, hash_of(what));
    if (!floor) return floor.error();
    if (result<void> timed = timing.run(**floor, *aged, run.filters, run.floor); !timed) return timed.error();
    for (std::size_t s = 0; s < under_test.size(); ++s) {
        count_lost_keys(*under_test[s], keys, what.keys, run.filters[s]);
        run.filters[s].oracle_ns = under_test[s]->oracle_ns();
    }
    return run;
}

}  // namespace genista::tool::bench
