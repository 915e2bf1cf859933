// cascade_world: a cascade, R with its index, and the truth (driven_world.hpp).
//
// Records and index of R may fail independently (set_faults): a failed operation must then have no
// visible effect. Any change may bring new hash functions; the filter then no longer answers maybe
// for orphans.
#pragma once

#include <cstdint>

#include "genista/filters/cascade.hpp"
#include "tests/support/driven_world.hpp"

namespace genista::test {

[[nodiscard]] inline cascade_options cascade_made(std::uint64_t capacity, double rate, std::uint64_t seed = 1) {
    return {.capacity = capacity,
            .false_positive_rate = rate,
            .hash = hasher{hash_key::from_seed(seed)},
            .random = repeatable(seed)};
}

class cascade_world : public indexed_world<cascade_world, cascade_filter> {
  public:
    static constexpr bool failed_inserts_stray = true;  // the index of R may hold the key or not
    static constexpr std::uint64_t random_record_below = 2;

    explicit cascade_world(const cascade_options& options, std::uint64_t universe = 0)
        : indexed_world{*cascade_filter::make(options), options.random.seed().value_or(1) ^ 0x63617363, universe,
                        options.capacity} {}

    void adapt(std::uint64_t key) {
        for (;;) {
            const bool maybe = filter.may_contain(key);  // a failed attempt may have brought new hash functions
            const auto outcome = watched([&] { return filter.adapt(key, remote); }, "an adapt");
            if (!outcome) {
                expect(filter.may_contain(key) == maybe || rehashed_, "a failed adapt has changed an answer");
                if (chance.below(2) == 0) return;
                continue;
            }
            const bool still = filter.may_contain(key);
            if (members_.contains(key)) {
                expect(*outcome == adapt_outcome::true_positive, "adapt of a stored key: wrong outcome");
            } else {
                expect(!still, "a false positive right after an adapt");
                if (!rehashed_)
                    expect(*outcome == (maybe ? adapt_outcome::fixed : adapt_outcome::was_negative),
                           "adapt: wrong outcome");
                fixed += *outcome == adapt_outcome::fixed ? 1u : 0u;
                orphans_.erase(key);
                strays_.erase(key);
            }
            return;
        }
    }

    void save_and_load() {
        const bytes file = saved();
        if (!load(file)) return;
        for (const std::uint64_t key : members_) expect(filter.may_contain(key), "a false negative after loading");
        expect_refusals(file, error_code::unsupported);
        rebuild_loaded(10'000);
    }

    // Only if R did not fail in the last change: otherwise the filter may still owe R a write.
    void audit() {
        if (in_doubt_) return;
        const auto sound = filter.audit(truth);
        if (!sound && sound.error().code() == error_code::unsupported && faulty_) return;  // new hash functions are due
        ++audits;
        if (!sound) wrong.emplace_back(sound.error().message());
    }
};

}  // namespace genista::test
