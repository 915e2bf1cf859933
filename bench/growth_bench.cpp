// growth_bench: how long calls wait while a broom filter grows: one thread inserts, another
// queries, and every call is timed.
//
//     build/release/bin/growth_bench --from 1e4 --to 1e8
//
// The filter is made for `from` keys and gets `to`, one insert after the other; R commits each key
// first. The other thread alternates between stored keys (the newest, and any) and absent keys. A
// stored key that is answered "absent" fails the run.
//
// R is a sorted array of all keys of the run, with a bit for each key that is stored
// (flat_map.hpp). It is faster than a store, and while few keys are stored a range of it has mostly
// others: R's part of an insert says little about real stores, so it is reported separately. The
// machine's own pauses are measured beforehand, while both threads only read the clock.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/clocked_map.hpp"
#include "bench/filter_subject.hpp"
#include "bench/flat_map.hpp"
#include "bench/keys.hpp"
#include "genista/filters/broom.hpp"
#include "growth_watch.hpp"
#include "lab/experiment.hpp"
#include "lab/statistics/binomial.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "program.hpp"
#include "progress.hpp"
#include "stalls.hpp"
#include "table.hpp"

namespace genista::bench {
namespace {

using lab::must;
using tool::grouped;
using tool::bench::clocked_map;
using tool::bench::flat_map;
using tool::bench::flat_records;
using tool::bench::key_source;
using tool::bench::key_use;
using tool::bench::remote_meter;

struct request {
    std::uint64_t from = 10'000;
    std::uint64_t to = 100'000'000;
    double rate = 0x1p-8;
    std::uint64_t idle_seconds = 2;
    std::uint64_t seed = 1;
};

std::uint64_t ns_of(stall_clock::duration span) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, std::chrono::nanoseconds{span}.count()));
}

struct asked_figures {
    timing each;
    std::uint64_t stored_keys = 0, denied = 0;
    std::uint64_t absent = 0, false_positives = 0;
    std::uint64_t interrupted = 0;
};

struct inserted_figures {
    timing own;    // without the time in R
    timing whole;  // with R, and with the commit to R before it
    std::uint64_t interrupted = 0;
    std::uint64_t already_present = 0;
    std::uint64_t most_bytes = 0;
    double most_bits_per_key = 0;  // from the moment when the filter has as many keys as it was made for
    double seconds = 0;
};

struct figures {
    std::array<std::uint64_t, 2> idle_gap_ns{};
    inserted_figures inserts;
    asked_figures queries;
    std::vector<growth> growths;
    std::uint64_t growths_counted = 0;  // by the filter
    filter_stats stats{};
    std::uint64_t denied_at_the_end = 0;
    std::uint64_t peak_bytes = 0;  // resident, minus the bytes before the filter was made
};

std::array<std::uint64_t, 2> idle_gaps(std::uint64_t seconds) {
    std::array<std::uint64_t, 2> gaps{};
    const std::chrono::duration<double> watched{static_cast<double>(seconds)};
    std::jthread other{[&] { gaps[1] = longest_gap_ns(watched); }};
    gaps[0] = longest_gap_ns(watched);
    other.join();
    return gaps;
}

// Alternates between stored and absent keys, until `stop` is set.
void ask(const broom_filter& filter, const key_source& keys, const std::atomic<std::uint64_t>& stored,
         const std::atomic<bool>& stop, asked_figures& into, timeline& when) {
    const std::uint64_t interrupted = times_interrupted();
    for (std::uint64_t i = 0; !stop.load(std::memory_order_relaxed); ++i) {
        const std::uint64_t there = stored.load(std::memory_order_acquire);
        const bool is_stored = i % 2 == 0 && there > 0;
        const std::uint64_t chosen = i % 4 == 0 ? there - 1 : keys.chance(0, i, std::max<std::uint64_t>(there, 1));
        const std::uint64_t key = is_stored ? keys(key_use::stored, chosen) : keys(key_use::absent, i);
        const auto begin = stall_clock::now();
        const bool maybe = filter.may_contain(key);
        const auto end = stall_clock::now();
        into.each.record(ns_of(end - begin));
        when.record(begin, end);
        (is_stored ? into.stored_keys : into.absent) += 1;
        into.denied += is_stored && !maybe ? 1u : 0u;
        into.false_positives += !is_stored && maybe ? 1u : 0u;
    }
    into.interrupted = times_interrupted() - interrupted;
}

