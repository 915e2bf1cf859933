// genista bench: all named filters in one process, measured in interleaved rounds. The engine is in
// bench/.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/compare.hpp"
#include "bench/keys.hpp"
#include "bench/measure.hpp"
#include "bench/report.hpp"
#include "commands.hpp"
#include "filters.hpp"
#include "json_target.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace genista::tool {
namespace {

struct bench_request {
    bench::plan what;
    std::vector<std::uint64_t> sizes;  // none: what.keys alone
    std::vector<const filter_entry*> filters;
    std::string json;
    std::string old_path;  // of --compare
    std::optional<bench::recorded_run> old_run;

    [[nodiscard]] std::vector<bench::plan> plans() const {
        std::vector<bench::plan> made;
        for (const std::uint64_t keys : sizes.empty() ? std::vector{what.keys} : sizes) {
            made.push_back(what);
            made.back().keys = keys;
        }
        return made;
    }
};

constexpr const char* bench_footer =
    R"(Keys are distinct pseudo-random 64-bit integers drawn from the seed; so is the hash key.
Operations: insert_ns: a new filter filled from empty to N keys by one thread. negative_ns, positive_ns: one call a key over
independent keys; *_batch_ns: calls of 4096 keys. erase_ns: stored keys, inserted again outside the clock. adapt_ns: repairs of
false positives, successful or not. null or -: the filter lacks the operation. Time spent in a remote map (a sorted array in
RAM; for the cuckoo family but cuckoo_partial an array of slots too) is subtracted.
--threads: with T threads each has its own slice of the look-ups, and ns are wall time a look-up of one thread (T/ns
look-ups a nanosecond in all); *_speedup is the throughput over that of the first T of the list, by medians. Inserts,
erases and adapts by themselves use one thread.
--mix L/U: mix_ns: an operation of the slowest thread: L % look-ups, half of them of present keys, and U % updates, in turns
inserts of a new key and erases of a key that the same thread inserted earlier (2^14 inserts before, if there are enough
keys). Only for filters that erase, with several threads only for those that take several writers, and from 4 keys a thread
on.
--churn X: for each filter that erases a second one, NAME+churn, is filled the same way, and then X*N times one of its keys,
drawn at random, is replaced by a new one. It takes part in all look-ups. range_reads_per_update, slot_reads_per_update: what
the replacements cost a filter beside a remote map. Takes 24*(1+X) + 8 bytes a key while it runs.
--compare: medians of this run over those of an older one, where size, filter, threads and operation agree, and the same
after each was divided by the floor of its own run.
cleary50, cleary80, cleary90, cleary97: cleary (95) with so many of 100 cells taken; measured when named.
daisy_bloom, daisy_bloom_blocked, daisy_fingerprint: measured when named, with four groups of keys (stored .60 .30 .09 .01,
queried .01 .09 .30 .60), tuned to the rate over these queries; the classes are known beforehand, and oracle_ns is what an
exact oracle takes a key.
adaptive_bloom, whitelist: measured when named; they learn and do not erase. An adapt of adaptive_bloom and of cascade
includes the renewal of all keys that is due after N look-ups.
fpr_interval: Clopper-Pearson, 99.9 %. floor: one random cache line a look-up in an array as large as the smallest filter.
Exit status: 0 done, 1 a filter lost a key, refused one below capacity, or answered a batch unlike single calls, 2 bad input.
Example:
  genista bench --filters bloom,blocked_bloom --keys 1e6 --error-rate 1/256 --json bench.json
  genista bench --filters broom,cuckoo_partial --sizes 1e6,1e8 --threads 1,2 --mix 90/10 --churn 1 --compare bench.json)";

hash_kind named_hash(const std::string& name) {
    if (name == "keyed") return hash_kind::keyed;
    if (name == "trusted") return hash_kind::trusted;
    throw CLI::ValidationError{"--hash", fmt::format("'{}' is not a hash; the hashes are keyed and trusted", name)};
}

