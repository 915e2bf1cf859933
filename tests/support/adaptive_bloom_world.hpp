// adaptive_bloom_world: an adaptive Bloom filter, both halves of its R and the truth
// (driven_world.hpp).
//
// The filter has no erase, so keys are erased in R only. R may fail and give wrong answers
// (set_faults): the operation is then given up, and a stored key must never be answered no.
#pragma once

#include <cstdint>

#include "genista/filters/adaptive_bloom.hpp"
#include "tests/support/driven_world.hpp"

namespace genista::test {

class adaptive_bloom_world : public indexed_world<adaptive_bloom_world, adaptive_bloom_filter> {
  public:
    static constexpr std::uint64_t random_record_below = 4;

    struct plan {
        std::uint64_t capacity = 100;
        double rate = 0.25;
        std::uint64_t seed = 1;
        std::uint64_t universe = 0;  // 0: a quarter more than the capacity
    };
    explicit adaptive_bloom_world(const plan& p)
        : indexed_world{*adaptive_bloom_filter::make(options_for(p)), p.seed ^ 0x626c6f6f6d, p.universe, p.capacity} {}

    [[nodiscard]] static adaptive_bloom_options options_for(const plan& p) {
        return {.capacity = p.capacity,
                .false_positive_rate = p.rate,
                .hash = hasher{hash_key::from_seed(p.seed)},
                .random = repeatable(p.seed)};
    }

    void set_faults(double share) {
        indexed_world::set_faults(share);
        share_ = share;
    }
    // A query that is not counted.
    [[nodiscard]] bool maybe(std::uint64_t key) const noexcept { return filter.path_of(where(key)).maybe; }

    // False: the filter has no room, or R failed. The key is then erased from R, unless R held it
    // before.
    bool insert(std::uint64_t key) {
        const bool was_member = members_.contains(key);
        put(key);
        const auto outcome = filter.insert(key, remote);
        check(outcome);
        if (!outcome || *outcome == insert_outcome::full) {
            if (outcome) ++refused;
            if (!was_member) take_out(key);
            return false;
        }
        expect(*outcome == insert_outcome::inserted, "insert: wrong outcome");
        members_.insert(key);
        expect(filter.may_contain(key), "a false negative right after an insert");
        return true;
    }
    void erase(std::uint64_t key) {
        take_out(key);
        members_.erase(key);
    }
    void adapt(std::uint64_t key) {
        const bool before = maybe(key);
        const auto outcome = filter.adapt(key, remote);
        check(outcome);
        if (!outcome) return;
        if (members_.contains(key)) {
            expect(*outcome == adapt_outcome::true_positive, "adapt of a stored key: wrong outcome");
            return;
        }
        if (!before) expect(*outcome != adapt_outcome::true_positive, "adapt takes an absent key for a stored key");
        expect(*outcome == adapt_outcome::fixed || *outcome == adapt_outcome::was_negative,
               "an absent key was not repaired");
        expect(!maybe(key), "a repaired false positive is answered maybe");
        fixed += *outcome == adapt_outcome::fixed ? 1u : 0u;
    }
    void rebuild() { check(filter.rebuild(remote)); }

    void save_and_load() {
        if (!load(saved())) return;
        scan();
        expect(!filter.insert(std::uint64_t{0}, remote) && !filter.adapt(std::uint64_t{0}, remote),
               "a loaded filter changes before a rebuild");
        for (int i = 0; i < 1'000; ++i) {
            if (filter.rebuild(remote)) return;
        }
        // With enough keys, one of a rebuild's hundreds of writes always fails.
        expect(faulty_, "no rebuild in 1,000 attempts");
        const double share = share_;
        set_faults(0);
        check(filter.rebuild(remote));
        set_faults(share);
    }

    void scan() {
        for (const std::uint64_t key : members_) expect(maybe(key), "a false negative");
    }

    std::uint64_t refused = 0;

  private:
    // A rebuild that found more keys than the filter has room for is not caused by a fault.
    template <class Outcome>
    void check(const Outcome& outcome) {
        if (outcome) return;
        if (outcome.error().code() == error_code::mismatch)
            ++failures;
        else
            note_failure("a change", outcome.error());
    }

    double share_ = 0;
};

}  // namespace genista::test