// The inserting thread.
class inserter {
  public:
    inserter(broom_filter& filter, flat_map& store, const key_source& keys, growth_watch& watch, inserted_figures& into)
        : filter_{filter}, store_{store}, remote_{store}, keys_{keys}, watch_{watch}, into_{into} {}

    void insert(std::uint64_t i) {
        const std::uint64_t key = keys_(key_use::stored, i);
        const auto bytes = tool::bench::bytes_of(key);
        const auto begin = stall_clock::now();
        must(store_.put(filter_.hash()(key), key_view{bytes.data(), bytes.size()}));
        const remote_meter before = remote_meter::of_this_thread();
        const auto committed = stall_clock::now();
        const insert_outcome outcome = must(filter_.insert(key, remote_));
        const auto end = stall_clock::now();
        const remote_meter after = remote_meter::of_this_thread();
        if (outcome == insert_outcome::full) throw lab::workload_error{fmt::format("insert {} was refused as full", i)};
        into_.already_present += outcome == insert_outcome::already_present ? 1u : 0u;
        const timed_insert took{begin, end, ns_of(end - committed - (after.spent - before.spent)), i};
        into_.own.record(took.own_ns);
        into_.whole.record(ns_of(end - begin));
        // A growth begins with a read of R, and every insert may end one.
        if (watch_.growing() || after.range_reads != before.range_reads || i % bytes_every == 0) look(took);
    }

  private:
    static constexpr std::uint64_t bytes_every = 1024;

    void look(const timed_insert& took) {
        const filter_stats now = filter_.stats();
        watch_.after(took, now, filter_.is_growing());
        into_.most_bytes = std::max(into_.most_bytes, now.local_bytes);
        if (took.number < watch_.made_for()) return;
        const double bits = static_cast<double>(now.local_bytes) * 8 / static_cast<double>(took.number + 1);
        into_.most_bits_per_key = std::max(into_.most_bits_per_key, bits);
    }

    broom_filter& filter_;
    flat_map& store_;
    clocked_map<flat_map> remote_;
    const key_source& keys_;
    growth_watch& watch_;
    inserted_figures& into_;
};

// Queries every key once more, when no thread writes.
std::uint64_t count_denied(const broom_filter& filter, const key_source& keys, std::uint64_t stored) {
    std::vector<std::uint64_t> some(tool::bench::batch_size);
    std::uint64_t denied = 0;
    for (std::uint64_t first = 0; first < stored; first += some.size()) {
        some.resize(static_cast<std::size_t>(std::min<std::uint64_t>(some.size(), stored - first)));
        keys.fill(key_use::stored, first, some);
        denied += some.size() - tool::bench::count_batch_in(filter, some);
    }
    return denied;
}

