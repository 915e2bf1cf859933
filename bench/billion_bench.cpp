// billion_bench: a broom filter of a billion keys on a machine that could not hold R beside it:
// built, queried, adapted.
//
//     build/release/bin/billion_bench --keys 1e9 --threads 2
//
// The keys are the integers 0 … n - 1, and R computes them slice by slice (computed_map.hpp), so
// that the build is the one a store would see: one sequential read of R for each thread. R's time
// is reported separately. Then the promises:
//
//     I1      random stored keys, one by one and in batches, and every stored key of some slices:
//             each is answered "maybe"
//     I2      false positives among integers from n on, by the rule for rates (docs/papers.md)
//     adapt   the filter adapts to some of those false positives, and they are gone; the stored
//             keys beside them are still answered "maybe"
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/clock.hpp"
#include "bench/figures.hpp"
#include "bench/filter_subject.hpp"
#include "bench/keys.hpp"
#include "computed_map.hpp"
#include "genista/filters/broom.hpp"
#include "lab/experiment.hpp"
#include "lab/statistics/binomial.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "program.hpp"
#include "progress.hpp"
#include "table.hpp"

namespace genista::bench {
namespace {

using lab::must;
using tool::grouped;
using tool::progress;
using tool::bench::operation;
using tool::bench::samples;

struct request {
    std::uint64_t keys = 1'000'000'000;
    std::uint64_t threads = 2;
    double rate = 0x1p-8;
    std::uint64_t slices = 128;
    std::uint64_t queries = 0;  // 0: as many as the rule for rates requires
    std::uint64_t samples = 10'000'000;
    std::uint64_t audited_slices = 4;
    std::uint64_t adapts = 10;
    std::uint64_t lookups = 1 << 20;
    std::uint64_t rounds = 9;
    std::uint64_t seed = 1;

