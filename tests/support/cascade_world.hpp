// cascade_world: a cascade, R with its index, and the truth. It runs one operation at a time and
// compares the outcome with the truth (driven_world.hpp).
//
// Records and index of R may fail independently (set_faults): a failed operation must then have no
// visible effect. Any change may bring new hash functions; the filter then no longer answers maybe
// for orphans.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "genista/filters/cascade.hpp"
#include "genista/remote/indexed.hpp"
#include "tests/support/driven_world.hpp"

namespace genista::test {

[[nodiscard]] inline cascade_options cascade_made(std::uint64_t capacity, double rate, std::uint64_t seed = 1) {
    return {.capacity = capacity,
            .false_positive_rate = rate,
            .hash = hasher{hash_key::from_seed(seed)},
            .random = repeatable(seed)};
}

class cascade_world : public driven_world<cascade_filter> {
  public:
    explicit cascade_world(const cascade_options& options, std::uint64_t universe = 0)
        : driven_world{*cascade_filter::make(options), options.random.seed().value_or(1) ^ 0x63617363, universe,
                       options.capacity} {}

    // Sets the share for both halves.
    void set_faults(double share) {
        struck += faulty.counts().injected() + faulty_index.counts().injected();
        for (faulty_records* half : {&faulty, &faulty_index}) set_faults_of(*half, share, 2);
        faulty_ = share > 0;
    }

    // ---- operations -----------------------------------------------------------------------------

    // False: the filter has no room, or R failed and the caller gave up.
    bool insert(std::uint64_t key) {
        const bool was_member = members_.contains(key);
        put(key);
        for (;;) {
            const bool known = was_member || orphans_.contains(key), unsure = strays_.contains(key);
            const std::uint64_t held = filter.stats().keys;
            const auto outcome = watched([&] { return filter.insert(key, remote); }, "an insert");
            if (!outcome || *outcome == insert_outcome::full) {
                if (outcome)
                    expect(held + strays_.size() >= filter.stats().capacity, "full although below the capacity");
                if (outcome) expect(!known, "full for a key that is present");
                if (!outcome && !was_member && !orphans_.contains(key)) strays_.insert(key);  // as of now
                if (!outcome && chance.below(2) == 0) continue;
                if (!was_member) take_out(key);
                return was_member;
            }
            if (!rehashed_ && !unsure)
                expect((*outcome == insert_outcome::inserted) == !known, "insert: wrong outcome");
            orphans_.erase(key);
            strays_.erase(key);
            members_.insert(key);
            expect(filter.may_contain(key), "a false negative right after an insert");
            return true;
        }
    }

    void erase(std::uint64_t key) {
        for (;;) {
            const bool was_member = members_.contains(key);
            const auto outcome = watched([&] { return filter.erase(key, remote); }, "an erase");
            if (outcome) {
                expect((*outcome == erase_outcome::erased) == was_member, "erase: wrong outcome");
                if (was_member) strays_.erase(key);
                members_.erase(key);
                return;
            }
            if (was_member && !is_stored(key)) orphan(key);
            if (chance.below(2) == 0) return;
        }
    }

    // The store commits by itself, then forget() is called. An absent key must be forgotten without
    // harm.
    void forget(std::uint64_t key) {
        if (members_.contains(key)) {
            take_out(key);
            orphan(key);
        }
        for (;;) {
            const bool known = orphans_.contains(key), unsure = strays_.contains(key);
            const auto outcome = watched([&] { return filter.forget(integer_key{key}.view(), remote); }, "a forget");
            if (outcome) {
                if (!rehashed_ && !unsure)
                    expect((*outcome == erase_outcome::erased) == known, "forget: wrong outcome");
                orphans_.erase(key);
                strays_.erase(key);
                return;
            }
            if (chance.below(2) == 0) return;
        }
    }

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

    bool rebuild() {
        const auto outcome = watched([&] { return filter.rebuild(remote); }, "a rebuild");
        if (outcome) expect(filter.stats().keys == members_.size(), "the rebuilt filter has another number of keys");
        return outcome.has_value();
    }

    // Continues with the loaded filter: it must answer queries, and refuse changes until it is
    // rebuilt.
    void save_and_load() {
        const bytes file = saved();
        auto loaded = cascade_filter::load(file);
        if (!loaded) return wrong.push_back("the snapshot does not load: " + std::string{loaded.error().message()});
        filter = *std::move(loaded);
        rebuilds_ = 0;
        expect(saved() == file, "the loaded filter saves other bytes");
        for (const std::uint64_t key : members_) expect(filter.may_contain(key), "a false negative after loading");
        const std::uint64_t key = any_key();
        const auto refused = filter.insert(key, remote);
        expect(!refused && refused.error().code() == error_code::unsupported,
               "a loaded filter takes a key before a rebuild");
        expect(!filter.erase(key, remote) && !filter.adapt(key, remote), "a loaded filter changes before a rebuild");
        expect(saved() == file, "a refused change has changed the filter");
        for (int tries = 0; !rebuild(); ++tries) {
            if (!faulty_ || tries == 10'000) return wrong.push_back("the loaded filter cannot be rebuilt");
        }
    }

    // ---- checks ---------------------------------------------------------------------------------

    void scan() {
        for (const std::uint64_t key : members_) expect(filter.may_contain(key), "a false negative");
        for (const std::uint64_t key : orphans_) expect(filter.may_contain(key), "an orphan is answered no");
        const std::uint64_t keys = filter.stats().keys, known = members_.size() + orphans_.size();
        expect(known <= keys + filter.details().in_doubt && keys <= known + strays_.size(),
               "the count of keys differs from the truth");
    }
    // Only if R did not fail in the last change: otherwise the filter may still owe R a write.
    void audit() {
        if (in_doubt_) return;
        const auto sound = filter.audit(truth);
        if (!sound && sound.error().code() == error_code::unsupported && faulty_) return;  // new hash functions are due
        ++audits;
        if (!sound) wrong.emplace_back(sound.error().message());
    }
    [[nodiscard]] bool in_doubt() const noexcept { return in_doubt_; }

    memory_map plain_index;
    faulty_records faulty_index{plain_index, {.sleep = [](std::chrono::nanoseconds) {}}};
    with_index<memory_map, memory_map> truth{plain, plain_index};
    with_index<faulty_records, faulty_records> remote{faulty, faulty_index};  // what the filter is given
    std::uint64_t audits = 0, struck = 0, rebuilds = 0;

  private:
    template <class Call>
    auto watched(Call&& call, const char* what) -> decltype(call()) {
        auto outcome = call();
        const std::uint64_t now = filter.details().rebuilds;
        rehashed_ = now != rebuilds_;
        rebuilds += now - rebuilds_;
        rebuilds_ = now;
        if (rehashed_) orphans_.clear();
        if (rehashed_) strays_.clear();
        in_doubt_ = !outcome;
        if (!outcome) note_failure(what, outcome.error());
        return outcome;
    }

    bool in_doubt_ = false;
    bool rehashed_ = false;  // the last call brought new hash functions
    std::uint64_t rebuilds_ = 0;
    // Inserts given up after R failed. The index of R may hold them or not.
    std::set<std::uint64_t> strays_;
};

}  // namespace genista::test
