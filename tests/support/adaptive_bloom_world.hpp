// adaptive_bloom_world: an adaptive Bloom filter, both halves of its R and the truth. It runs one
// operation at a time and compares the outcome with the truth.
//
// It uses no test framework: failures are collected in `wrong`. The truth is the set of the stored
// keys among 0 .. universe-1; larger keys are absent keys. The filter has no erase, so keys are
// erased in R only. R may fail and give wrong answers (set_faults): the operation is then given up
// or tried again, and a stored key must never be answered no.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "genista/filters/adaptive_bloom.hpp"
#include "genista/format/sink.hpp"
#include "genista/remote/memory_map.hpp"
#include "support/remote/faulty_map.hpp"
#include "tests/support/splitmix.hpp"

namespace genista::test {

class adaptive_bloom_world {
  public:
    struct plan {
        std::uint64_t capacity = 100;
        double rate = 0.25;
        std::uint64_t seed = 1;
        std::uint64_t universe = 0;  // 0: a quarter more than the capacity
    };
    explicit adaptive_bloom_world(const plan& p)
        : faulty{plain, {.sleep = [](std::chrono::nanoseconds) {}}},
          faulty_index{plain_index, {.sleep = [](std::chrono::nanoseconds) {}}},
          filter{*adaptive_bloom_filter::make(options_for(p))},
          chance{p.seed ^ 0x626c6f6f6d},
          universe_{p.universe != 0 ? p.universe : p.capacity + p.capacity / 4 + 2} {}
    adaptive_bloom_world(const adaptive_bloom_world&) = delete;
    adaptive_bloom_world& operator=(const adaptive_bloom_world&) = delete;
    ~adaptive_bloom_world() = default;

    [[nodiscard]] static adaptive_bloom_options options_for(const plan& p) {
        return {.capacity = p.capacity,
                .false_positive_rate = p.rate,
                .hash = hasher{hash_key::from_seed(p.seed)},
                .random = repeatable(p.seed)};
    }

    // Faults in this share of the calls of both halves. Every kind of failure but a lagging
    // replica: a lagging replica is not a valid R (remote.hpp).
    void set_faults(double share) {
        const auto drawn = [&] {
            fault_plan made;
            made.seed = chance();
            for (const fault_kind kind : all_fault_kinds) {
                if (kind != fault_kind::stale && share > 0) made.rates.push_back({kind, share / 9});
            }
            made.random_record_below = 4;
            return made;
        };
        struck += faulty.counts().injected() + faulty_index.counts().injected();
        expect(faulty.set_plan(drawn()).has_value() && faulty_index.set_plan(drawn()).has_value(), "no plan of faults");
        fails_ = share > 0;
        share_ = share;
    }

    [[nodiscard]] const std::set<std::uint64_t>& members() const noexcept { return members_; }
    [[nodiscard]] std::uint64_t any_key() noexcept { return chance.below(universe_); }
    [[nodiscard]] digest where(std::uint64_t key) const noexcept { return filter.hash()(key); }
    // A query that is not counted.
    [[nodiscard]] bool maybe(std::uint64_t key) const noexcept { return filter.path_of(where(key)).maybe; }

    // ---- operations -----------------------------------------------------------------------------
    void put(std::uint64_t key) { expect(plain.put(where(key), integer_key{key}.view()).has_value(), "no put"); }
    void take_out(std::uint64_t key) {
        expect(plain.erase(where(key), integer_key{key}.view()).has_value(), "no erase");
    }

    // False: the filter has no room, or R failed. The key is then erased from R, unless R held it
    // before.
    bool insert(std::uint64_t key) {
        const bool was_member = members_.contains(key);
        put(key);
        const auto outcome = filter.insert(key, remote);
        note(outcome);
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
        note(outcome);
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
    std::optional<std::uint64_t> find_false_positive(std::uint64_t most = 100'000) {
        for (std::uint64_t asked = 0; asked < most; ++asked) {
            if (maybe(next_absent_key_++)) return next_absent_key_ - 1;
        }
        return std::nullopt;
    }
    void rebuild() { note(filter.rebuild(remote)); }

    [[nodiscard]] std::vector<std::byte> saved() {
        vector_sink out;
        expect(filter.save(out).has_value(), "the filter cannot be saved");
        return {out.bytes().begin(), out.bytes().end()};
    }
    void save_and_load() {
        const auto bytes = saved();
        auto loaded = adaptive_bloom_filter::load(bytes);
        if (!loaded) return expect(false, "the snapshot does not load");
        filter = *std::move(loaded);
        expect(saved() == bytes, "saving, loading and saving again changes the bytes");
        scan();
        expect(!filter.insert(std::uint64_t{0}, remote) && !filter.adapt(std::uint64_t{0}, remote),
               "a loaded filter changes before a rebuild");
        for (int i = 0; i < 1'000; ++i) {
            if (filter.rebuild(remote)) return;
        }
        // With enough keys, one of a rebuild's hundreds of writes always fails.
        expect(fails_, "no rebuild in 1,000 attempts");
        const double share = share_;
        set_faults(0);
        note(filter.rebuild(remote));
        set_faults(share);
    }

    // ---- checks ---------------------------------------------------------------------------------
    void scan() {
        for (const std::uint64_t key : members_) expect(maybe(key), "a false negative");
    }
    void audit() {
        const auto sound = filter.audit(truth);
        if (!sound) wrong.emplace_back(sound.error().message());
    }
    void expect(bool good, const char* what) {
        if (!good) wrong.emplace_back(what);
    }
    [[nodiscard]] std::string text() const {
        std::string all;
        for (const std::string& each : wrong) all.append(each).append("\n");
        return all;
    }

    memory_map plain, plain_index;
    faulty_map<memory_map> faulty, faulty_index;
    with_index<faulty_map<memory_map>, faulty_map<memory_map>> remote{faulty, faulty_index};
    with_index<memory_map, memory_map> truth{plain, plain_index};
    adaptive_bloom_filter filter;
    splitmix chance;
    std::vector<std::string> wrong;
    std::uint64_t failures = 0, fixed = 0, refused = 0, struck = 0;

  private:
    template <class Outcome>
    void note(const Outcome& outcome) {
        if (outcome) return;
        ++failures;
        // The rebuild found more keys than the filter has room for: that is not caused by a fault.
        if (!fails_ && outcome.error().code() != error_code::mismatch)
            wrong.emplace_back(std::string{"an error without need: "}.append(outcome.error().message()));
    }

    std::uint64_t universe_, next_absent_key_ = std::uint64_t{1} << 40;
    std::set<std::uint64_t> members_;
    bool fails_ = false;
    double share_ = 0;
};

}  // namespace genista::test
