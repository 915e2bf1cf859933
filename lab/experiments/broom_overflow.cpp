// broom-overflow: the first level runs over rarely and the second never fills [broom18 Lemmas
// 17-19].
//
// In our layout the first level is a bin of 48 slots in two halves of 32, the second its backyard
// of 64 entries. Positions are random, so a bin gets Poisson many keys, each in either half: the
// share of the keys that do not fit is one number, the same for every n (*fork*: the paper's lemmas
// let it vanish; a constant 3 % is what one cache line a bin costs). Each size must agree with that
// number within five standard deviations, no backyard may reach 64, no insert may be refused, and
// churn, which leaves tombstones behind, must not fill a backyard either. Control: a hash that
// keeps runs of 16 keys together. It is far from Poisson, and must fail the same measurement.
//
// In the paper's structure the second part is the second level (small design) or the backyard
// (large design). The share of the keys in it, times log² n: the lemmas say that it is O(1). It
// must stay below `most_overflow_share` for every n, in filters just built and after 3 n
// replacements, which move gaps. "Never fills" is checked as such: no key is refused and the filter
// is never rebuilt, as it is when neither part has room within its window. Controls: the primary
// level as a bare array with linear probing up to the same window, filled directly. With random
// quotients it agrees with the filter; with a hash that keeps runs of 16 keys together, and without
// the slack α, it must fail.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "genista/hash/key.hpp"
#include "lab/experiment.hpp"
#include "lab/experiments/two_brooms.hpp"