// "1,2,4", each within the range and none twice.
std::vector<std::uint64_t> count_list(const std::string& option, const std::string& text, count_range allowed) {
    std::vector<std::uint64_t> counts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const result<std::uint64_t> one = parse_count(std::string_view{text}.substr(begin, end - begin), allowed);
        if (!one) throw CLI::ValidationError{option, std::string{one.error().message()}};
        if (std::ranges::find(counts, *one) != counts.end()) {
            throw CLI::ValidationError{option, fmt::format("'{}' names {} twice; once is enough", text, *one)};
        }
        counts.push_back(*one);
        begin = end + 1;
    }
    return counts;
}

// "90/10" -> 10
std::uint64_t update_percent(const std::string& text) {
    const std::size_t slash = std::min(text.find('/'), text.size());
    const auto reads = parse_count(text.substr(0, slash), {0, 99});
    const auto updates = parse_count(slash < text.size() ? text.substr(slash + 1) : "", {1, 100});
    if (reads && updates && *reads + *updates == 100) return *updates;
    throw CLI::ValidationError{
        "--mix", fmt::format("'{}' is not a mix; write the percentage of look-ups, a slash and that of updates, from "
                             "99/1 to 0/100, 100 together",
                             text)};
}

double churn_factor(const std::string& text) {
    if (const auto factor = parse_number(text, 0, 1000)) return *factor;
    throw CLI::ValidationError{"--churn", fmt::format("'{}' is not a number from 0 to 1000", text)};
}

exit_status complain_of(const error& why) {
    return complain(status_of(why.code()), why.message());
}

// The bar counts keys and look-ups, because sizes differ by orders of magnitude.
double effort(const bench::plan& what) {
    const auto filled = static_cast<double>(what.build_rounds()) + 2 * what.churn;
    return filled * static_cast<double>(what.keys) + static_cast<double>(what.rounds * what.most_lookups() * 4);
}

result<bench::report> measure_all(const bench_request& asked, const std::vector<bench::plan>& plans) {
    bench::report run{.asked = plans.back(), .machine = this_machine()};
    progress bar{"bench"};
    double done = 0, all = 0;
    for (const bench::plan& each : plans) all += effort(each);
    for (const bench::plan& each : plans) {
        const auto tick = [&](double share, const std::string& what) {
            bar.update((done + share * effort(each)) / all,
                       fmt::format("{:g} keys: {}", static_cast<double>(each.keys), what));
        };
        auto measured = bench::measure(each, asked.filters, tick);
        if (!measured) return measured.error();
        run.sizes.push_back(*std::move(measured));
        if (bench::first_fault(run.sizes.back())) break;
        done += effort(each);
    }
    return run;
}

exit_status run_bench(const bench_request& asked) {
    if (const auto apart = check_apart({{"--compare", asked.old_path}}, {{"--json", asked.json}}); !apart)
        return complain_of(apart.error());
    const std::vector<bench::plan> plans = asked.plans();
    // A size that does not fit is refused before the others are measured.
    for (const bench::plan& each : plans) {
        if (const auto made = bench::make_contestants(each, asked.filters); !made) return complain_of(made.error());
    }
    const result<bench::report> run = measure_all(asked, plans);
    if (!run) return complain_of(run.error());
    if (const auto fault = bench::first_fault(run->sizes.back())) return complain(exit_status::failed, *fault);

    nlohmann::ordered_json document = bench::to_json(*run);
    std::string page = bench::to_text(*run);
    if (asked.old_run) {
        const result<bench::recorded_run> now = bench::read_run(document);
        if (!now) return complain_of(now.error());
        document["compared"] = bench::to_json(bench::compare(*asked.old_run, *now));
        page += bench::to_text(asked.old_path, *asked.old_run, *now);
    }
    return publish(asked.json, page, document);
}

