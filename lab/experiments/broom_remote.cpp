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
//
// The structure of the paper, with its calls of R counted on records and index:
//
//     call             point reads   range reads                         writes of the index
//     a negative       0             0                                   0
//     false positive   1             2 + c: REVLOOKUP, the frontier,     2 c, one for a ghost
//                                    and one for the place of each key
//                                    that it moves; at most 3 + 4 c
//                                    (small design), 2 + 2 c (large)
//     erase            0             2, at most 3 (small)                at most 3
//     new key          0             none, or with probability ≤ ε as    2, and as many as a false
//                                    many as a false positive            positive
//
// The rare ones: each of the c keys that are rehashed may collide in its new place, and where two
// levels match one more read assigns the fingerprints to keys. (If the frontier makes the key a
// false positive again, with probability ε, two more.) So the *maximum* depends on c = 3 alone. It
// is checked as such for n = 10^4, 10^5 (and 10^6), in a filter just built and in one that saw 3 n
// replacements; the mean must not grow with n either.
//
// Controls: the Bloom filter; inserts judged by ε/4 must fail.
#include <algorithm>
#include <string>
#include <vector>

#include "genista/filters/bloom.hpp"
#include "lab/experiment.hpp"
#include "lab/experiments/two_brooms.hpp"
#include "lab/statistics/binomial.hpp"

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
range_read_counts bloom_asked_again(std::uint64_t n, double rate, std::uint64_t queries, std::uint64_t seed) {
    bloom_filter bloom = must(
        bloom_filter::make({.capacity = n, .false_positive_rate = rate, .hash = hasher{hash_key::from_seed(seed)}}));
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

    const range_read_counts bloom = bloom_asked_again(n, remote_rate, queries, options.seed);
    const bool controls_failed = bloom.share() == 1 && !churn.inserts_within(remote_control_rate);

    outcome out;
    out.promised =
        "range reads of R: none on a negative, one for a repaired false positive and for an erase, and for at most ε "
        "of the inserts of new keys; a key inserted again over its tombstone costs one";
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

constexpr unsigned keys_rehashed = 3;        // the paper's c
constexpr unsigned ghosts_of_one_key = 3;    // those of the last key that the frontier rehashes are removed with it
constexpr double mean_may_grow_by = 1.05;    // from one n to a larger one
constexpr std::uint64_t judged_means = 500;  // calls

struct call_cost {
    std::uint64_t point_reads = 0, range_reads = 0, index_writes = 0;
};

// The cost of one kind of call: the most, and the sum.
struct call_counts {
    std::uint64_t calls = 0, reading = 0;  // calls, those with a range read
    call_cost most{}, sum{};
    void add(const call_cost& one) {
        ++calls;
        reading += one.range_reads > 0 ? 1u : 0u;
        for (auto field : {&call_cost::point_reads, &call_cost::range_reads, &call_cost::index_writes}) {
            most.*field = std::max(most.*field, one.*field);
            sum.*field += one.*field;
        }
    }
    [[nodiscard]] bool within(const call_cost& bound) const {
        return most.point_reads <= bound.point_reads && most.range_reads <= bound.range_reads &&
               most.index_writes <= bound.index_writes;
    }
    [[nodiscard]] double mean_reads() const {
        return static_cast<double>(sum.range_reads) / static_cast<double>(std::max<std::uint64_t>(calls, 1));
    }
    [[nodiscard]] nlohmann::json json() const {
        return {{"calls", calls},
                {"with_range_reads", reading},
                {"most_point_reads", most.point_reads},
                {"most_range_reads", most.range_reads},
                {"most_index_writes", most.index_writes},
                {"mean_range_reads", mean_reads()},
                {"mean_index_writes",
                 static_cast<double>(sum.index_writes) / static_cast<double>(std::max<std::uint64_t>(calls, 1))}};
    }
};

struct call_counters {
    call_counts negatives, adapts, erases, absent_keys_erased, inserts;

    [[nodiscard]] bool inserts_within(double judged_as) const {
        return inserts.reading <= most_plausible_hits(inserts.calls, judged_as);
    }
    [[nodiscard]] bool kept(double rate, bool large) const {
        const call_cost moved{0, large ? 1 + 2 * keys_rehashed : 1 + 4 * keys_rehashed,
                              2 * keys_rehashed + ghosts_of_one_key};
        const std::uint64_t lookups = large ? 1 : 2;
        return negatives.within({}) && adapts.within({1, lookups + moved.range_reads, moved.index_writes}) &&
               erases.within({0, 1 + lookups, 3}) && absent_keys_erased.within({}) &&
               inserts.within({0, lookups + moved.range_reads, 2 + moved.index_writes}) && inserts_within(rate);
    }
    [[nodiscard]] nlohmann::json row(const char* when, std::uint64_t n, double rate, bool large) const {
        return {{"when", when},
                {"keys", n},
                {"design", large ? "large" : "small"},
                {"rate", rate},
                {"negatives", negatives.json()},
                {"false_positives", adapts.json()},
                {"erases", erases.json()},
                {"erases_of_absent_keys", absent_keys_erased.json()},
                {"inserts", inserts.json()},
                {"kept", kept(rate, large)}};
    }
};

class paper_remote_run {
  public:
    paper_remote_run(std::uint64_t n, double rate, std::uint64_t seed) : w_{seeded_paper(n, rate, seed)}, next_{n} {
        w_.load(0, n);
    }
    void ask(call_counters& into, std::uint64_t queries) {
        for (std::uint64_t key = w_.fresh_absent_keys(queries), end = key + queries; key < end; ++key) {
            bool wrong = false;
            const call_cost one = cost_of([&] { wrong = w_.query_absent_key(key); });
            (wrong ? into.adapts : into.negatives).add(one);
        }
    }
    // Erases the oldest key, inserts a new one, and tries to erase an absent key.
    void replace(call_counters& into) {
        into.erases.add(cost_of([&] { w_.erase(oldest_); }));
        into.absent_keys_erased.add(cost_of([&] { w_.erase(first_absent_key + oldest_); }));
        into.inserts.add(cost_of([&] { w_.insert(next_); }));
        ++oldest_;
        ++next_;
    }
    [[nodiscard]] paper_workload& work() { return w_; }

  private:
    template <class Call>
    call_cost cost_of(Call call) {
        const call_cost before = so_far();
        call();
        const call_cost after = so_far();
        return {after.point_reads - before.point_reads, after.range_reads - before.range_reads,
                after.index_writes - before.index_writes};
    }
    [[nodiscard]] call_cost so_far() const {
        const remote_counts index = w_.counted().index().counts(), records = w_.counted().records().counts();
        return {index.point_reads + records.point_reads, w_.reads(), index.puts + index.erases};
    }

    paper_workload w_;
    std::uint64_t oldest_ = 0, next_;
};

outcome measure_paper_remote(const run_options& options) {
    using sizes_of_run = std::vector<std::uint64_t>;
    const auto sizes = options.quick ? sizes_of_run{10'000, 100'000} : sizes_of_run{10'000, 100'000, 1'000'000};
    outcome out;
    bool kept = true, judged_by_less_fails = true;
    double most_mean = 0, done = 0;
    std::uint64_t most_reads = 0, most_writes = 0, reading = 0, inserts = 0;
    for (const double rate : {paper_small_rate, paper_large_rate}) {
        double least_mean = 100;
        for (const std::uint64_t n : sizes) {
            const auto queries = static_cast<std::uint64_t>((options.quick ? 3'000 : 30'000) / rate);
            paper_remote_run run{n, rate, options.seed};
            const bool large = run.work().filter().details().is_large;
            call_counters fresh, churned;
            run.ask(fresh, queries);
            for (std::uint64_t i = 0; i < n / 10; ++i) run.replace(fresh);
            for (std::uint64_t i = 0; i < 3 * n; ++i) run.replace(churned);
            run.ask(churned, queries);
            if (!run.work().sound()) throw workload_error{"the filter fails its audit after the churn"};
            for (const call_counters* each : {&fresh, &churned}) {
                const char* const when = each == &fresh ? "built at once, n/10 replacements" : "3 n replacements";
                out.series.push_back(each->row(when, n, rate, large));
                const double mean = each->adapts.mean_reads();
                kept = kept && each->kept(rate, large) && each->adapts.calls >= judged_means &&
                       mean <= mean_may_grow_by * std::max(least_mean, 2.0 + keys_rehashed);
                least_mean = std::min(least_mean, mean);
                most_mean = std::max(most_mean, mean);
                most_reads = std::max(most_reads, each->adapts.most.range_reads);
                most_writes = std::max(most_writes, each->adapts.most.index_writes);
            }
            reading += churned.inserts.reading;
            inserts += churned.inserts.calls;
            if (n == sizes.back()) judged_by_less_fails = judged_by_less_fails && !churned.inserts_within(rate / 4);
            options.progress(done += 0.95 / static_cast<double>(2 * sizes.size()));
        }
    }
    const double bloom = bloom_asked_again(sizes.front(), paper_small_rate, 100'000, options.seed).share();
    const bool controls_failed = bloom == 1 && judged_by_less_fails;
    out.promised =
        "no access on a negative; one point read, 2 + c range reads and 2 c writes of the index for a false positive "
        "(c = 3), never more than 15 reads (small) or 8 (large), for every n; 2 or 3 reads for an erase; none for an "
        "insert but with probability ε";
    out.measured = std::string{kept ? "so" : "NOT so"} + "; a false positive takes " + shown(most_mean, 3) +
                   " range reads in the mean at worst, never more than " + std::to_string(most_reads) +
                   ", and at most " + std::to_string(most_writes) + " writes; " + std::to_string(reading) + " of " +
                   std::to_string(inserts) + " inserts during 3 n replacements read R";
    out.control = {{"what", "a Bloom filter asked again for known false positives; inserts judged by ε/4"},
                   {"bloom_share_of_reads", bloom},
                   {"inserts_judged_by_a_quarter_fail", judged_by_less_fails},
                   {"failed_as_they_must", controls_failed}};
    out.kept = kept && controls_failed;
    out.parameters = {{"filter", broom_paper_filter::name},
                      {"sizes", sizes},
                      {"rates", {paper_small_rate, paper_large_rate}},
                      {"rehashed_by_adapt", keys_rehashed}};
    return out;
}

const registration broom_remote_experiment("broom-remote", 105,
                                           "An answer \"absent\" needs no access to the remote; a false positive or an "
                                           "erase needs a constant number of them, and an insert rarely any.",
                                           "broom18 Thm 6", either<measure_remote, measure_paper_remote>,
                                           {.quick_seconds = 1.7, .full_minutes = 1},
                                           {.filters = {"broom", "broom_paper"}});

}  // namespace
}  // namespace genista::lab
