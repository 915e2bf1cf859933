// genista bench: all named filters in one process, measured in interleaved rounds. The engine is in bench/.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/floor.hpp"
#include "bench/machine.hpp"
#include "bench/rates.hpp"
#include "bench/report.hpp"
#include "bench/rounds.hpp"
#include "command.hpp"
#include "filters.hpp"
#include "json_target.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace genista::tool {
namespace {

struct request {
    bench::plan what;
    std::vector<const filter_entry*> filters;
    std::string json;
};

using subjects = std::vector<std::unique_ptr<bench::subject>>;

constexpr const char* footer =
    R"(keys are distinct pseudo-random 64-bit integers drawn from the seed; so is the hash key.
insert_ns: a new filter filled from empty to N keys by one thread. negative_ns, positive_ns: one call a key over
independent keys; *_batch_ns: calls of 4096 keys. erase_ns: stored keys, put back outside the clock. null or -: the
filter lacks the operation. With T threads each has its own slice of the look-ups, and ns are wall time a look-up of
one thread (T/ns look-ups a nanosecond in all); inserts and erases stay on one thread: these filters take one writer.
fpr_interval: Clopper-Pearson, 99.9 %. floor: one random cache line a look-up in an array as large as the smallest
filter. Exit status 1 if a filter loses a key or refuses one below capacity, or batches answer unlike single calls.
Example:
  genista bench --filters bloom,blocked_bloom --keys 1e6 --error-rate 1/256 --json bench.json)";

std::vector<const filter_entry*> named_filters(const std::vector<std::string>& names) {
    std::vector<const filter_entry*> chosen;
    for (const std::string& name : names) {
        const filter_entry* found = find_filter(name);
        if (found == nullptr) {
            throw CLI::ValidationError{"--filters",
                                       fmt::format("'{}' is no filter; there are {}", name, filter_names())};
        }
        chosen.push_back(found);
    }
    return chosen;
}

hash_kind named_hash(const std::string& name) {
    if (name == "keyed") return hash_kind::keyed;
    if (name == "trusted") return hash_kind::trusted;
    throw CLI::ValidationError{"--hash", fmt::format("'{}' is no hash; there are keyed and trusted", name)};
}

result<subjects> make_subjects(const request& asked, const hasher& hash) {
    subjects made;
    std::uint64_t total_bytes = 2 * sizeof(std::uint64_t) * asked.what.lookups() * asked.what.threads;
    const filter_options options{
        .capacity = asked.what.keys, .false_positive_rate = asked.what.error_rate, .hash = hash};
    for (const filter_entry* entry : asked.filters) {
        auto one = entry->make_subject(options);
        if (!one && one.error().code() == error_code::out_of_memory) {
            return error::make(error_code::out_of_memory, "--keys %llu is too much for this machine: %s %s",
                               static_cast<unsigned long long>(asked.what.keys), entry->name.data(),
                               std::string{one.error().message()}.c_str());
        }
        if (!one) return one.error();
        total_bytes += (*one)->stats().local_bytes;
        made.push_back(std::move(*one));
    }
    // Untouched pages cost nothing yet; filling more than there is would end in the kernel's hands, without a message.
    if (const std::uint64_t there = bench::physical_memory_bytes(); there != 0 && total_bytes > there) {
        return error::make(error_code::out_of_memory, "--keys %llu needs %llu bytes for these filters; there are %llu",
                           static_cast<unsigned long long>(asked.what.keys),
                           static_cast<unsigned long long>(total_bytes), static_cast<unsigned long long>(there));
    }
    return made;
}

std::optional<std::string> first_fault(const std::vector<bench::figures>& filters) {
    for (const bench::figures& each : filters) {
        if (auto fault = each.fault()) return fault;
    }
    return std::nullopt;
}