void add_filters_option(CLI::App& app, const std::shared_ptr<bench_request>& asked) {
    for (const filter_entry& each : all_filters()) asked->filters.push_back(&each);
    const std::vector<std::string> known = filter_names();
    const auto take = [asked, known](const std::vector<std::size_t>& chosen) {
        asked->filters.clear();
        for (const std::size_t place : chosen) asked->filters.push_back(find_filter(known[place]));
    };
    add_filter_names(app, fmt::format("filters to compare, separated by commas: {}", fmt::join(known, ", ")), known,
                     take)
        ->default_str("all");
}

void add_size_options(CLI::App& app, const std::shared_ptr<bench_request>& asked) {
    constexpr count_range allowed{1, max_capacity};
    CLI::Option* keys = add_count(app, "--keys", asked->what.keys, allowed,
                                  fmt::format("keys to store; counts are written as {}", count_syntax));
    app.add_option_function<std::string>(
           "--sizes",
           [asked, allowed](const std::string& text) { asked->sizes = count_list("--sizes", text, allowed); },
           "several numbers of keys, measured one after the other, instead of --keys")
        ->type_name("N,N")
        ->excludes(keys);
}

// What a run does beyond plain look-ups and updates, and the run it is compared with.
void add_work_options(CLI::App& app, const std::shared_ptr<bench_request>& asked) {
    app.add_option_function<std::string>(
           "--mix", [asked](const std::string& text) { asked->what.mix_update_percent = update_percent(text); },
           "also time look-ups and updates in one loop, L and U of 100 operations")
        ->type_name("L/U");
    app.add_option_function<std::string>(
           "--churn", [asked](const std::string& text) { asked->what.churn = churn_factor(text); },
           "also time look-ups of filters after X replacements a key")
        ->type_name("X")
        ->default_str("0");
    const auto take_old = [asked](const std::string& path) {
        auto old = bench::load_run(path);
        if (!old) throw CLI::ValidationError{"--compare", std::string{old.error().message()}};
        asked->old_path = path;
        asked->old_run = *std::move(old);
    };
    app.add_option_function<std::string>("--compare", take_old, "report of an earlier run (--json) to compare with")
        ->type_name("OLD.json");
}

}  // namespace

command add_bench_command(CLI::App& root) {
    const auto asked = std::make_shared<bench_request>();
    bench::plan& what = asked->what;
    CLI::App& app = *root.add_subcommand("bench", "measure filters: rates, bits and times, in one interleaved run");
    app.footer(bench_footer);
    add_filters_option(app, asked);
    add_size_options(app, asked);
    add_rate(app, "--error-rate", what.error_rate, fmt::format("false positive rate in (0, 1/2], as {}", rate_syntax));
    app.add_option_function<std::string>(
           "--threads",
           [asked](const std::string& text) {
               asked->what.threads = count_list("--threads", text, {1, 256});
           },
           "threads that look up at the same time; several numbers take turns in one run")
        ->type_name("N,N")
        ->default_str("1");
    add_count(app, "--rounds", what.rounds, {1, 1000}, "timed rounds of each operation");
    app.add_option_function<std::string>(
           "--hash", [asked](const std::string& name) { asked->what.hash = named_hash(name); },
           "keyed: AES, safe against chosen keys; trusted: XXH3")
        ->type_name("keyed|trusted")
        ->default_str("keyed");
    add_count(app, "--seed", what.seed, {}, "source of the keys and of the hash key");
    add_count(app, "--lookups", what.lookups_asked, {1, std::uint64_t{1} << 28}, "look-ups of a thread in a round")
        ->default_str("as many as keys, within 2^20 .. 2^22");
    add_count(app, "--rate-queries", what.rate_queries_asked, {1, bench::key_source::stretch},
              "absent keys queried to measure fpr")
        ->default_str("10^4/E, at most 10^8");
    add_work_options(app, asked);
    add_json_target(app, asked->json);
    return {&app, [asked] { return run_bench(*asked); }};
}

}  // namespace genista::tool
