// Sums over shards, and the text for Prometheus. See counters.hpp.
#include "genista/guard/counters.hpp"

#include <cinttypes>
#include <cstdio>

namespace genista {
namespace {

unsigned number_of_this_thread() noexcept {
    static std::atomic<unsigned> next{0};
    thread_local const unsigned mine = next.fetch_add(1, std::memory_order_relaxed);
    return mine;
}

class exposition {
  public:
    explicit exposition(std::string_view labels) : labels_{labels} {}

    void describe(const char* name, const char* kind, const char* help) {
        text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
        text_.append("# TYPE ").append(name).append(" ").append(kind).append("\n");
    }
    void sample(std::string_view name, std::uint64_t value, std::string_view extra = {}) {
        char digits[24];
        std::snprintf(digits, sizeof digits, "%" PRIu64, value);
        line(name, extra, digits);
    }
    void seconds(std::string_view name, double value) {
        char digits[40];
        std::snprintf(digits, sizeof digits, "%.9g", value);
        line(name, {}, digits);
    }
    void counter(const char* name, const char* help, std::uint64_t value) {
        describe(name, "counter", help);
        sample(name, value);
    }
    void gauge(const char* name, const char* help, std::uint64_t value) {
        describe(name, "gauge", help);
        sample(name, value);
    }
    // Buckets at powers of four of nanoseconds, about 1 µs to 17 s; the format wants them cumulative.
    void histogram(const char* name, const char* help, const latency_histogram& times) {
        describe(name, "histogram", help);
        const std::string bucket = std::string{name} + "_bucket";
        for (unsigned octave = 10; octave <= 34; octave += 2) {
            char end[48];
            std::snprintf(end, sizeof end, "le=\"%.9g\"", static_cast<double>(std::uint64_t{1} << octave) * 1e-9);
            sample(bucket, times.count_below_octave(octave), end);
        }
        const std::uint64_t all = times.count();
        sample(bucket, all, "le=\"+Inf\"");
        seconds(std::string{name} + "_sum", static_cast<double>(times.total_nanoseconds()) * 1e-9);
        sample(std::string{name} + "_count", all);
    }

    [[nodiscard]] std::string take() && { return std::move(text_); }

  private:
    void line(std::string_view name, std::string_view extra, std::string_view value) {
        text_.append(name);
        if (!labels_.empty() || !extra.empty()) {
            text_.append("{").append(labels_);
            if (!labels_.empty() && !extra.empty()) text_.append(",");
            text_.append(extra).append("}");
        }
        text_.append(" ").append(value).append("\n");
    }

    std::string_view labels_;
    std::string text_;
};

}  // namespace

guard_tally::shard& guard_tally::mine() noexcept {
    return shards_[number_of_this_thread() % shards];
}

std::uint64_t guard_tally::sum(event what) const noexcept {
    std::uint64_t all = 0;
    for (const shard& each : shards_) all += each.of[what].load(std::memory_order_relaxed);
    return all;
}

bool guard_tally::wasted_before(const digest& d) noexcept {
    const auto print = static_cast<std::uint32_t>(d.seed) | 1u;  // 0 is an empty entry
    return wasted_[scale(d.position, remembered)].exchange(print, std::memory_order_relaxed) == print;
}

guard_counters guard_tally::counters() const noexcept {
    guard_counters now;
    now.queries = sum(query), now.local_negatives = sum(local_negative);
    now.reads = sum(read), now.wasted_reads = sum(wasted_read);
    now.repeated_wasted_reads = sum(repeated_wasted_read), now.failed_reads = sum(failed_read);
    now.puts = sum(put), now.erases = sum(erase);
    now.adapts = sum(adapt), now.adapts_dropped = sum(adapt_dropped), now.failed_adapts = sum(failed_adapt);
    now.late_inserts = sum(late_insert);
    now.let_through_in_flight = sum(let_through_in_flight), now.let_through_pending = sum(let_through_pending);
    return now;
}

std::string metrics_text(const guard_counters& c, const guard_tally& times, std::string_view labels) {
    exposition text{labels};
    text.counter("genista_guard_queries_total", "Keys asked for.", c.queries);
    text.counter("genista_guard_local_negatives_total", "Queries answered absent without the store.",
                 c.local_negatives);
    text.counter("genista_guard_reads_total", "Point reads of the store.", c.reads);
    text.counter("genista_guard_wasted_reads_total", "Reads that found nothing.", c.wasted_reads);
    text.counter("genista_guard_repeated_wasted_reads_total",
                 "Wasted reads for a key that wasted one before, as far as remembered.", c.repeated_wasted_reads);
    text.counter("genista_guard_failed_reads_total", "Reads that the store answered with an error.", c.failed_reads);
    text.counter("genista_guard_puts_total", "Keys put.", c.puts);
    text.counter("genista_guard_erases_total", "Keys erased.", c.erases);
    text.counter("genista_guard_adapts_total", "Mistakes of the filter repaired.", c.adapts);
    text.counter("genista_guard_adapts_dropped_total", "Repairs skipped because the queue was full or the caller's deadline had passed.", c.adapts_dropped);
    text.counter("genista_guard_failed_adapts_total", "Repairs that failed with the store.", c.failed_adapts);
    text.counter("genista_guard_renewals_total", "Bins of the filter laid anew.", c.filter.renewals);
    text.counter("genista_guard_remote_reads_total", "Range reads by the filter.", c.filter.remote_reads);
    text.counter("genista_guard_late_inserts_total", "Keys that the filter could not take at once.", c.late_inserts);
    text.counter("genista_guard_let_through_in_flight_total",
                 "Queries that only a put of the same key under way sent to the store.", c.let_through_in_flight);
    text.counter("genista_guard_let_through_pending_total",
                 "Queries that only a range waiting for repair sent to the store.", c.let_through_pending);
    text.gauge("genista_guard_keys", "Keys in the filter.", c.filter.keys);
    text.gauge("genista_guard_local_bytes", "Memory of the guard: filter, doors, counters.", c.local_bytes);
    text.gauge("genista_guard_jammed_doors", "Ranges answered maybe until they are repaired, of 4096.", c.jammed_doors);
    text.histogram("genista_guard_query_seconds", "Time of a query, of one in 64.", times.query_times);
    text.histogram("genista_guard_read_seconds", "Time of a point read of the store.", times.read_times);
    return std::move(text).take();
}

}  // namespace genista
