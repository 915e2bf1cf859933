// Reports openings and snapshots as events and samples. See store_watch.hpp.
#include "genista/detail/stores/rocksdb/store_watch.hpp"

#include <algorithm>

namespace genista::rocks {
namespace {

int length_of(std::string_view text) noexcept {
    return static_cast<int>(text.size());
}
unsigned long long printed(std::uint64_t number) noexcept {
    return number;
}

}  // namespace

std::string_view to_string(filter_origin origin) noexcept {
    switch (origin) {
        case filter_origin::snapshot:
            return "snapshot";
        case filter_origin::rebuilt:
            return "rebuilt";
        case filter_origin::partial:
            return "partial";
    }
    return "unknown";
}

void store_watch::snapshot_refused(const char* path, const error& why) noexcept {
    refused_.fetch_add(1, std::memory_order_relaxed);
    log_.report(event_level::warning, event_kind::snapshot_refused, "the snapshot %s is not used: %.*s", path,
                length_of(why.message()), why.message().data());
}

void store_watch::opened(filter_origin origin, std::uint64_t keys, double seconds) noexcept {
    origin_.store(origin, std::memory_order_relaxed);
    opening_seconds_.store(seconds, std::memory_order_relaxed);
    const char* const from = origin == filter_origin::snapshot ? "from a snapshot"
                             : origin == filter_origin::rebuilt
                                 ? "built from the records"
                                 : "with what is built or fits so far; the rest is \"maybe\"";
    log_.report(event_level::info, event_kind::opened, "opened in %.3f s with a filter of %llu keys, %s", seconds,
                printed(keys), from);
}

void store_watch::snapshot_taken(std::uint64_t keys, double seconds) noexcept {
    taken_.fetch_add(1, std::memory_order_relaxed);
    note_snapshot(wall_clock::now());
    log_.report(event_level::info, event_kind::snapshot_taken, "snapshot of a filter of %llu keys taken in %.3f s",
                printed(keys), seconds);
}

void store_watch::snapshot_failed(const error& why, event_level level) noexcept {
    failed_.fetch_add(1, std::memory_order_relaxed);
    log_.report(level, event_kind::snapshot_failed, "no snapshot was taken: %.*s", length_of(why.message()),
                why.message().data());
}

store_counters store_watch::counters() const noexcept {
    store_counters now;
    now.snapshots = taken_.load(std::memory_order_relaxed);
    now.snapshot_failures = failed_.load(std::memory_order_relaxed);
    now.snapshots_refused = refused_.load(std::memory_order_relaxed);
    now.origin = origin_.load(std::memory_order_relaxed);
    now.opening_seconds = opening_seconds_.load(std::memory_order_relaxed);
    if (const auto last = last_snapshot_.load(std::memory_order_relaxed); last != no_snapshot) {
        const std::chrono::duration<double> age =
            wall_clock::now() - wall_clock::time_point{wall_clock::duration{last}};
        now.snapshot_age_seconds = std::max(0.0, age.count());  // the clock may have been set back
    }
    return now;
}

void store_watch::add_metrics(metrics_page& page) const {
    const store_counters now = counters();
    page.counter("genista_store_snapshots_total", "Snapshots of the filter taken.", now.snapshots);
    page.counter("genista_store_snapshot_failures_total", "Snapshots of the filter that could not be taken.",
                 now.snapshot_failures);
    page.counter("genista_store_snapshots_refused_total", "Snapshots found at opening and not used.",
                 now.snapshots_refused);
    if (now.snapshot_age_seconds) {
        page.gauge(
            "genista_store_snapshot_age_seconds",
            "Time since the newest snapshot was taken or found to hold all there is; no sample if there is none.",
            *now.snapshot_age_seconds);
    }
    page.state(
        "genista_store_opened_from", "Where the filter came from when the store was opened.", "origin",
        {to_string(filter_origin::snapshot), to_string(filter_origin::rebuilt), to_string(filter_origin::partial)},
        to_string(now.origin));
    page.gauge("genista_store_opening_seconds", "Time that the opening took.", now.opening_seconds);
}

}  // namespace genista::rocks
