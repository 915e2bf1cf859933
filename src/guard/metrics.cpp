// Figures of a guard (metrics.hpp): labels, samples and the text of a page, whose format is
// Prometheus's "Text-based format", version 0.0.4; sums over shards and buckets.
#include "genista/guard/metrics.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <new>
#include <utility>

#include "genista/detail/guard/latency_histogram.hpp"
#include "genista/version.hpp"

namespace genista {
namespace {

bool is_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_label_name(std::string_view name) noexcept {
    if (name.empty() || !is_letter(name[0]) || name.starts_with("__")) return false;
    return std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// The bytes of the code point at the beginning of `text`; 0 if there is no valid one (surrogates,
// overlong forms and values beyond U+10FFFF are invalid): one invalid byte makes Prometheus drop
// the whole page.
std::size_t code_point_bytes(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
    }
    const unsigned second = byte(1);
    const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool surrogate = first == 0xed && second >= 0xa0, beyond = first == 0xf4 && second >= 0x90;
    return too_long || surrogate || beyond ? 0 : size;
}

bool is_label_value(std::string_view value) noexcept {
    while (!value.empty()) {
        const std::size_t size = value[0] == '\0' ? 0 : code_point_bytes(value);
        if (size == 0) return false;
        value.remove_prefix(size);
    }
    return true;
}

void append_label(std::string& to, std::string_view name, std::string_view value) {
    if (!to.empty()) to += ',';
    to.append(name).append("=\"");
    for (const char c : value) {
        if (c == '\\' || c == '"') to += '\\';
        if (c == '\n')
            to += "\\n";
        else
            to += c;
    }
    to += '"';
}

std::string digits_of(std::uint64_t value) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "%" PRIu64, value);
    return digits;
}
std::string digits_of(double value) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.9g", value);
    return digits;
}

error bad_name(const std::string& name) noexcept {
    return error::make(error_code::invalid_argument,
                       "metrics: '%s' is not a label name: a letter or _ (not two of them) first, then letters, "
                       "digits and _",
                       name.c_str());
}

}  // namespace

result<void> metrics_page::begin_store(const metric_labels& labels) try {
    metric_labels sorted = labels;
    std::sort(sorted.begin(), sorted.end(),
              [](const metric_label& a, const metric_label& b) { return a.name < b.name; });
    std::string written, identity;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const std::string& name = sorted[i].name;
        if (!is_label_name(name)) return bad_name(name);
        if (name == "le" || name == "origin")
            return error::make(error_code::invalid_argument, "metrics: the label %s is genista's own", name.c_str());
        if (i > 0 && sorted[i - 1].name == name)
            return error::make(error_code::invalid_argument, "metrics: the label %s is given twice", name.c_str());
        if (!is_label_value(sorted[i].value))
            return error::make(error_code::invalid_argument,
                               "metrics: the value of the label %s is not UTF-8 without NUL", name.c_str());
        append_label(identity, name, sorted[i].value);
    }
    if (std::find(stores_.begin(), stores_.end(), identity) != stores_.end())
        return error::make(error_code::invalid_argument,
                           "metrics: two stores have the labels {%s}; each needs a value of its own, for example of "
                           "the label store",
                           identity.c_str());
    for (const metric_label& each : labels) append_label(written, each.name, each.value);
    stores_.push_back(std::move(identity));
    labels_ = std::move(written);
    return {};
} catch (const std::bad_alloc&) {
    return error::make(error_code::out_of_memory, "metrics: no memory for labels");
}

metrics_page::family& metrics_page::family_of(const char* name, const char* kind, const char* help) {
    const auto at = std::find_if(families_.begin(), families_.end(),
                                 [&](const family& each) { return std::string_view{each.name} == name; });
    if (at != families_.end()) return *at;
    return families_.emplace_back(family{.name = name, .kind = kind, .help = help, .samples = {}});
}

void metrics_page::sample(family& of, std::string_view suffix, std::string_view extra, std::string_view value) {
    std::string line{of.name};
    line.append(suffix);
    if (!labels_.empty() || !extra.empty()) {
        line.append("{").append(labels_);
        if (!labels_.empty() && !extra.empty()) line += ',';
        line.append(extra).append("}");
    }
    of.samples += line.append(" ").append(value).append("\n");
}

void metrics_page::counter(const char* name, const char* help, std::uint64_t value) {
    sample(family_of(name, "counter", help), {}, {}, digits_of(value));
}
void metrics_page::gauge(const char* name, const char* help, std::uint64_t value) {
    sample(family_of(name, "gauge", help), {}, {}, digits_of(value));
}
void metrics_page::gauge(const char* name, const char* help, double value) {
    sample(family_of(name, "gauge", help), {}, {}, digits_of(value));
}

void metrics_page::state(const char* name, const char* help, const char* label,
                         std::initializer_list<std::string_view> all, std::string_view now) {
    family& of = family_of(name, "gauge", help);
    for (const std::string_view each : all) {
        std::string extra;
        append_label(extra, label, each);
        sample(of, {}, extra, each == now ? "1" : "0");
    }
}

// Buckets at powers of four of nanoseconds, about 1 µs to 17 s; the format requires them to be
// cumulative. They are read one after the other while other threads record, so each is at least as
// large as the one before.
void metrics_page::histogram(const char* name, const char* help, const latency_histogram& times) {
    family& of = family_of(name, "histogram", help);
    for (unsigned octave = 10; octave <= 34; octave += 2) {
        char end[48];
        std::snprintf(end, sizeof end, "le=\"%.9g\"", static_cast<double>(std::uint64_t{1} << octave) * 1e-9);
        sample(of, "_bucket", end, digits_of(times.count_below_octave(octave)));
    }
    const std::string all = digits_of(times.count());
    sample(of, "_bucket", "le=\"+Inf\"", all);
    sample(of, "_sum", {}, digits_of(static_cast<double>(times.total_nanoseconds()) * 1e-9));
    sample(of, "_count", {}, all);
}

std::string metrics_page::text() const {
    std::string page =
        "# HELP genista_build_info Version of genista and its compiler; always 1.\n"
        "# TYPE genista_build_info gauge\n"
        "genista_build_info{";
    std::string labels;
    append_label(labels, "version", library_version());
    append_label(labels, "compiler", __VERSION__);
    page.append(labels).append("} 1\n");
    for (const family& each : families_) {
        page.append("# HELP ").append(each.name).append(" ").append(each.help).append("\n");
        page.append("# TYPE ").append(each.name).append(" ").append(each.kind).append("\n");
        page.append(each.samples);
    }
    return page;
}

// ---- guard_counters and latency_histogram: sums over shards and buckets
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

// ---- latency_histogram: sums over buckets
std::uint64_t latency_histogram::count_below(unsigned bucket) const noexcept {
    std::uint64_t sum = 0;
    for (unsigned b = 0; b < bucket; ++b) sum += count_[b].load(std::memory_order_relaxed);
    return sum;
}

std::uint64_t latency_histogram::percentile(double share) const noexcept {
    const std::uint64_t all = count();
    if (all == 0) return 0;
    const double wanted = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(all));
    const auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
    std::uint64_t seen = 0;
    for (unsigned b = 0; b < buckets; ++b) {
        seen += count_[b].load(std::memory_order_relaxed);
        if (seen >= rank) return end_of(b);
    }
    return end_of(buckets - 1);
}

void latency_histogram::add(const latency_histogram& other) noexcept {
    for (unsigned b = 0; b < buckets; ++b) {
        count_[b].fetch_add(other.count_[b].load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    total_ns_.fetch_add(other.total_nanoseconds(), std::memory_order_relaxed);
}

}  // namespace genista