namespace genista::lab {
namespace {

constexpr unsigned slots_of_a_half = 32;
constexpr unsigned entries_of_a_backyard = 64;
constexpr double allowed_deviations = 5;  // a false alarm once in 1.7 million rows

// Keys of one bin that do not fit, over two independent Poisson halves of mean/2 keys each.
struct overflow_law {
    double mean = 0;        // of keys outside
    double deviation = 0;   // standard deviation
    double plain_tail = 0;  // mean, if halves did not matter
};

overflow_law poisson_overflow(double keys_per_bin) {
    constexpr unsigned most = 200;
    std::vector<double> chance(most);
    for (unsigned k = 0; k < most; ++k)
        chance[k] = std::exp(k * std::log(keys_per_bin / 2) - keys_per_bin / 2 - std::lgamma(k + 1.0));
    overflow_law law;
    double squares = 0;
    for (unsigned a = 0; a < most; ++a) {
        for (unsigned b = 0; b < most; ++b) {
            const unsigned placed =
                std::min(slots_of_a_bin, std::min(a, slots_of_a_half) + std::min(b, slots_of_a_half));
            const double outside = a + b - placed;
            const double both = chance[a] * chance[b];
            law.mean += both * outside;
            squares += both * outside * outside;
            law.plain_tail += both * (a + b > slots_of_a_bin ? a + b - slots_of_a_bin : 0);
        }
    }
    law.deviation = std::sqrt(squares - law.mean * law.mean);
    return law;
}

struct bin_overflow_seen {
    std::uint64_t keys = 0, bins = 0, outside = 0, fullest = 0, refused = 0;
    void add(const broom_filter& filter) {
        const broom_details now = filter.details();
        keys += filter.stats().keys;
        bins += now.bins;
        outside += now.backyard_keys;
        fullest = std::max(fullest, now.fullest_backyard);
    }
    [[nodiscard]] double keys_per_bin() const { return static_cast<double>(keys) / static_cast<double>(bins); }
    [[nodiscard]] double share() const { return static_cast<double>(outside) / static_cast<double>(keys); }
    [[nodiscard]] double deviations() const {
        const overflow_law law = poisson_overflow(keys_per_bin());
        const auto count = static_cast<double>(bins);
        return (static_cast<double>(outside) - law.mean * count) / (law.deviation * std::sqrt(count));
    }
    [[nodiscard]] bool kept() const {
        return std::abs(deviations()) <= allowed_deviations && fullest < entries_of_a_backyard && refused == 0;
    }
    [[nodiscard]] nlohmann::json row(const char* what) const {
        const overflow_law law = poisson_overflow(keys_per_bin());
        return {{"what", what},
                {"keys", keys},
                {"bins", bins},
                {"keys_per_bin", keys_per_bin()},
                {"share_outside", share()},
                {"share_predicted", law.mean / keys_per_bin()},
                {"share_predicted_without_halves", law.plain_tail / keys_per_bin()},
                {"deviations", deviations()},
                {"fullest_backyard", fullest},
                {"inserts_refused", refused}};
    }
};

// Keys inserted one by one until the filter is at its capacity; some may not fit at all.
std::uint64_t fill_one_by_one(our_workload& w, std::uint64_t count) {
    std::uint64_t refused = 0;
    for (std::uint64_t key = 0; key < count; ++key) {
        (void)must(w.store().put(w.filter().hash()(key), integer_key{key}.view()));
        refused += must(w.filter().insert(key, w.store())) == insert_outcome::full ? 1u : 0u;
    }
    return refused;
}

// Runs of 16 consecutive keys lie side by side.
digest clumped(const void* context, key_view key) noexcept {
    const auto& inner = *static_cast<const hasher*>(context);
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < key.size; ++i) number |= std::to_integer<std::uint64_t>(key.data[i]) << (8 * i);
    return digest{inner(number / 16).position, inner(number).seed};
}

outcome measure_overflow(const run_options& options) {
    outcome out;
    bool kept = true;
    double least = 1, most = 0;
    std::uint64_t fullest = 0;
    const std::uint64_t largest = options.quick ? 1'000'000 : 10'000'000;
    for (std::uint64_t n = 10'000; n <= largest; n *= 10) {
        bin_overflow_seen seen;
        const std::uint64_t filters = std::max<std::uint64_t>(1, 1'000'000 / n);
        for (std::uint64_t i = 0; i < filters; ++i) {
            our_workload w{seeded<broom_options>(n, 0x1p-8, options.seed + i)};
            w.load(0, n);
            seen.add(w.filter());
        }
        out.series.push_back(seen.row("built at once"));
        out.series.back()["keys_of_a_filter"] = n;
        out.series.back()["filters"] = filters;
        kept = kept && seen.kept();
        least = std::min(least, seen.share());
        most = std::max(most, seen.share());
        fullest = std::max(fullest, seen.fullest);
        options.progress(0.5 * std::log10(static_cast<double>(n) / 1000) /
                         std::log10(static_cast<double>(largest) / 1000));
    }

    const std::uint64_t n = options.quick ? 100'000 : 1'000'000;
    our_workload w{seeded<broom_options>(n, 0x1p-8, options.seed)};
    bin_overflow_seen single;
    single.refused = fill_one_by_one(w, n);
    single.add(w.filter());
    out.series.push_back(single.row("inserted one by one"));
    kept = kept && single.kept();
    options.progress(0.7);

    // Tombstones take room: no law to agree with, but no backyard may fill.
    for (std::uint64_t i = 0; i < 3 * n; ++i) {
        w.erase(i);
        w.insert(n + i);
        if (i % 65536 == 0) options.progress(0.7 + 0.2 * static_cast<double>(i) / static_cast<double>(3 * n));
    }
    bin_overflow_seen churned;
    churned.add(w.filter());
    out.series.push_back(churned.row("after 3 n replacements"));
    kept = kept && churned.fullest < entries_of_a_backyard;
    fullest = std::max({fullest, single.fullest, churned.fullest});

    const hasher inner{hash_key::from_seed(options.seed)};
    auto bad = seeded<broom_options>(n, 0x1p-8, options.seed);
    bad.hash = hasher::custom(clumped, &inner);
    our_workload clumps{bad};
    bin_overflow_seen control;
    control.refused = fill_one_by_one(clumps, n);
    control.add(clumps.filter());
    out.series.push_back(control.row("control: runs of 16 keys lie together"));
    const bool control_failed = !control.kept();

    const double predicted = [&] {
        const overflow_law law = poisson_overflow(single.keys_per_bin());
        return law.mean / single.keys_per_bin();
    }();
    out.promised = "the share of keys outside their bin is the Poisson tail (" + shown(100 * predicted, 3) +
                   " % at capacity) for every n; no backyard reaches " + std::to_string(entries_of_a_backyard) +
                   " entries";
    out.measured = shown(100 * least, 3) + " to " + shown(100 * most, 3) + " % over n = 10^4 to " +
                   (options.quick ? "10^6" : "10^7") + ", fullest backyard " + std::to_string(fullest) +
                   "; after 3 n replacements " + shown(100 * churned.share(), 3) + " %, fullest " +
                   std::to_string(churned.fullest);
    out.control = {{"what", "a hash that keeps runs of 16 keys together"},
                   {"share_outside", control.share()},
                   {"deviations", control.deviations()},
                   {"fullest_backyard", control.fullest},
                   {"inserts_refused", control.refused},
                   {"failed_as_it_must", control_failed}};
    out.kept = kept && control_failed;
    out.parameters = {{"rate", 0x1p-8},
                      {"slots", slots_of_a_bin},
                      {"slots_of_a_half", slots_of_a_half},
                      {"allowed_deviations", allowed_deviations},
                      {"churn_keys", n},
                      {"replacements", 3 * n}};
    return out;
}

constexpr double most_overflow_share = 3;  // of 1/log² n: twice for overflow, once for partial collisions

struct paper_overflow_seen {
    std::uint64_t keys = 0, outside = 0, slots = 0, afresh = 0;
    [[nodiscard]] double share() const { return static_cast<double>(outside) / static_cast<double>(keys); }
    // In units of 1/log² n.
    [[nodiscard]] double scaled() const {
        const double log = std::log2(static_cast<double>(keys));
        return share() * log * log;
    }
    [[nodiscard]] bool kept() const { return scaled() <= most_overflow_share && afresh == 0; }
    [[nodiscard]] nlohmann::json row(const char* what, const char* design) const {
        return {
            {"what", what},
            {"design", design},
            {"keys", keys},
            {"share_outside", share()},
            {"times_log_squared", scaled()},
            {"second_part_slots", slots},
            {"second_part_load", static_cast<double>(outside) / static_cast<double>(std::max<std::uint64_t>(slots, 1))},
            {"started_afresh", afresh},
            {"kept", kept()}};
    }
};

paper_overflow_seen look_at_overflow(const paper_workload& w, std::uint64_t rebuilds_before) {
    const broom_paper_details parts = w.filter().details();
    return {w.filter().stats().keys, parts.overflow_keys, parts.overflow_slots, parts.rebuilds - rebuilds_before};
}

// Linear probing up to a window in a bare array of slots. The gaps do not depend on which key lies
// where, so this overflows exactly as the primary level does.
template <class Quotient>
paper_overflow_seen probe_bare(std::uint64_t keys, std::uint64_t slots, unsigned window, Quotient quotient) {
    std::vector<bool> taken(slots + window + 1);
    paper_overflow_seen seen{.keys = keys};
    for (std::uint64_t key = 0; key < keys; ++key) {
        const std::uint64_t first = quotient(key);
        std::uint64_t at = first;
        while (at <= first + window && taken[at]) ++at;
        if (at <= first + window) {
            taken[at] = true;
        } else {
            ++seen.outside;
        }
    }
    return seen;
}

outcome measure_paper_overflow(const run_options& options) {
    outcome out;
    bool kept = true;
    double most_fresh = 0, most_churned = 0, done = 0;
    const std::uint64_t largest = options.quick ? 1'000'000 : 10'000'000;
    const std::uint64_t largest_churned = options.quick ? 100'000 : 1'000'000;
    broom_paper_details shape;
    for (const double rate : {paper_small_rate, paper_large_rate}) {
        const char* const design = rate == paper_small_rate ? "small" : "large";
        for (std::uint64_t n = 10'000; n <= largest; n *= 10) {
            paper_workload w{seeded_paper(n, rate, options.seed)};
            w.put(0, n);
            must(w.filter().rebuild(w.remote()));
            const paper_overflow_seen fresh = look_at_overflow(w, 1);  // one is the first build
            out.series.push_back(fresh.row("built at once", design));
            kept = kept && fresh.kept();
            most_fresh = std::max(most_fresh, fresh.scaled());
            shape = w.filter().details();
            options.progress(done += 0.1);
            if (n > largest_churned) continue;
            for (std::uint64_t i = 0; i < 3 * n; ++i) {
                w.erase(i);
                w.insert(n + i);
            }
            const paper_overflow_seen churned = look_at_overflow(w, 1);
            out.series.push_back(churned.row("after 3 n replacements", design));
            kept = kept && churned.kept();
            most_churned = std::max(most_churned, churned.scaled());
            if (!w.sound()) throw workload_error{"the filter fails its audit after the replacements"};
        }
    }
    const hasher hash{hash_key::from_seed(options.seed)};
    const auto spread = [&](std::uint64_t among) {
        return [&hash, among](std::uint64_t key) { return scale(hash(key).position, among); };
    };
    const auto clumps = [&](std::uint64_t key) { return scale(hash(key / 16).position, shape.bins); };
    const paper_overflow_seen bare = probe_bare(largest, shape.bins, shape.window, spread(shape.bins));
    const paper_overflow_seen clumped = probe_bare(largest, shape.bins, shape.window, clumps);
    const paper_overflow_seen tight = probe_bare(largest, largest, shape.window, spread(largest));
    const bool controls_failed = !clumped.kept() && !tight.kept() && bare.kept();
    out.series.push_back(bare.row("a bare array, random quotients", "primary level"));
    out.series.push_back(clumped.row("control: runs of 16 keys lie together", "primary level"));
    out.series.push_back(tight.row("control: no slack", "primary level"));

    out.promised =
        "at most " + shown(most_overflow_share) +
        " n/log² n keys in the second level or the backyard, for every n, also after 3 n replacements; it never fills";
    out.measured = "at most " + shown(most_fresh, 3) + " n/log² n in filters just built, n = 10^4 to " +
                   (options.quick ? "10^6" : "10^7") + ", and " + shown(most_churned, 3) +
                   " n/log² n after 3 n replacements; " + (kept ? "no key refused, never rebuilt" : "NOT kept");
    out.control = {{"what", "a hash that keeps runs of 16 keys together; a primary level without slack"},
                   {"clumped_times_log_squared", clumped.scaled()},
                   {"without_slack_times_log_squared", tight.scaled()},
                   {"random_times_log_squared", bare.scaled()},
                   {"failed_as_they_must", controls_failed}};
    out.kept = kept && controls_failed;
    out.parameters = {{"filter", broom_paper_filter::name},
                      {"rates", {paper_small_rate, paper_large_rate}},
                      {"largest", largest},
                      {"largest_with_replacements", largest_churned},
                      {"most_share_of_n_over_log_squared", most_overflow_share}};
    return out;
}

const registration broom_overflow_experiment("broom-overflow", 109,
                                             "The first level rarely overflows, and the second never fills up.",
                                             "broom18 Lemmas 17–19", either<measure_overflow, measure_paper_overflow>,
                                             {.quick_seconds = 2, .full_minutes = 2},
                                             {.filters = {"broom", "broom_paper"}});

}  // namespace
}  // namespace genista::lab