    [[nodiscard]] std::uint64_t rate_queries() const { return queries != 0 ? queries : lab::trials_for(rate); }
};

struct figures {
    double build_seconds = 0;
    double remote_seconds = 0;  // sum over all threads
    std::uint64_t slices_computed = 0;
    std::uint64_t remote_bytes = 0;
    std::uint64_t peak_bytes = 0;
    filter_stats stats{};
    double rate_kept = 0;  // the rate that the filter promises
    std::uint64_t lost_single = 0, lost_batch = 0;
    std::uint64_t audited_keys = 0, lost_audited = 0;
    std::uint64_t false_positives = 0;
    std::uint64_t adapted = 0, still_positive = 0;
    std::vector<std::uint64_t> teams;                                     // numbers of threads
    std::vector<std::array<samples, tool::bench::lookups.size()>> times;  // for each team
};

// The time of a build without R's part, in thread-nanoseconds a key. Threads that wait for the last
// one count as working.
double own_ns_per_key(const request& asked, const figures& of) {
    const double all = of.build_seconds * static_cast<double>(asked.threads);
    return (all - of.remote_seconds) * 1e9 / static_cast<double>(asked.keys);
}

broom_filter build(const request& asked, const hasher& hash, computed_map& remote, figures& into) {
    const broom_options options{.capacity = asked.keys,
                                .false_positive_rate = asked.rate,
                                .hash = hash,
                                .key_is_new = true,
                                .random = repeatable(asked.seed)};
    const auto begin = std::chrono::steady_clock::now();
    broom_filter made = must(broom_filter::build(options, remote, static_cast<unsigned>(asked.threads)));
    into.build_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    into.remote_seconds = remote.seconds_computing();
    into.slices_computed = remote.slices_computed();
    into.remote_bytes = remote.bytes();
    into.peak_bytes = peak_resident_bytes();
    into.stats = made.stats();
    into.rate_kept = made.rate();
    return made;
}

// Absent keys are n + queries and beyond: none of them is queried for the rate.
void time_lookups(const request& asked, const broom_filter& filter, progress& bar, figures& into) {
    const tool::bench::key_source chance{asked.seed};
    const std::size_t count = static_cast<std::size_t>(asked.lookups / asked.threads * asked.threads);
    std::vector<std::uint64_t> absent(count), present(count);
    std::iota(absent.begin(), absent.end(), asked.keys + asked.rate_queries());
    for (std::size_t i = 0; i < count; ++i) present[i] = chance.chance(0, i, asked.keys);
    into.teams = asked.threads == 1 ? std::vector<std::uint64_t>{1} : std::vector<std::uint64_t>{1, asked.threads};
    into.times.resize(into.teams.size());
    const tool::bench::reader_of<const broom_filter&> reader{filter};
    for (std::uint64_t round = 0; round < asked.rounds; ++round) {
        bar.update(static_cast<double>(round) / static_cast<double>(asked.rounds), "timing look-ups");
        for (std::size_t team = 0; team < into.teams.size(); ++team) {
            for (std::size_t what = 0; what < tool::bench::lookups.size(); ++what) {
                const operation each = tool::bench::lookups[what];
                const auto loop = tool::bench::in_batches(each) ? &tool::bench::reader::count_batch
                                                                : &tool::bench::reader::count_each;
                const auto& keys = tool::bench::of_stored_keys(each) ? present : absent;
                const auto timed = tool::bench::time_lookups(reader, loop, keys, into.teams[team]);
                into.times[team][what].add(timed.ns);
                if (tool::bench::of_stored_keys(each)) into.lost_single += count - timed.positives;
            }
        }
    }
}

void ask_random_stored(const request& asked, const broom_filter& filter, progress& bar, figures& into) {
    const tool::bench::key_source chance{asked.seed};
    std::vector<std::uint64_t> stored(tool::bench::batch_size);
    for (std::uint64_t first = 0; first < asked.samples; first += stored.size()) {
        stored.resize(static_cast<std::size_t>(std::min<std::uint64_t>(stored.size(), asked.samples - first)));
        for (std::size_t i = 0; i < stored.size(); ++i) stored[i] = chance.chance(1, first + i, asked.keys);
        into.lost_single += stored.size() - tool::bench::count_each_in(filter, stored);
        into.lost_batch += stored.size() - tool::bench::count_batch_in(filter, stored);
        bar.update(static_cast<double>(first) / static_cast<double>(asked.samples), "asking for stored keys");
    }
}

std::vector<std::uint64_t> false_positives(const request& asked, const broom_filter& filter) {
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 0; i < asked.rate_queries(); ++i) {
        if (filter.may_contain(asked.keys + i)) found.push_back(asked.keys + i);
    }
    return found;
}

// False positives in the slice `from` come first: one pass of R serves them all.
void adapt_to(const request& asked, broom_filter& filter, computed_map& remote, std::vector<std::uint64_t> positives,
              std::uint64_t from, figures& into) {
    std::stable_partition(positives.begin(), positives.end(),
                          [&](std::uint64_t key) { return remote.slice_at(filter.hash()(key).position) == from; });
    positives.resize(std::min<std::size_t>(positives.size(), asked.adapts));
    for (const std::uint64_t key : positives) {
        into.adapted += must(filter.adapt(key, remote)) != adapt_outcome::true_positive ? 1u : 0u;
        into.still_positive += filter.may_contain(key) ? 1u : 0u;
    }
}

void audit_slice(const broom_filter& filter, computed_map& remote, std::uint64_t number, figures& into) {
    const position_range all = remote.range_of_slice(number);
    must(remote.for_each(all.first, all.last, [&](const digest&, key_view key) {
        ++into.audited_keys;
        into.lost_audited += filter.may_contain(key) ? 0u : 1u;
        return true;
    }));
}

figures measure(const request& asked) {
    figures into;
    progress bar{"building"};
    const hasher hash{hash_key::from_seed(asked.seed)};
    computed_map remote{hash,
                        {.keys = asked.keys,
                         .slices = asked.slices,
                         .seats = static_cast<unsigned>(asked.threads),
                         .on_slice = [&](std::uint64_t made) {
                             bar.update(static_cast<double>(made) / static_cast<double>(asked.slices));
                         }}};
    broom_filter filter = build(asked, hash, remote, into);
    time_lookups(asked, filter, bar, into);
    ask_random_stored(asked, filter, bar, into);
    bar.update(0, "asking for absent keys");
    const std::vector<std::uint64_t> positives = false_positives(asked, filter);
    into.false_positives = positives.size();
    std::set<std::uint64_t> audited;
    for (std::uint64_t i = 0; i < asked.audited_slices; ++i) audited.insert(i * asked.slices / asked.audited_slices);
    bar.update(0, "teaching");
    adapt_to(asked, filter, remote, positives, audited.empty() ? 0 : *audited.begin(), into);
    for (const std::uint64_t number : audited) {
        bar.update(static_cast<double>(number) / static_cast<double>(asked.slices),
                   "asking for all stored keys of a slice");
        audit_slice(filter, remote, number, into);
    }
    return into;
}

std::vector<std::string> faults_of(const request& asked, const figures& found) {
    std::vector<std::string> faults;
    if (found.stats.keys != asked.keys)
        faults.push_back(fmt::format("the filter counts {} keys of {}", found.stats.keys, asked.keys));
    if (const auto lost = found.lost_single + found.lost_batch + found.lost_audited; lost != 0)
        faults.push_back(fmt::format("{} times a stored key was answered absent", lost));
    if (const auto most = lab::most_plausible_hits(asked.rate_queries(), asked.rate); found.false_positives > most)
        faults.push_back(fmt::format("{} false positives in {} queries, at most {} are plausible at a rate of {:.4g}",
                                     found.false_positives, asked.rate_queries(), most, asked.rate));
    if (found.still_positive != 0)
        faults.push_back(fmt::format("{} false positives are still there after adapting", found.still_positive));
    return faults;
}

double bits_per_key(const figures& found) {
    return static_cast<double>(found.stats.local_bytes) * 8 / static_cast<double>(found.stats.keys);
}

std::string text_of(const request& asked, const figures& found) {
    const auto interval = lab::exact_interval(found.false_positives, asked.rate_queries());
    const double queries = static_cast<double>(asked.rate_queries());
    const bool enough = asked.rate_queries() >= lab::trials_for(asked.rate);
    const auto mib = [](std::uint64_t bytes) {
        return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 1048576);
    };
    std::string text = lines_text(
        {{"keys", grouped(asked.keys), fmt::format("in {} slices, {} threads", asked.slices, asked.threads)},
         {"build", fmt::format("{:.2f} s", found.build_seconds)},
         {"build: computing R", fmt::format("{:.2f} s", found.remote_seconds),
          fmt::format("of all threads together, {} slices", found.slices_computed)},
         {"build: the filter's part", fmt::format("{:.1f} ns a key", own_ns_per_key(asked, found)),
          "thread-nanoseconds"},
         {"filter", mib(found.stats.local_bytes), fmt::format("{:.3f} bits a key", bits_per_key(found))},
         {"peak RSS of the build", mib(found.peak_bytes),
          fmt::format("slices of R at its end: {}", mib(found.remote_bytes))},
         {"rate", fmt::format("{:.5g}", static_cast<double>(found.false_positives) / queries),
          fmt::format("{} of {}; 99.9 %: {:.5g} .. {:.5g}; asked {:.5g}, promised {:.5g}; at most {} plausible{}",
                      found.false_positives, asked.rate_queries(), interval.low, interval.high, asked.rate,
                      found.rate_kept, lab::most_plausible_hits(asked.rate_queries(), asked.rate),
                      enough ? "" : "; too few for the rule for rates")},
         {"stored keys denied", grouped(found.lost_single + found.lost_batch + found.lost_audited),
          fmt::format("of {} random ones asked singly and in batches, and all {} of {} slices", asked.samples,
                      found.audited_keys, std::min(asked.audited_slices, asked.slices))},
         {"adapted", grouped(found.adapted), fmt::format("{} of them positive again", found.still_positive)}});
    text += "\n";
    std::vector<tool::table::column> columns{{"ns a look-up, medians"}};
    for (const operation what : tool::bench::lookups)
        columns.push_back({std::string{tool::bench::name_of(what)}, tool::align::right});
    tool::table page{columns};
    for (std::size_t team = 0; team < found.teams.size(); ++team) {
        std::vector<std::string> cells{
            fmt::format("{} thread{}", found.teams[team], found.teams[team] == 1 ? "" : "s")};
        for (const samples& each : found.times[team]) cells.push_back(fmt::format("{:.1f}", each.median().value_or(0)));
        page.add_row(cells);
    }
    return text + page.text();
}

