// Figures of a guarded store: guard_counters, what the guard saw and did; live_guard_counters, the
// same while it happens, from many threads; and metrics_page, the text format that Prometheus
// scrapes (version 0.0.4), for one or several stores.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/detail/guard/latency_histogram.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

// Names: a letter or _ first, then letters, digits and _; not two _ first, which are Prometheus's
// own. Values: UTF-8 without NUL; anything else is escaped where the format needs it.
struct metric_label {
    std::string name;
    std::string value;
};
using metric_labels = std::vector<metric_label>;

//     genista::metrics_page page;
//     users->add_metrics(page, {{"store", "users"}});
//     orders->add_metrics(page, {{"store", "orders"}});
//     answer(page.text());
//
// The format wants all samples of a name in one piece behind one `# HELP` and one `# TYPE`. So the
// page keeps samples by name, and writes them when text() is asked for. Every page begins with
// genista_build_info.
//
//   I1  Every text() is valid: labels are checked when they are given, and their values escaped.
//       (After an add_metrics that had no memory some samples of its store may be missing: throw
//       the page away.)
//   I2  No two samples have the same name and labels, as long as add_metrics is called once for a
//       set of labels: a second call is refused.
//
// Threads: one at a time.
class metrics_page {
  public:
    // The samples that follow are of a store with these labels; `le` and `origin` are genista's
    // own. Nothing is added if labels are refused, or the page has a store with the same ones
    // already: the error names the label.
    [[nodiscard]] result<void> begin_store(const metric_labels& labels);

    // Names and helps are literals; a name keeps the help of its first use.
    void counter(const char* name, const char* help, std::uint64_t value);
    void gauge(const char* name, const char* help, std::uint64_t value);
    void gauge(const char* name, const char* help, double value);
    // One sample for each state, with the label `label`: 1 for the present one, 0 for the others.
    void state(const char* name, const char* help, const char* label, std::initializer_list<std::string_view> all,
               std::string_view now);
    void histogram(const char* name, const char* help, const latency_histogram& times);

    [[nodiscard]] std::string text() const;

  private:
    struct family {
        const char* name;
        const char* kind;
        const char* help;
        std::string samples;
    };
    family& family_of(const char* name, const char* kind, const char* help);
    void sample(family& of, std::string_view suffix, std::string_view extra, std::string_view value);

    std::vector<family> families_;     // in the order of their first use
    std::vector<std::string> stores_;  // labels, sorted by name and written out, of each begin_store()
    std::string labels_;               // of the present store, as they go into braces
};

struct guard_counters {
    std::uint64_t queries = 0;
    std::uint64_t local_negatives = 0;  // answered without the store
    std::uint64_t reads = 0;            // point reads of the store
    std::uint64_t wasted_reads = 0;     // those that found nothing
    std::uint64_t repeated_wasted_reads =
        0;  // for a key that wasted a read before, among the last few thousand (a lower bound)
    std::uint64_t failed_reads = 0;
    std::uint64_t puts = 0;
    std::uint64_t erases = 0;
    std::uint64_t adapts = 0;          // mistakes repaired
    std::uint64_t adapts_dropped = 0;  // no room in the queue, or no time: the next mistake on that key tries again
    std::uint64_t failed_adapts = 0;   // the store failed meanwhile: the mistake is still there
    std::uint64_t let_through_in_flight = 0;  // queries the filter would have denied: their keys were in flight
    std::uint64_t let_through_pending = 0;    // the same: their ranges needed repair
    std::uint64_t late_inserts = 0;           // keys the filter could not take at once: their ranges needed repair
    std::uint64_t foreign_writes = 0;         // times that writes were found which had not gone through the guard
    std::uint64_t orphan_records = 0;         // records of R removed because the store had lost their keys
    std::uint64_t ranges_pending_repair = 0;  // now: ranges that need repair, or are under repair
    std::uint64_t local_bytes = 0;            // filter, ranges, counters and queues
    filter_stats filter{};                    // of the filter alone
};

class live_guard_counters {
  public:
    enum event : unsigned {
        query,
        local_negative,
        read,
        wasted_read,
        repeated_wasted_read,
        failed_read,
        put,
        erase,
        adapt,
        adapt_dropped,
        failed_adapt,
        late_insert,
        let_through_in_flight,
        let_through_pending,
        foreign_write,
        orphan_record,
        number_of_events
    };

    void count(event what, std::uint64_t times = 1) noexcept {
        mine().of[what].fetch_add(times, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t sum(event what) const noexcept;

    // True for one query in 64 of a thread: timing each would cost more than answering it.
    [[nodiscard]] static bool is_timed() noexcept {
        thread_local unsigned turn = 0;
        return turn++ % 64 == 0;
    }
    latency_histogram query_times;  // of the timed queries, batches not among them
    latency_histogram read_times;   // of every call that reads the store; a batch is one

    // Remembers the key, and says whether it was there already. A table of fingerprints: the newest
    // of those that share an entry stays, so a repetition may be missed, and one in 2^32 absent
    // keys is taken for one.
    bool wasted_before(const digest& d) noexcept;

    [[nodiscard]] guard_counters counters() const noexcept;
    [[nodiscard]] static constexpr std::size_t size_bytes() noexcept { return sizeof(live_guard_counters); }

  private:
    static constexpr unsigned shards = 8;
    static constexpr unsigned remembered = 4096;
    struct alignas(128) shard {
        std::array<std::atomic<std::uint64_t>, number_of_events> of{};
    };
    shard& mine() noexcept;

    std::array<shard, shards> shards_{};
    std::array<std::atomic<std::uint32_t>, remembered> wasted_{};
};

// In the text format that Prometheus scrapes, on a page that may hold other stores. Sampled
// histograms are named so: their _count is the number of samples. An error is one of the labels, or
// no memory.
[[nodiscard]] result<void> add_metrics(metrics_page& page, const guard_counters& counters,
                                       const live_guard_counters& times, const metric_labels& labels);
// A page of one guard.
[[nodiscard]] result<std::string> metrics_text(const guard_counters& counters, const live_guard_counters& times,
                                               const metric_labels& labels = {});

}  // namespace genista
