// acf-support: sequences of queries against a filter, and the costs that Theorem 1 allows [acf §3].
//
// Two tables of N bins with one slot each, n stored keys, ε = 2^-f. A sequence asks for each of |Q|
// absent keys, then for each of them again, and so on: n queries at most. Every false positive is
// repaired. A look-up changes nothing, so a round without a false positive ends a sequence: all
// further rounds would be the same.
//
// *Limits*, from the proof with its constants estimated, not proved; earlier totals were known when
// they were set:
//
//   first    Keys of Q that are mistaken at least once. A query compares with one slot of each
//            table, so the share of initial mistakes is at most ε n/N (Lemma 4). A repair moves
//            1/(1 - n/2N) ≤ 2 keys on average, each of which collides with a further key of Q with
//            probability ε|Q|/N (Criterion 1): at most 2 ε|Q|/N a mistake, of which twice as much
//            is allowed. The count is judged by the rule for rates at ε n/N (1 + 4 ε|Q|/N).
//   again    Keys of Q that are mistaken in the first round and, repaired, once more in the second.
//            Either two keys undo each other's repair: 4 ε|Q|/N of the mistakes by the above, 8
//            allowed. Or the key they collide with cannot move, because it hangs on a cycle of the
//            graph of bins (Criterion 2). Bins on components with a cycle: at N = n, the threshold
//            of random graphs, about n^(2/3) on average with a standard deviation of 1.6 n^(2/3),
//            so that the mean over m filters is allowed 1 + 6 · 1.6/sqrt(m) times n^(-1/3); at N =
//            1.2 n about 7 in all, and twice 7/n is allowed.
//   total    All false positives of a whole sequence of n queries, the mean over the filters: ε n/N
//            |Q| (1 + 4 ε|Q|/N), within six standard deviations, and what the paper calls O(log⁴
//            n): 10 at N = 1.2 n, 2 log² n at N = n, as before.
//
// `total` alone decides nothing for small Q, where the additive term dominates. `first` and `again`
// are counted over enough disjoint sets Q that 15 % more of either is seen at every |Q|.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "genista/detail/filters/cuckoo/family.hpp"
#include "genista/remote/memory_map.hpp"
#include "lab/experiment.hpp"
#include "lab/statistics/binomial.hpp"
#include "lab/workloads/flat_index.hpp"
#include "lab/workloads/queries.hpp"

namespace genista::lab {

inline constexpr unsigned support_fingerprint_bits = 8;
inline constexpr double support_rate = 0x1p-8;

struct support_law {
    std::uint64_t keys = 0;     // n
    std::uint64_t support = 0;  // |Q|
    double bins_per_key = 1;    // N/n
    std::uint64_t filters = 1;  // over which it is pooled

    [[nodiscard]] double initial_rate() const noexcept { return support_rate / bins_per_key; }
    [[nodiscard]] double crowding() const noexcept {  // ε|Q|/N
        return support_rate * static_cast<double>(support) / (bins_per_key * static_cast<double>(keys));
    }
    [[nodiscard]] double first_rate() const noexcept { return initial_rate() * (1 + 4 * crowding()); }
    [[nodiscard]] double again_share() const noexcept {
        const auto n = static_cast<double>(keys);
        const double stuck = bins_per_key > 1 ? 2 * 7 / n : std::cbrt(1 / n) * (1 + 6 * 1.6 / std::sqrt(filters));
        return std::min(1.0, stuck + 8 * crowding());
    }
    [[nodiscard]] double most_total() const noexcept {
        const double mean = first_rate() * static_cast<double>(support);
        const double log = std::log2(static_cast<double>(keys));
        return mean + 6 * std::sqrt(mean / static_cast<double>(filters)) + (bins_per_key > 1 ? 10 : 2 * log * log);
    }
    [[nodiscard]] std::uint64_t rounds() const noexcept { return keys / support; }
};

// The sums of all sequences of one |Q|.
struct support_seen {
    std::uint64_t sequences = 0, asked = 0;  // `asked`: different keys
    std::uint64_t first = 0, again = 0;
    std::uint64_t whole = 0, total = 0;  // sequences of n queries, and their false positives
    std::uint64_t false_negatives = 0;