nlohmann::ordered_json json_of(const request& asked, const figures& found) {
    const auto interval = lab::exact_interval(found.false_positives, asked.rate_queries());
    nlohmann::ordered_json made{
        {"program", "billion_bench"},
        {"machine", to_json(tool::this_machine())},
        {"keys", asked.keys},
        {"threads", asked.threads},
        {"slices", asked.slices},
        {"seed", asked.seed},
        {"error_rate", asked.rate},
        {"build_seconds", found.build_seconds},
        {"remote_thread_seconds", found.remote_seconds},
        {"slices_computed", found.slices_computed},
        {"own_thread_ns_per_key", own_ns_per_key(asked, found)},
        {"size_bytes", found.stats.local_bytes},
        {"bits_per_key", bits_per_key(found)},
        {"peak_rss_bytes", found.peak_bytes},
        {"remote_bytes", found.remote_bytes},
        {"rate_queries", asked.rate_queries()},
        {"false_positives", found.false_positives},
        {"fpr", static_cast<double>(found.false_positives) / static_cast<double>(asked.rate_queries())},
        {"fpr_interval", {interval.low, interval.high}},
        {"most_plausible_hits", lab::most_plausible_hits(asked.rate_queries(), asked.rate)},
        {"sampled_members", asked.samples},
        {"audited_members", found.audited_keys},
        {"denied_single", found.lost_single},
        {"denied_batch", found.lost_batch},
        {"denied_audited", found.lost_audited},
        {"adapted", found.adapted},
        {"still_positive", found.still_positive}};
    for (std::size_t team = 0; team < found.teams.size(); ++team) {
        nlohmann::ordered_json one{{"threads", found.teams[team]}};
        for (std::size_t what = 0; what < tool::bench::lookups.size(); ++what)
            one[fmt::format("{}_ns_median", tool::bench::name_of(tool::bench::lookups[what]))] =
                found.times[team][what].median().value_or(0);
        made["lookups"].push_back(one);
    }
    return made;
}

}  // namespace
}  // namespace genista::bench

