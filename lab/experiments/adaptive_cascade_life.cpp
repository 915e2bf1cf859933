// A full cascade, and n queries against it: its levels, and the reads of R. See
// adaptive_cascade.hpp.
#include <algorithm>
#include <cmath>

#include "lab/experiment.hpp"
#include "lab/experiments/adaptive_cascade.hpp"
#include "lab/games/remotes.hpp"
#include "lab/workloads/broom_workload.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {
namespace {

class cascade_in_use {
  public:
    cascade_in_use(std::uint64_t keys, double rate, cascade_rates rates, std::uint64_t seed)
        : filter_{must(cascade_filter::make({.capacity = keys,
                                             .false_positive_rate = rate,
                                             .hash = hasher{hash_key::from_seed(seed)},
                                             .random = repeatable(seed),
                                             .rates = rates}))},
          keys_{keys} {
        must(filter_.rebuild(remote_.map()));  // this filter now owns R's index
    }

    // All operations count their reads of R, unless new hash functions were drawn meanwhile.
    template <class Call>
    void counted(cascade_reads& to, Call call) {
        const remote_counts records = remote_.records().counts(), index = remote_.index().counts();
        const std::uint64_t rebuilds = filter_.stats().renewals;
        call();
        if (filter_.stats().renewals != rebuilds) return;
        const remote_counts records_now = remote_.records().counts(), index_now = remote_.index().counts();
        const std::uint64_t ranges =
            records_now.range_reads + index_now.range_reads - records.range_reads - index.range_reads;
        const std::uint64_t points =
            records_now.point_reads + index_now.point_reads - records.point_reads - index.point_reads;
        ++to.operations;
        to.range_reads += ranges;
        to.point_reads += points;
        to.most_reads = std::max(to.most_reads, ranges + points);
    }
    void insert(std::uint64_t key, cascade_reads& to) {
        must(remote_.map().put(filter_.hash()(key), integer_key{key}.view()));
        counted(to, [&] { (void)must(filter_.insert(key, remote_.map())); });
    }
    void erase(std::uint64_t key, cascade_reads& to) {
        counted(to, [&] { (void)must(filter_.erase(key, remote_.map())); });
    }
    void query(std::uint64_t key, cascade_life& seen) {
        ++seen.queries;
        bool maybe = false;
        counted(seen.negatives, [&] { maybe = filter_.may_contain(key); });
        if (!maybe) return;
        --seen.negatives.operations;
        ++seen.false_positives;
        counted(seen.fixes, [&] { (void)must(filter_.adapt(key, remote_.map())); });
        found_.push_back(key);
    }
    void fresh_query(cascade_life& seen) { query(next_absent_key_++, seen); }
    // Half of them are absent keys that were not queried before, half are old false positives, as
    // adversaries ask them.
    void any_query(cascade_life& seen, random_stream& chance) {
        const bool old = !found_.empty() && chance.below(2) == 0;
        query(old ? found_[chance.below(found_.size())] : next_absent_key_++, seen);
    }
    void count_denied(std::uint64_t first, cascade_life& seen) const {
        for (std::uint64_t key = first; key < first + keys_; ++key)
            seen.false_negatives += filter_.may_contain(key) ? 0u : 1u;
    }
    [[nodiscard]] double bits() const noexcept {
        return 8 * static_cast<double>(filter_.stats().local_bytes) / static_cast<double>(keys_);
    }
    [[nodiscard]] const cascade_filter& filter() const noexcept { return filter_; }
    [[nodiscard]] std::uint64_t next_absent_key() noexcept { return next_absent_key_++; }

  private:
    index_in_memory remote_;
    cascade_filter filter_;
    std::uint64_t keys_;
    std::uint64_t next_absent_key_ = first_absent_key;
    std::vector<std::uint64_t> found_;
};

}  // namespace

double cascade_life::expected(std::size_t level) const noexcept {
    if (level == 0) return static_cast<double>(keys);
    const auto& above = after.levels[level - 1];
    // A key leaves level 0 if one of n queries has its value.
    if (level == 1)
        return static_cast<double>(keys) * -std::expm1(-static_cast<double>(keys) / static_cast<double>(above.values));
    return above.rate * static_cast<double>(above.come);
}

unsigned cascade_life::levels_used() const noexcept {
    return static_cast<unsigned>(std::ranges::count_if(after.levels, [](const auto& each) { return each.come > 0; }));
}

cascade_life live_cascade(std::uint64_t keys, double rate, cascade_rates rates, std::uint64_t seed) {
    cascade_life seen;
    seen.rate = rate;
    seen.keys = keys;
    cascade_in_use life{keys, rate, rates, seed};
    for (std::uint64_t key = 0; key < keys; ++key) life.insert(key, seen.inserts);
    seen.bits_before = life.bits();
    // n queries, one less than make new hash functions due.
    constexpr std::uint64_t parts = 10;
    for (std::uint64_t part = 0; part < parts; ++part) {
        const std::uint64_t last = (part + 1) * (keys - 1) / parts;
        for (std::uint64_t i = part * (keys - 1) / parts; i < last; ++i) life.fresh_query(seen);
        const cascade_details now = life.filter().details();
        std::vector<double> come;
        for (const auto& each : now.levels) come.push_back(static_cast<double>(each.come) / static_cast<double>(keys));
        seen.come.push_back(come);
    }
    seen.after = life.filter().details();
    seen.bits_after = life.bits();
    seen.reached.assign(seen.after.levels.size(), 0);
    for (std::uint64_t i = 0; i < keys; ++i) {
        const unsigned level = life.filter().level_of(life.filter().hash()(life.next_absent_key()));
        for (unsigned reached = 0; reached <= level; ++reached) seen.reached[reached] += 1 / static_cast<double>(keys);
    }
    life.count_denied(0, seen);
    // Then a tenth of the keys are replaced, and 3 n queries follow, half of them old false
    // positives.
    random_stream chance{seed};
    for (std::uint64_t i = 0; i < 3 * keys; ++i) {
        life.any_query(seen, chance);
        if (i % 10 == 0 && i / 10 < keys / 10) {
            life.erase(i / 10, seen.erases);
            life.insert(keys + i / 10, seen.inserts);
        }
    }
    life.count_denied(keys / 10, seen);
    seen.bits_at_last = life.bits();
    seen.rebuilds = life.filter().details().rebuilds;
    return seen;
}

}  // namespace genista::lab