    support_seen& operator+=(const support_seen& other) noexcept {
        sequences += other.sequences, asked += other.asked, first += other.first, again += other.again;
        whole += other.whole, total += other.total, false_negatives += other.false_negatives;
        return *this;
    }
    [[nodiscard]] double mean_total() const noexcept {
        return whole == 0 ? 0 : static_cast<double>(total) / static_cast<double>(whole);
    }
};

struct support_verdict {
    std::uint64_t most_first = 0, most_again = 0;
    bool first_kept = false, again_kept = false, total_kept = false, sound = false;
    double least_first_seen = 0;  // the smallest excess of first mistakes that would be seen, 0.15 for 15 %
    double least_again_seen = 0;  // the smallest share of repairs in vain
    [[nodiscard]] bool kept() const noexcept { return first_kept && again_kept && total_kept && sound; }
};

[[nodiscard]] inline support_verdict judge_support(const support_law& law, const support_seen& seen) {
    support_verdict verdict;
    verdict.most_first = most_plausible_hits(seen.asked, law.first_rate());
    verdict.most_again = most_plausible_hits(seen.first, law.again_share());
    verdict.first_kept = seen.first <= verdict.most_first;
    verdict.again_kept = seen.again <= verdict.most_again;
    verdict.total_kept = seen.mean_total() <= law.most_total();
    verdict.sound = seen.false_negatives == 0 && seen.asked > 0;
    // With a mean of x + 3.1 sqrt(x) more than x are counted, 999 times of 1000.
    const auto surely_above = [](double count) { return count + 3.1 * std::sqrt(count) + 1; };
    verdict.least_first_seen =
        surely_above(static_cast<double>(verdict.most_first)) / (static_cast<double>(seen.asked) * law.initial_rate()) -
        1;
    verdict.least_again_seen = surely_above(static_cast<double>(verdict.most_again)) /
                               static_cast<double>(std::max<std::uint64_t>(seen.first, 1));
    return verdict;
}

// A filter that was filled from R with the keys 0 .. n - 1.
template <class Filter>
class support_world {
  public:
    support_world(std::uint64_t keys, double bins_per_key, std::uint64_t seed) : keys_{keys} {
        const hasher hash{hash_key::from_seed(seed)};
        for (std::uint64_t key = 0; key < keys; ++key) (void)must(store_.put(hash(key), integer_key{key}.view()));
        cuckoo_options options;
        options.capacity = keys;
        options.fingerprint_bits = support_fingerprint_bits;
        options.hash = hash;
        options.tables = 2;
        options.bin_slots = 1;
        options.load = 1 / (2 * bins_per_key);
        options.random = repeatable(seed);
        filter_.emplace(must(Filter::build(options, remote_)));
    }
    support_world(const support_world&) = delete;
    support_world& operator=(const support_world&) = delete;

    // One whole sequence, then sequences of two rounds, until `wanted` different keys were asked
    // for.
    [[nodiscard]] support_seen play(const support_law& law, std::uint64_t wanted) {
        support_seen seen;
        while (seen.asked < wanted) {
            const bool is_whole = seen.sequences == 0;
            const std::uint64_t total = sequence(law, is_whole ? law.rounds() : 2, seen);
            if (!is_whole) continue;
            seen.whole = 1;
            seen.total = total;
        }
        for (std::uint64_t key = 0; key < keys_; ++key) seen.false_negatives += filter_->may_contain(key) ? 0u : 1u;
        return seen;
    }

  private:
    std::uint64_t sequence(const support_law& law, std::uint64_t rounds, support_seen& seen) {
        const std::uint64_t from = next_;
        next_ += law.support;
        ++seen.sequences;
        seen.asked += law.support;
        mistaken_.assign(law.support, 0);
        std::uint64_t total = 0;
        for (std::uint64_t round = 0; round < std::min(rounds, law.rounds()); ++round) {
            std::uint64_t mistakes = 0;
            for (std::uint64_t i = 0; i < law.support; ++i) {
                if (!filter_->may_contain(from + i)) continue;
                ++mistakes;
                (void)must(filter_->adapt(from + i, remote_));
                seen.first += mistaken_[i] == 0 ? 1u : 0u;
                seen.again += round == 1 && mistaken_[i] != 0 ? 1u : 0u;
                mistaken_[i] = 1;
            }
            total += mistakes;
            if (mistakes == 0) break;
        }
        return total;
    }

    std::uint64_t keys_, next_ = first_absent_key;
    memory_map store_;
    flat_index index_;
    with_index<memory_map, flat_index> remote_{store_, index_};
    std::optional<Filter> filter_;
    std::vector<unsigned char> mistaken_;
};

}  // namespace genista::lab
