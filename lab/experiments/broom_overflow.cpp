// broom-overflow: the first level runs over rarely and the second never fills [broom18 Lemmas
// 17-19].
//
// Here the first level is a bin of 48 slots in two halves of 32, the second its backyard of 64
// entries. Positions are random, so a bin gets Poisson many keys, each in either half: the share of
// the keys that do not fit is one number, the same for every n (*fork*: the paper's lemmas let it
// vanish; a constant 3 % is what one cache line a bin costs). Each size must agree with that number
// within five standard deviations, no backyard may reach 64, no insert may be refused, and churn,
// which leaves tombstones behind, must not fill a backyard either.
//
// Control: a hash that keeps runs of 16 keys together. It is far from Poisson, and must fail the
// same measurement.
#include <algorithm>
#include <cmath>
#include <vector>

#include "genista/filters/broom.hpp"
#include "lab/experiment.hpp"
#include "lab/experiments/broom_paper.hpp"
#include "lab/workloads/our_workload.hpp"

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

const registration broom_overflow_experiment{{
    .id = "broom-overflow",
    .order = 109,
    .promise = "The first level rarely overflows, and the second never fills up.",
    .where = "broom18 Lemmas 17–19",
    .measure = either<measure_overflow, measure_paper_overflow>,
    .filters = {"broom", "broom_paper"},
    .takes = {.quick_seconds = 2, .full_minutes = 2},
}};

}  // namespace
}  // namespace genista::lab
