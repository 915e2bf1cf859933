// broom-remote: the broom filter's calls of R [broom18 Thm 6], counted one by one.
//
//     a negative                  no range read
//     a repaired false positive   exactly one; asking it again none, while it stays repaired
//     an erase                    exactly one
//     an insert of a new key      at most one, with probability at most ε (the rule for rates)
//     a key inserted again over its tombstone exactly one: it meets it
//
// First a freshly built filter, then 3 n replacements (an erase and an insert of a new key), after
// which all is counted again, together with the share of look-ups that leave the line: the cost of
// churn. The filter does not grow meanwhile.
//
// Controls: a Bloom filter pays one read for a known false positive at every query; inserts into a
// filter of 2^-8 judged by 2^-10 must fail.
#include <algorithm>
#include <array>
#include <vector>

#include "genista/filters/bloom.hpp"
#include "genista/filters/broom.hpp"
#include "lab/experiment.hpp"
#include "lab/experiments/broom_paper.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/our_workload.hpp"

namespace genista::lab {
namespace {

constexpr double remote_rate = 0x1p-8;
constexpr double remote_control_rate = 0x1p-10;

// How often an operation cost 0, 1 or more range reads.
struct range_read_counts {
    std::uint64_t none = 0, one = 0, more = 0;
    void add(std::uint64_t reads) { ++(reads == 0 ? none : reads == 1 ? one : more); }
    [[nodiscard]] std::uint64_t all() const { return none + one + more; }
    [[nodiscard]] double share() const { return static_cast<double>(one + more) / static_cast<double>(all()); }
    [[nodiscard]] bool always_none() const { return one + more == 0; }
    [[nodiscard]] bool always_one() const { return none + more == 0; }
    [[nodiscard]] nlohmann::json json() const { return {{"none", none}, {"one", one}, {"more", more}}; }
};

struct remote_counters {
    range_read_counts negatives, adapts, asked_again, erases, absent_keys_erased, new_inserts, over_tombstone,
        renewed_again;
    line_use lines;

    [[nodiscard]] bool inserts_within(double judged_as) const {
        return new_inserts.more == 0 && new_inserts.one <= most_plausible_hits(new_inserts.all(), judged_as);
    }
    [[nodiscard]] bool kept() const {
        return negatives.always_none() && adapts.always_one() && erases.always_one() && absent_keys_erased.more == 0 &&
               inserts_within(remote_rate) && over_tombstone.always_one() && renewed_again.more == 0;
    }
    [[nodiscard]] nlohmann::json row(const char* when) const {
        return {{"when", when},
                {"negatives", negatives.json()},
                {"adapts", adapts.json()},
                {"known_false_positives_asked_again", asked_again.json()},
                {"erases", erases.json()},
                {"erases_of_absent_keys", absent_keys_erased.json()},
                {"inserts_of_new_keys", new_inserts.json()},
                {"insert_read_share", new_inserts.share()},
                {"inserts_over_tombstones", over_tombstone.json()},
                {"inserts_after_an_erase_that_renewed", renewed_again.json()},
                {"negatives_leaving_the_line", lines.leaving_share()},
                {"lines_per_negative", lines.mean_lines()}};
    }
};

class remote_run {
  public:
    remote_run(const run_options& options, std::uint64_t n)
        : n_{n}, w_{seeded<broom_options>(n, remote_rate, options.seed)}, next_{n} {}

    remote_counters queries_and_adapts(remote_counters into, std::uint64_t queries) {
        std::vector<std::uint64_t> found;
        for (std::uint64_t key = w_.fresh_absent_keys(queries), end = key + queries; key < end; ++key) {
            const std::uint64_t before = w_.reads();
            if (w_.query_absent_key(key)) {
                found.push_back(key);
                into.adapts.add(w_.reads() - before);
            } else {
                into.negatives.add(w_.reads() - before);
            }
        }
        for (int again = 0; again < 10; ++again) {
            for (const std::uint64_t key : found) {
                const std::uint64_t before = w_.reads();
                (void)w_.query_absent_key(key);
                into.asked_again.add(w_.reads() - before);
            }
        }
        into.lines = trace_absent_keys(w_.filter(), w_.fresh_absent_keys(queries), queries);
        return into;
    }
    // Erases the oldest key, inserts a new one.
    void replace(remote_counters& into) {
        into.erases.add(w_.erase(oldest_++));
        into.new_inserts.add(w_.insert(next_++));
    }
    // A key is erased and inserted again. It left a tombstone if its erase did not renew the bin.
    void bring_back(remote_counters& into) {
        const std::uint64_t key = oldest_ + key_of_chance_++ * 7919 % (next_ - oldest_);
        const std::uint64_t renewals = w_.filter().stats().renewals;
        into.erases.add(w_.erase(key));
        const bool left = w_.filter().stats().renewals == renewals;
        (left ? into.over_tombstone : into.renewed_again).add(w_.insert(key));
        into.absent_keys_erased.add(w_.erase(first_absent_key + key));
    }
    void load() { w_.load(0, n_); }
    [[nodiscard]] our_workload& work() { return w_; }