// Build, rates, rounds, and every stored key once more after the last erase. Stops at the first fault, which the caller
// finds in the figures.
result<void> measure(const subjects& under_test, const hasher& hash, bench::report& run) {
    const bench::key_source keys{run.what.seed};
    progress bar{"bench"};
    std::uint64_t ticks = 0;
    const double all_ticks = static_cast<double>(bench::rounds::ticks_each(run.what) * under_test.size());
    bench::rounds timing{run.what, keys, under_test, [&](std::string_view what) {
                             bar.update(static_cast<double>(++ticks) / all_ticks, std::string{what});
                         }};
    if (result<void> built = timing.build_all(0, run.filters); !built) return built;
    for (std::size_t s = 0; s < under_test.size(); ++s) {
        bench::figures& into = run.filters[s];
        into.stats = under_test[s]->stats();
        bench::count_lost_keys(*under_test[s], keys, run.what.keys, into);
        bench::measure_rate(*under_test[s], keys, run.what.rate_queries(), into);
        if (s == 0 || into.stats.local_bytes < run.floor.size_bytes) run.floor.size_bytes = into.stats.local_bytes;
    }
    if (first_fault(run.filters)) return {};
    const auto floor = bench::make_floor(run.floor.size_bytes, hash);
    if (!floor) return floor.error();
    if (result<void> timed = timing.run(**floor, run.filters, run.floor); !timed) return timed;
    for (std::size_t s = 0; s < under_test.size(); ++s) {
        bench::count_lost_keys(*under_test[s], keys, run.what.keys, run.filters[s]);
    }
    return {};
}

exit_status run_bench(const request& asked) {
    const hasher hash{hash_key::from_seed(asked.what.seed), asked.what.hash};
    const result<subjects> under_test = make_subjects(asked, hash);
    if (!under_test) return complain(status_of(under_test.error().code()), under_test.error().message());

    bench::report run{.what = asked.what, .filters = {}, .floor = {}, .machine = bench::this_machine()};
    for (const auto& each : *under_test) run.filters.emplace_back().name = each->name();
    if (const result<void> measured = measure(*under_test, hash, run); !measured) {
        return complain(status_of(measured.error().code()), measured.error().message());
    }
    if (const auto fault = first_fault(run.filters)) return complain(exit_status::failed, *fault);

    if (!owns_stdout(asked.json)) fmt::print("{}", bench::to_text(run));
    if (asked.json.empty()) return exit_status::ok;
    const result<void> written = write_json(asked.json, bench::to_json(run));
    return written ? exit_status::ok : complain(exit_status::failed, written.error().message());
}

void add_filters_option(CLI::App& app, const std::shared_ptr<request>& asked) {
    for (const filter_entry& each : all_filters()) asked->filters.push_back(&each);
    app.add_option_function<std::vector<std::string>>(
           "--filters", [asked](const std::vector<std::string>& names) { asked->filters = named_filters(names); },
           "filters to compare, separated by commas: " + filter_names())
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("A,B")
        ->default_str("all");
}

}  // namespace

command add_bench_command(CLI::App& root) {
    const auto asked = std::make_shared<request>();
    bench::plan& what = asked->what;
    CLI::App& app = *root.add_subcommand("bench", "measure filters: rates, bits and times, in one interleaved run");
    app.footer(footer);
    add_filters_option(app, asked);
    add_count(app, "--keys", what.keys, {1, max_capacity},
              fmt::format("keys to store; counts are written as {}", count_syntax));
    add_rate(app, "--error-rate", what.error_rate, fmt::format("false positive rate in (0, 1/2], as {}", rate_syntax));
    add_count(app, "--threads", what.threads, {1, 256}, "threads that look up at once");
    add_count(app, "--rounds", what.rounds, {1, 1000}, "timed rounds of each operation");
    app.add_option_function<std::string>(
           "--hash", [asked](const std::string& name) { asked->what.hash = named_hash(name); },
           "keyed: AES, safe against chosen keys; trusted: XXH3")
        ->type_name("keyed|trusted")
        ->default_str("keyed");
    add_count(app, "--seed", what.seed, {}, "where keys and hash key come from");
    add_count(app, "--lookups", what.lookups_asked, {1, std::uint64_t{1} << 28}, "look-ups a thread and round")
        ->default_str("as many as keys, within 2^20 .. 2^22");
    add_count(app, "--rate-queries", what.rate_queries_asked, {1, bench::key_source::stretch},
              "absent keys asked for fpr")
        ->default_str("10^4/E, at most 10^8");
    add_json_target(app, asked->json);
    return {&app, [asked] { return run_bench(*asked); }};
}

}  // namespace genista::tool
