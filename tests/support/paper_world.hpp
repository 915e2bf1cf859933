// paper_world: a broom_paper filter, both halves of its R (records and index) and the truth. It
// runs one operation at a time and compares the outcome with the truth (driven_world.hpp).
//
// After an operation that failed because R did (set_faults) the filter must be bit for bit as it
// was, unless the operation brought new hash functions. An orphan is in the index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "genista/remote/indexed.hpp"
#include "papers/broom_paper.hpp"
#include "papers/broom_paper/core.hpp"
#include "tests/support/driven_world.hpp"

// Everything that look-ups read, as words: equal if and only if the filters are.
struct genista::broom_paper::inspection {
    [[nodiscard]] static std::vector<std::uint64_t> of(const broom_paper_filter& filter) {
        const state& in = filter.body_.core().current();
        std::vector<std::uint64_t> all{in.keys, in.behind_frontier, in.frontier ? 1u : 0u};
        const auto add_bytes = [&](std::span<const std::byte> bytes) {
            all.push_back(bytes.size());
            for (const std::byte each : bytes) all.push_back(std::to_integer<std::uint64_t>(each));
        };
        if (in.frontier) all.insert(all.end(), {in.frontier->rank, in.frontier->d.position, in.frontier->d.seed});
        for (const generation* each : {&in.older, &in.newer})
            all.insert(all.end(), {each->primary_salt, each->second_salt});
        for (const level* each : {&in.primary, in.second ? &*in.second : nullptr}) {
            if (each == nullptr) continue;
            add_bytes(each->table().bytes());
            for (std::uint64_t group = 0; group < each->strings().count(); ++group) {
                each->strings().each_string(
                    group, [&](std::uint64_t quotient, bool is_ghost, unsigned index, const adaptivity& bits) {
                        all.insert(all.end(), {quotient, is_ghost ? 1u : 0u, index, bits.bits, bits.length});
                    });
            }
        }
        if (in.behind) add_bytes(in.behind->table().bytes());
        return all;
    }
};

namespace genista::test {

class paper_world : public driven_world<broom_paper_filter> {
  public:
    // `options.random` is the seed of everything.
    explicit paper_world(const broom_paper_options& options, std::uint64_t universe = 0)
        : driven_world{*broom_paper_filter::make(with_hash(options)), options.random.seed().value_or(1) ^ 0x70617065,
                       universe, options.capacity} {}

    // Sets the share for both halves.
    void set_faults(double share) {
        for (faulty_records* each : {&faulty, &faulty_index}) set_faults_of(*each, share, 8);
        faulty_ = share > 0;
    }

    // ---- operations -----------------------------------------------------------------------------

    // False: the filter has no room, or R failed and the caller gave up.
    bool insert(std::uint64_t key) {
        const bool was_member = members_.contains(key);
        put(key);
        bool rebuilt = false;  // from R, which holds the key: in this attempt or an earlier one
        for (;;) {
            const bool was_orphan = orphans_.contains(key);
            const std::uint64_t held = filter.stats().keys, rebuilds = filter.details().rebuilds;
            const auto outcome = watched([&] { return filter.insert(key, remote); }, "an insert");
            rebuilt = rebuilt || filter.details().rebuilds != rebuilds;
            if (!outcome || *outcome == insert_outcome::full) {
                if (outcome) {
                    expect(held >= filter.stats().capacity, "full although below the capacity");
                    expect(!was_member && !was_orphan, "full for a key that has a fingerprint");
                }
                if (!outcome && chance.below(2) == 0) continue;
                if (was_member) return true;
                take_out(key);
                if (rebuilt) orphans_.insert(key);
                return false;
            }
            if (!rebuilt)
                expect((*outcome == insert_outcome::inserted) == (!was_member && !was_orphan), "insert: wrong outcome");
            orphans_.erase(key);
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
            const bool was_orphan = orphans_.contains(key);
            const std::uint64_t rebuilds = filter.details().rebuilds;
            const auto outcome = watched([&] { return filter.forget(integer_key{key}.view(), remote); }, "a forget");
            if (outcome) {
                if (filter.details().rebuilds == rebuilds)
                    expect((*outcome == erase_outcome::erased) == was_orphan, "forget: wrong outcome");
                orphans_.erase(key);
                return;
            }
            if (chance.below(2) == 0) return;
        }
    }