void run(const request& asked, broom_filter& filter, flat_map& store, const key_source& keys, timeline& met,
         tool::progress& bar, figures& into) {
    growth_watch watch{asked.from, filter.stats()};
    std::atomic<std::uint64_t> stored{0};
    std::atomic<bool> stop{false};
    const auto start = stall_clock::now();
    std::jthread reader{[&] { ask(filter, keys, stored, stop, into.queries, met); }};
    try {
        inserter writer{filter, store, keys, watch, into.inserts};
        const std::uint64_t interrupted = times_interrupted();
        for (std::uint64_t i = 0; i < asked.to; ++i) {
            writer.insert(i);
            stored.store(i + 1, std::memory_order_release);
            if (i % 65'536 == 0) bar.update(static_cast<double>(i) / static_cast<double>(asked.to), "growing");
        }
        into.inserts.interrupted = times_interrupted() - interrupted;
    } catch (...) {
        stop.store(true);
        throw;
    }
    into.inserts.seconds = std::chrono::duration<double>(stall_clock::now() - start).count();
    stop.store(true);
    reader.join();
    into.growths = watch.seen();
    for (growth& each : into.growths) each.longest_query_ns = met.longest_ns(each.begin, each.end);
}

void measure(const request& asked, figures& into) {
    tool::progress bar{"sorting R"};
    bar.update(0);
    const key_source keys{asked.seed};
    const hasher hash{hash_key::from_seed(asked.seed)};
    const auto fill = [&](std::uint64_t first, std::span<std::uint64_t> out) {
        keys.fill(key_use::stored, first, out);
    };
    flat_map store{std::make_shared<const flat_records>(must(flat_records::make(hash, asked.to, fill, 2)))};
    bar.update(0, "watching the machine");
    into.idle_gap_ns = idle_gaps(asked.idle_seconds);
    constexpr std::chrono::hours longest_run{2};
    timeline met{stall_clock::now(), longest_run};
    forget_peak();
    const std::uint64_t before = resident_bytes();
    broom_filter filter = must(broom_filter::make({.capacity = asked.from,
                                                   .false_positive_rate = asked.rate,
                                                   .hash = hash,
                                                   .key_is_new = true,
                                                   .random = repeatable(asked.seed)}));
    run(asked, filter, store, keys, met, bar, into);
    into.peak_bytes = peak_resident_bytes() - std::min(peak_resident_bytes(), before);
    into.stats = filter.stats();
    into.growths_counted = filter.details().growths;
    into.denied_at_the_end = count_denied(filter, keys, asked.to);
}

std::vector<std::string> faults_of(const request& asked, const figures& found) {
    std::vector<std::string> faults;
    if (const auto denied = found.queries.denied + found.denied_at_the_end; denied != 0)
        faults.push_back(fmt::format("{} times a stored key was answered absent", denied));
    if (found.stats.keys != asked.to)
        faults.push_back(fmt::format("the filter counts {} keys of {}", found.stats.keys, asked.to));
    const auto most = lab::most_plausible_hits(found.queries.absent, asked.rate);
    if (found.queries.false_positives > most)
        faults.push_back(fmt::format("{} false positives in {} queries, at most {} are plausible at a rate of {:.4g}",
                                     found.queries.false_positives, found.queries.absent, most, asked.rate));
    return faults;
}

std::string times_text(const figures& found) {
    tool::table page{{{"time of one"},
                      {"count", tool::align::right},
                      {"99.99 %", tool::align::right},
                      {"99.9999 %", tool::align::right},
                      {"longest", tool::align::right},
                      {"longest undisturbed", tool::align::right},
                      {"interrupted", tool::align::right}}};
    const auto row = [&](const std::string& name, const timing& of, std::uint64_t interrupted) {
        const auto shown = [](std::uint64_t ns) { return shown_time(static_cast<double>(ns)); };
        const auto undisturbed = [&](const timing& times) {
            const std::uint64_t ns = times.longest_undisturbed_ns();
            return ns != 0 ? shown(ns) : "< " + shown(timing::long_ns);
        };
        page.add_row({name, grouped(of.count()), shown(of.percentile_ns(0.9999)), shown(of.percentile_ns(0.999999)),
                      shown(of.longest_ns()), undisturbed(of), grouped(interrupted)});
    };
    row("query", found.queries.each, found.queries.interrupted);
    row("insert, the filter's part", found.inserts.own, found.inserts.interrupted);
    row("insert, with R", found.inserts.whole, found.inserts.interrupted);
    return page.text();
}

std::string growths_text(const figures& found) {
    tool::table page{{{"growth"},
                      {"keys at its begin", tool::align::right},
                      {"inserts", tool::align::right},
                      {"ms", tool::align::right},
                      {"first insert", tool::align::right},
                      {"last insert", tool::align::right},
                      {"longest insert", tool::align::right},
                      {"longest query", tool::align::right}}};
    for (std::size_t i = 0; i < found.growths.size(); ++i) {
        const growth& each = found.growths[i];
        const auto shown = [](std::uint64_t ns) { return shown_time(static_cast<double>(ns)); };
        page.add_row({fmt::format("{}{}", i + 1, each.ended ? "" : " (not ended)"), grouped(each.keys_at_begin),
                      grouped(each.inserts),
                      fmt::format("{:.2f}", static_cast<double>(ns_of(each.end - each.begin)) * 1e-6),
                      shown(each.first_own_ns), shown(each.last_own_ns), shown(each.longest_own_ns),
                      shown(each.longest_query_ns)});
    }
    return page.text();
}

std::string text_of(const request& asked, const figures& found) {
    const auto mib = [](std::uint64_t bytes) {
        return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 1048576);
    };
    const double final_bytes = static_cast<double>(found.stats.local_bytes);
    const std::string lines = lines_text(
        {{"keys", grouped(asked.to), fmt::format("from a filter made for {}", grouped(asked.from))},
         {"the machine's own stalls",
          shown_time(static_cast<double>(std::max(found.idle_gap_ns[0], found.idle_gap_ns[1]))),
          fmt::format("the longest in {} s, on either of two threads that only read the clock", asked.idle_seconds)},
         {"all inserts", fmt::format("{:.2f} s", found.inserts.seconds),
          "with R, the clocks and the other thread beside"},
         {"growths", grouped(found.growths_counted)},
         {"stored keys denied", grouped(found.queries.denied + found.denied_at_the_end),
          fmt::format("of {} asked meanwhile and all {} at the end", found.queries.stored_keys, asked.to)},
         {"rate",
          fmt::format("{:.5g}", static_cast<double>(found.queries.false_positives) /
                                    static_cast<double>(std::max<std::uint64_t>(found.queries.absent, 1))),
          fmt::format("{} of {} absent keys asked meanwhile; {:.5g} promised", found.queries.false_positives,
                      found.queries.absent, asked.rate)},
         {"filter at the end", mib(found.stats.local_bytes),
          fmt::format("{:.2f} bits a key", final_bytes * 8 / static_cast<double>(asked.to))},
         {"filter at its most", mib(found.inserts.most_bytes),
          fmt::format("{:.3f} of the end; at most {:.1f} bits a key",
                      static_cast<double>(found.inserts.most_bytes) / final_bytes, found.inserts.most_bits_per_key)},
         {"peak RSS without R", mib(found.peak_bytes)}});
    return lines + "\n" + times_text(found) + "\n" + growths_text(found);
}

