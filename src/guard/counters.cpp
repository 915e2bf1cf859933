// guard_counters: sums over shards, and the metrics for Prometheus. See counters.hpp.
#include "genista/guard/counters.hpp"

#include <new>

namespace genista {
namespace {

unsigned number_of_this_thread() noexcept {
    static std::atomic<unsigned> next{0};
    thread_local const unsigned mine = next.fetch_add(1, std::memory_order_relaxed);
    return mine;
}

}  // namespace

live_guard_counters::shard& live_guard_counters::mine() noexcept {
    return shards_[number_of_this_thread() % shards];
}

std::uint64_t live_guard_counters::sum(event what) const noexcept {
    std::uint64_t all = 0;
    for (const shard& each : shards_) all += each.of[what].load(std::memory_order_relaxed);
    return all;
}

bool live_guard_counters::wasted_before(const digest& d) noexcept {
    const auto print = static_cast<std::uint32_t>(d.seed) | 1u;  // 0 is an empty entry
    return wasted_[scale(d.position, remembered)].exchange(print, std::memory_order_relaxed) == print;
}

guard_counters live_guard_counters::counters() const noexcept {
    guard_counters now;
    now.queries = sum(query), now.local_negatives = sum(local_negative);
    now.reads = sum(read), now.wasted_reads = sum(wasted_read);
    now.repeated_wasted_reads = sum(repeated_wasted_read), now.failed_reads = sum(failed_read);
    now.puts = sum(put), now.erases = sum(erase);
    now.adapts = sum(adapt), now.adapts_dropped = sum(adapt_dropped), now.failed_adapts = sum(failed_adapt);
    now.late_inserts = sum(late_insert);
    now.let_through_in_flight = sum(let_through_in_flight), now.let_through_pending = sum(let_through_pending);
    now.foreign_writes = sum(foreign_write), now.orphan_records = sum(orphan_record);
    return now;
}

result<void> add_metrics(metrics_page& page, const guard_counters& c, const live_guard_counters& times,
                         const metric_labels& labels) try {
    if (const auto begun = page.begin_store(labels); !begun) return begun;
    page.counter("genista_guard_queries_total", "Keys asked for.", c.queries);
    page.counter("genista_guard_local_negatives_total", "Queries answered absent without the store.",
                 c.local_negatives);
    page.counter("genista_guard_reads_total", "Point reads of the store.", c.reads);
    page.counter("genista_guard_wasted_reads_total", "Reads that found nothing.", c.wasted_reads);
    page.counter("genista_guard_repeated_wasted_reads_total",
                 "Wasted reads for a key that wasted one before, as far as remembered.", c.repeated_wasted_reads);
    page.counter("genista_guard_failed_reads_total", "Reads that the store answered with an error.", c.failed_reads);
    page.counter("genista_guard_puts_total", "Keys put.", c.puts);
    page.counter("genista_guard_erases_total", "Keys erased.", c.erases);
    page.counter("genista_guard_adapts_total", "False positives from which the filter learnt.", c.adapts);
    page.counter("genista_guard_adapts_dropped_total",
                 "Repairs skipped because the queue was full or the caller's deadline had passed.", c.adapts_dropped);
    page.counter("genista_guard_failed_adapts_total", "Repairs that failed with the store.", c.failed_adapts);
    page.counter("genista_guard_renewals_total", "Bins of the filter rehashed with a new salt.", c.filter.renewals);
    page.counter("genista_guard_remote_reads_total", "Range reads by the filter.", c.filter.remote_reads);
    page.counter("genista_guard_late_inserts_total", "Keys that the filter could not take at once.", c.late_inserts);
    page.counter("genista_guard_let_through_in_flight_total",
                 "Queries that only a put of the same key under way sent to the store.", c.let_through_in_flight);
    page.counter("genista_guard_let_through_pending_total",
                 "Queries that only a range waiting for repair sent to the store.", c.let_through_pending);
    page.counter("genista_guard_foreign_writes_total", "Times that writes past the guard were found.",
                 c.foreign_writes);
    page.counter("genista_guard_orphan_records_total", "Records removed because the store had lost their keys.",
                 c.orphan_records);
    page.gauge("genista_guard_keys", "Keys in the filter.", c.filter.keys);
    page.gauge("genista_guard_local_bytes", "Memory of the guard: filter, ranges, counters.", c.local_bytes);
    page.gauge("genista_guard_ranges_pending_repair", "Ranges answered maybe until they are repaired, of 4096.",
               c.ranges_pending_repair);
    page.histogram("genista_guard_sampled_query_seconds",
                   "Time of a query, sampled: one in 64 of each thread, batches not among them; the count is that of "
                   "the samples.",
                   times.query_times);
    page.histogram("genista_guard_read_seconds",
                   "Time of a call that read the store, every one; a batch of keys is one call.", times.read_times);
    return {};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "metrics: no memory for a page");
}

result<std::string> metrics_text(const guard_counters& counters, const live_guard_counters& times,
                                 const metric_labels& labels) try {
    metrics_page page;
    if (const auto added = add_metrics(page, counters, times, labels); !added) return added.error();
    return page.text();
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "metrics: no memory for a page");
}

}  // namespace genista