  private:
    std::uint64_t n_;
    our_workload w_;
    std::uint64_t oldest_ = 0, next_, key_of_chance_ = 1;
};

// A Bloom filter of the same rate behind the same guard: reads for a known false positive that is
// asked ten times more.
range_read_counts bloom_asked_again(const run_options& options, std::uint64_t n, std::uint64_t queries) {
    bloom_filter bloom = must(bloom_filter::make(
        {.capacity = n, .false_positive_rate = remote_rate, .hash = hasher{hash_key::from_seed(options.seed)}}));
    for (std::uint64_t key = 0; key < n; ++key) (void)bloom.insert(key);
    range_read_counts seen;
    scan(bloom, first_absent_key, queries, [&](std::uint64_t key) {
        for (int again = 0; again < 10; ++again) seen.add(bloom.may_contain(key) ? 1 : 0);
        return true;
    });
    return seen;
}

outcome measure_remote(const run_options& options) {
    const std::uint64_t n = options.quick ? 100'000 : 1'000'000;
    const std::uint64_t queries = options.quick ? 500'000 : 4'000'000;
    const std::uint64_t returns = options.quick ? 20'000 : 200'000;
    remote_run run{options, n};
    run.load();
    remote_counters fresh = run.queries_and_adapts({}, queries);
    for (std::uint64_t i = 0; i < n / 10; ++i) run.replace(fresh);
    options.progress(0.2);

    remote_counters churn;
    for (std::uint64_t i = 0; i < 3 * n; ++i) {
        run.replace(churn);
        if (i % 65536 == 0) options.progress(0.2 + 0.6 * static_cast<double>(i) / static_cast<double>(3 * n));
    }
    churn = run.queries_and_adapts(churn, queries);
    const broom_details parts = run.work().filter().details();
    const double bits_per_key = run.work().bits_per_key();
    for (std::uint64_t i = 0; i < returns; ++i) run.bring_back(churn);
    if (!run.work().sound()) throw workload_error{"the filter fails its audit after the churn"};
    options.progress(0.95);

    const range_read_counts bloom = bloom_asked_again(options, n, queries);
    const bool controls_failed = bloom.share() == 1 && !churn.inserts_within(remote_control_rate);

    outcome out;
    out.promised =
        "range reads of R: none on a negative, one for a repaired false positive and for an erase, and for at most ε "
        "of the "
        "inserts of new keys; a key inserted again over its tombstone costs one";
    out.measured = std::string{fresh.kept() && churn.kept() ? "exactly so" : "NOT so"} + "; " +
                   shown(100 * churn.new_inserts.share(), 3) + " % of " + std::to_string(churn.new_inserts.all()) +
                   " inserts during 3 n replacements read R (ε = " + shown(100 * remote_rate, 3) +
                   " %); negatives leaving the line: " + shown(100 * fresh.lines.leaving_share(), 3) + " % before, " +
                   shown(100 * churn.lines.leaving_share(), 3) + " % after; a repaired one asked again reads R with " +
                   shown(100 * churn.asked_again.share(), 2) + " %";
    out.control = {{"what", "a Bloom filter asked again for known false positives; inserts at 2^-8 judged by 2^-10"},
                   {"bloom_asked_again", bloom.json()},
                   {"insert_reads", churn.new_inserts.one},
                   {"allowed_at_2^-10", most_plausible_hits(churn.new_inserts.all(), remote_control_rate)},
                   {"failed_as_they_must", controls_failed}};
    out.kept = fresh.kept() && churn.kept() && controls_failed;
    out.parameters = {{"keys", n},
                      {"rate", remote_rate},
                      {"queries", queries},
                      {"replacements", 3 * n},
                      {"keys_brought_back", returns},
                      {"grows", false},
                      {"history", "tombstone"}};
    out.series = {fresh.row("built at once, n/10 replacements"), churn.row("3 n replacements")};
    out.series.back()["tombstones"] = parts.tombstones;
    out.series.back()["backyard_keys"] = parts.backyard_keys;
    out.series.back()["fullest_backyard"] = parts.fullest_backyard;
    out.series.back()["bits_per_key"] = bits_per_key;
    return out;
}

const registration broom_remote_experiment{{
    .id = "broom-remote",
    .order = 105,
    .promise = "An answer \"absent\" needs no access to the remote; a false positive or an erase needs a constant "
               "number of them, and an insert rarely any.",
    .where = "broom18 Thm 6",
    .measure = either<measure_remote, measure_paper_remote>,
    .filters = {"broom", "broom_paper"},
    .takes = {.quick_seconds = 1.7, .full_minutes = 1},
}};

}  // namespace
}  // namespace genista::lab
