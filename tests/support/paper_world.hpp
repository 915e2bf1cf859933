// paper_world: a broom_paper filter, both halves of its R (records and index) and the truth
// (driven_world.hpp).
//
// After an operation that failed because R did (set_faults) the filter must be bit for bit as it
// was, unless the operation brought new hash functions. An orphan is in the index. While the filter
// owes R a write, an audit does not compare the index (audit.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

class paper_world : public indexed_world<paper_world, broom_paper_filter> {
  public:
    static constexpr std::uint64_t random_record_below = 8;

    // `options.random` is the seed of everything.
    explicit paper_world(const broom_paper_options& options, std::uint64_t universe = 0)
        : indexed_world{*broom_paper_filter::make(with_hash(options)), options.random.seed().value_or(1) ^ 0x70617065,
                        universe, options.capacity} {}

    void adapt(std::uint64_t key) {
        for (;;) {
            const bool maybe = filter.may_contain(key);
            const std::uint64_t before = filter.details().rebuilds;
            const auto outcome = watched([&] { return filter.adapt(key, remote); }, "an adapt");
            if (!outcome) {
                if (chance.below(2) == 0) return;
                continue;
            }
            const bool rebuilt = filter.details().rebuilds != before;
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

    // The filter's own state, exactly.
    [[nodiscard]] std::vector<std::uint64_t> contents() const { return broom_paper::inspection::of(filter); }
    // How many order and reverse records the index holds.
    [[nodiscard]] std::uint64_t index_records() const { return plain_index.size(); }
};

}  // namespace genista::test