int main(int argument_count, char** arguments) {
    using namespace genista::bench;
    using genista::tool::add_count;
    request asked;
    CLI::App app{"a broom filter of very many keys, built from an R that is computed and not stored", "billion_bench"};
    add_count(app, "--keys", asked.keys, {1'000, 10'000'000'000}, "keys: the integers from 0 on");
    add_count(app, "--threads", asked.threads, {1, 64}, "threads that build, and ask beside a single one");
    genista::tool::add_rate(app, "--rate", asked.rate, "false positive rate asked for");
    add_count(app, "--slices", asked.slices, {1, 1'000'000}, "passes over the keys; more of them take less memory");
    add_count(app, "--queries", asked.queries, {0, 100'000'000'000},
              "absent keys asked for the rate; 0 is 10^4 / rate, as the rule for rates wants");
    add_count(app, "--samples", asked.samples, {0, 10'000'000'000},
              "random stored keys asked for, singly and in batches");
    add_count(app, "--audited-slices", asked.audited_slices, {0, 1'000'000},
              "slices of which every stored key is asked for");
    add_count(app, "--adapts", asked.adapts, {0, 1'000'000}, "false positives to adapt and to ask again");
    add_count(app, "--lookups", asked.lookups, {64, 100'000'000}, "keys in a timed loop");
    add_count(app, "--rounds", asked.rounds, {1, 1'000}, "times are the median of so many");
    add_count(app, "--seed", asked.seed, {}, "of the hash key and of chance");
    return run_program(app, argument_count, arguments, [&] {
        check_broom_rate(asked.rate);
        const figures found = measure(asked);
        return findings{text_of(asked, found), json_of(asked, found), faults_of(asked, found)};
    });
}
