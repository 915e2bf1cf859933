// broom-overflow for the structure of the paper: the primary level rarely runs over, the second
// part never fills [broom18 Lemmas 17-19].
//
// The share of the keys that lie in the second level (small design) or in the backyard (large
// design), times log² n: the lemmas say that it is O(1). It must stay below `most_overflow_share`
// for every n, in filters just built and after 3 n replacements, which move gaps. "Never fills" is
// checked as such: no key is refused and the filter is never rebuilt, as it is when neither part
// has room within its window.
//
// Controls: the primary level as a bare array with linear probing up to the same window, filled
// directly. With random quotients it agrees with the filter; with a hash that keeps runs of 16 keys
// together, and without the slack α, it must fail.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "genista/hash/key.hpp"
#include "lab/experiments/broom_paper.hpp"
#include "lab/workloads/paper_workload.hpp"

namespace genista::lab {
namespace {

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

}  // namespace

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
        " n/log² n keys in the second level or the backyard, for every n, also after 3 n replacements; it never "
        "fills";
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

}  // namespace genista::lab