nlohmann::ordered_json json_of(const timing& of) {
    return {{"count", of.count()},
            {"p9999_ns", of.percentile_ns(0.9999)},
            {"p999999_ns", of.percentile_ns(0.999999)},
            {"longest_ns", of.longest_ns()},
            {"longest_undisturbed_ns", of.longest_undisturbed_ns()}};
}

nlohmann::ordered_json json_of(const request& asked, const figures& found) {
    nlohmann::ordered_json made{{"program", "growth_bench"},
                                {"machine", to_json(tool::this_machine())},
                                {"from", asked.from},
                                {"to", asked.to},
                                {"error_rate", asked.rate},
                                {"seed", asked.seed},
                                {"idle_gap_ns", found.idle_gap_ns},
                                {"seconds", found.inserts.seconds},
                                {"query", json_of(found.queries.each)},
                                {"insert_own", json_of(found.inserts.own)},
                                {"insert_whole", json_of(found.inserts.whole)},
                                {"interrupted", {found.inserts.interrupted, found.queries.interrupted}},
                                {"already_present", found.inserts.already_present},
                                {"members_asked", found.queries.stored_keys},
                                {"members_denied", found.queries.denied + found.denied_at_the_end},
                                {"absent_asked", found.queries.absent},
                                {"false_positives", found.queries.false_positives},
                                {"growths", found.growths_counted},
                                {"size_bytes", found.stats.local_bytes},
                                {"most_bytes", found.inserts.most_bytes},
                                {"most_bits_per_key", found.inserts.most_bits_per_key},
                                {"peak_rss_bytes_without_remote", found.peak_bytes}};
    nlohmann::ordered_json& rows = made["each_growth"] = nlohmann::ordered_json::array();
    for (const growth& each : found.growths) {
        rows.push_back({{"keys_at_begin", each.keys_at_begin},
                        {"inserts", each.inserts},
                        {"ended", each.ended},
                        {"ms", static_cast<double>(ns_of(each.end - each.begin)) * 1e-6},
                        {"first_insert_ns", each.first_own_ns},
                        {"last_insert_ns", each.last_own_ns},
                        {"longest_insert_ns", each.longest_own_ns},
                        {"longest_query_ns", each.longest_query_ns}});
    }
    return made;
}

}  // namespace
}  // namespace genista::bench

int main(int argument_count, char** arguments) {
    using namespace genista::bench;
    using genista::tool::add_count;
    request asked;
    CLI::App app{"how long inserts and queries wait while a broom filter grows", "growth_bench"};
    add_count(app, "--from", asked.from, {1'000, 1'000'000'000}, "keys that the filter is made for");
    add_count(app, "--to", asked.to, {1'000, 1'000'000'000}, "keys that it gets; R takes 24 bytes for each");
    genista::tool::add_rate(app, "--rate", asked.rate, "false positive rate asked for");
    add_count(app, "--idle-seconds", asked.idle_seconds, {0, 3'600}, "how long to watch the machine's own stalls");
    add_count(app, "--seed", asked.seed, {}, "of the keys and of chance");
    return run_program(app, argument_count, arguments, [&] {
        check_broom_rate(asked.rate);
        if (asked.from > asked.to) {
            throw CLI::ValidationError{"--from", fmt::format("{} is more than --to {}", asked.from, asked.to)};
        }
        figures found;
        measure(asked, found);
        return findings{text_of(asked, found), json_of(asked, found), faults_of(asked, found)};
    });
}