    void adapt(std::uint64_t key) {
        for (;;) {
            const bool maybe = filter.may_contain(key);
            const std::uint64_t rebuilds = filter.details().rebuilds;
            const auto outcome = watched([&] { return filter.adapt(key, remote); }, "an adapt");
            if (!outcome) {
                if (chance.below(2) == 0) return;
                continue;
            }
            const bool rebuilt = filter.details().rebuilds != rebuilds;
            const bool still = filter.may_contain(key);
            if (members_.contains(key)) {
                expect(*outcome == adapt_outcome::true_positive, "adapt of a stored key: wrong outcome");
            } else if (!maybe && !rebuilt) {
                expect(*outcome == adapt_outcome::was_negative, "adapt of a negative: wrong outcome");
            } else if (*outcome == adapt_outcome::was_negative) {
                expect(rebuilt && !still, "adapt reports was_negative for a positive");
            } else {
                expect(*outcome == (still ? adapt_outcome::unfixed : adapt_outcome::fixed), "adapt: wrong outcome");
                expect(!still || faulty_, "a false positive stays although the store does not fail");
                fixed += still ? 0u : 1u;
            }
            orphans_.erase(key);
            return;
        }
    }

    bool rebuild() {
        const auto outcome = watched([&] { return filter.rebuild(remote); }, "a rebuild");
        if (outcome) expect(filter.stats().keys == members_.size(), "the rebuilt filter has another number of keys");
        return outcome.has_value();
    }

    // The filter's own state, exactly.
    [[nodiscard]] std::vector<std::uint64_t> contents() const { return broom_paper::inspection::of(filter); }

    // ---- checks ---------------------------------------------------------------------------------

    // Every stored key and every orphan is answered maybe, and no other keys are counted.
    void scan() {
        for (const std::uint64_t key : members_) expect(filter.may_contain(key), "a false negative");
        for (const std::uint64_t key : orphans_) expect(filter.may_contain(key), "an orphan is answered no");
        expect(filter.stats().keys == members_.size() + orphans_.size(), "the count of keys differs from the truth");
    }
    // While the filter owes R a write the index is not compared (audit.cpp).
    void audit() {
        if (const auto sound = filter.audit(truth); !sound) wrong.emplace_back(sound.error().message());
    }
    // How many order and reverse records the index holds.
    [[nodiscard]] std::uint64_t index_records() const { return plain_index.size(); }

    memory_map plain_index;
    faulty_records faulty_index{plain_index, {.sleep = [](std::chrono::nanoseconds) {}}};
    with_index<memory_map, memory_map> truth{plain, plain_index};
    with_index<faulty_records, faulty_records> remote{faulty, faulty_index};  // what the filter is given

  private:
    // Only a fault may cause an error, and an error must leave the filter as it was. New hash
    // functions are given to stored keys only: orphans vanish.
    template <class Call>
    auto watched(Call&& call, const char* what) -> decltype(call()) {
        const auto before = faulty_ ? contents() : std::vector<std::uint64_t>{};
        const std::uint64_t rebuilds = filter.details().rebuilds;
        auto outcome = call();
        const bool rebuilt = filter.details().rebuilds != rebuilds;
        if (rebuilt) orphans_.clear();
        if (outcome) return outcome;
        note_failure(what, outcome.error());
        if (faulty_ && !rebuilt && contents() != before)
            wrong.push_back(std::string{what} + " failed, and the filter has changed");
        return outcome;
    }
};

}  // namespace genista::test
