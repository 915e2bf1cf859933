// daisy_bloom_filter: a Bloom filter that spends probes where the world needs them [daisy §1.1, §5,
// Thm 12]. A key that is likely to be stored, or hardly ever asked for, sets few bits or none; the
// queries that you really get still meet a small rate.
//
// A key comes with its class j = ⌈k_x⌉ (oracles/daisy_plan.hpp; with_oracle.hpp finds it by
// itself) and sets j bits:
//
//     | one bit array, m = n Σ p_x ⌈k_x⌉ / ln 2 bits in 64-byte lines          |      half of it ones after n draws
//         ↑ class 3        ↑ class 8   ↑ class 3    ↑ class 8   ↑ class 3             class 0: nothing; always "maybe"
//
// An absent key of class j then passes with probability 2^-j. Proved: if n Σ p q ≤ ε
// (plan().keeps_condition()) and the input is drawn as planned, at most 6 ε of the queries are
// false positives [daisy Lemma 15], in log e · LB + O(n) bits. A caller that wants ε itself makes
// the plan with plan_tuned(). As ⌈k⌉ < k + 1, m is less than 1.4427 (LB + n₊) bits and a line;
// tables differ by luck, and a few lines more keep the rate in the mean of all of them.
//
// **A rate between two classes.** ⌈k⌉ is whole, and all keys that are asked for often have the same
// k, log(1/ε′): at a power of two they get a probe more together, and the expected rate halves. A
// plan tuned to a rate in the gap expects as little as half of it, and its table is longer than the
// rate needs, by up to 16 % at 2^-6 and 11 % at 2^-9. options.rate says the rate itself: more than
// half of the bits are ones then, by as much as makes the plan's queries meet it, Σ A_j f^j. The
// mean rate is at most that. The proof of 6 ε is about half of the bits and does not cover such a
// table.
//
// `blocked` puts all probes of a key into one line, as blocked_bloom_filter does: one cache miss a
// look-up.
//
//     octet    8 lanes of 64 bits    classes up to 8      a key of class j sets one bit in each of
//                                                         j neighbouring lanes,
//     sixteen  16 lanes of 32 bits   classes up to 16     the first of them chosen by its digest,
//                                                         so that all lanes fill alike
//
//     | lane 0 | lane 1 | lane 2 | lane 3 | lane 4 | lane 5 | lane 6 | lane 7 |
//       ↑        ↑                                            ↑        ↑          class 4, first lane 6
//
// Lines fill unevenly, which costs rate; its table is larger by as much as keeps the plan's
// expected rate (computed exactly: see src/filters/daisy_bloom_sizing.hpp), and layouts compete by
// their bits.
//
//   I1  no false negative: a key is found with the class that it was inserted with. The same oracle
//       gives the same class (oracle.hpp, I1).
//   I2  classes above plan().largest_class() are taken for that class, in inserts and look-ups
//       alike.
//   I3  bits_set() is the number of ones in the table; draws(j) counts every insert of class j,
//       repetitions included, as n does.
//
// Keys past n are accepted, and classes in other shares than planned: the rate suffers, no key is
// lost. drift() says so. A Bloom filter keeps no keys, so a filter with another plan has to be made
// and filled again from where the keys are.
//
// Many threads may query at once; an insert excludes everything else, as with a standard container.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "genista/detail/base/buffer.hpp"
#include "genista/filters/filter.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista {

struct daisy_bloom_options {
    daisy_plan plan{};                          // plan_for_universe() and its like make one
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
    bool blocked = false;
    // The rate to reach over the plan's queries, above 0 and below 1. Where the plan expects less,
    // the table is made as short as this rate allows. None: half of the bits stay zero, as the
    // proof wants it. A blocked filter takes none.
    std::optional<double> rate = std::nullopt;
};

// Numbers are written into snapshots: never renumber.
enum class daisy_layout : std::uint8_t { scattered = 0, octet = 1, sixteen = 2 };

// What came, beside what was planned. With τ = 1 / (2 log(1/ε)), the slack of [daisy Lemmas 14,
// 15]:
//
//   fuller_than_planned   more ones than (1 + τ) times the planned probes would set, all of them
//                         different: from here on the proof of the rate 6 ε has ended. Draws as
//                         planned stay below it but for a chance of about exp(-τ² LB / (2
//                         log(1/ε))), small from some 10^5 bits on.
//   classes_differ        the shares of the classes are further from the plan's (half the sum of
//                         the differences) than τ and what chance explains. A distance of τ moves
//                         the probes of a draw by half a one at most; what is allowed to chance is
//                         passed with probability 10^-6 by draws as planned (McDiarmid's
//                         inequality), whatever their number.
struct daisy_bloom_drift {
    std::uint64_t draws = 0;      // so far; plan().terms.draws are planned
    std::uint64_t bits_set = 0;   // so far
    double planned_bits_set = 0;  // by as many draws of the plan, if all were different keys
    double most_bits_set = 0;     // beyond: fuller_than_planned
    double class_distance = 0;    // in 0..1
    double allowed_distance = 0;  // beyond: classes_differ
    drift_verdict verdict = drift_verdict::as_planned;
};

struct daisy_bloom_state {
    std::byte* bytes = nullptr;
    std::uint64_t places = 0;   // bits if scattered, lines if not
    std::uint32_t largest = 0;  // class
};

// The hot entry points for one layout and instruction set (kernel_table.hpp, with classes).
struct daisy_bloom_kernels {
    bool (*contains_integer)(const daisy_bloom_state&, const hash_state&, std::uint64_t, unsigned) noexcept;
    bool (*contains_key)(const daisy_bloom_state&, const hash_state&, key_view, unsigned) noexcept;
    bool (*contains_digest)(const daisy_bloom_state&, const digest&, unsigned) noexcept;
    void (*contains_integers)(const daisy_bloom_state&, const hash_state&, const std::uint64_t*, const std::uint8_t*,
                              std::size_t, std::uint64_t*) noexcept;
    void (*contains_keys)(const daisy_bloom_state&, const hash_state&, const key_view*, const std::uint8_t*,
                          std::size_t, std::uint64_t*) noexcept;
    void (*contains_digests)(const daisy_bloom_state&, const hash_state&, const digest*, const std::uint8_t*,
                             std::size_t, std::uint64_t*) noexcept;
    unsigned (*insert_digest)(daisy_bloom_state&, const digest&, unsigned) noexcept;  // bits that were set by it
};

class daisy_bloom_filter {
  public:
    static constexpr std::string_view name = "daisy_bloom";
    static constexpr unsigned most_blocked_class = 16;

    // Allocates the whole table. An error for a plan that is none (shares that do not sum to about
    // one), and for a blocked filter of classes above 16, that is of a rate below 2^-16.
    [[nodiscard]] static result<daisy_bloom_filter> make(const daisy_bloom_options& options) noexcept;

    // already_present: nothing had to change, which is always so for class 0.
    insert_outcome insert(const digest& d, unsigned its_class) noexcept;
    insert_outcome insert(key_view key, unsigned its_class) noexcept { return insert(hash_(key), its_class); }
    insert_outcome insert(integer_key key, unsigned its_class) noexcept { return insert(hash_(key), its_class); }

    [[nodiscard]] bool may_contain(const digest& d, unsigned its_class) const noexcept {
        return kernels_->contains_digest(state_, d, its_class);
    }
    [[nodiscard]] bool may_contain(key_view key, unsigned its_class) const noexcept {
        return kernels_->contains_key(state_, hash_.state(), key, its_class);
    }
    [[nodiscard]] bool may_contain(integer_key key, unsigned its_class) const noexcept {
        return kernels_->contains_integer(state_, hash_.state(), key.value(), its_class);
    }
    // Batches, one class a key; out_bits as in kernel_table.hpp.
    void may_contain(std::span<const std::uint64_t> keys, std::span<const std::uint8_t> classes,
                     std::span<std::uint64_t> out_bits) const noexcept {
        assert(classes.size() >= keys.size() && out_bits.size() >= words_for(keys.size()));
        kernels_->contains_integers(state_, hash_.state(), keys.data(), classes.data(), keys.size(), out_bits.data());
    }
    void may_contain(std::span<const key_view> keys, std::span<const std::uint8_t> classes,
                     std::span<std::uint64_t> out_bits) const noexcept {
        assert(classes.size() >= keys.size() && out_bits.size() >= words_for(keys.size()));
        kernels_->contains_keys(state_, hash_.state(), keys.data(), classes.data(), keys.size(), out_bits.data());
    }
    void may_contain(std::span<const digest> digests, std::span<const std::uint8_t> classes,
                     std::span<std::uint64_t> out_bits) const noexcept {
        assert(classes.size() >= digests.size() && out_bits.size() >= words_for(digests.size()));
        kernels_->contains_digests(state_, hash_.state(), digests.data(), classes.data(), digests.size(),
                                   out_bits.data());
    }

    // Takes all keys out, as if it had just been made: same plan, table and hash. drift() begins
    // again.
    void clear() noexcept;

    // Afterwards this filter holds the keys of both. Both must have the same terms, table size,
    // layout and hash key.
    [[nodiscard]] result<void> merge(const daisy_bloom_filter& other) noexcept;

    [[nodiscard]] result<void> save(sink& out) const noexcept;  // with the plan
    [[nodiscard]] static result<daisy_bloom_filter> load(std::span<const std::byte> bytes) noexcept;

    // `keys` counts the inserts that changed something, `capacity` the draws that were planned; the
    // rate is plan().expected_rate(), which is over the plan's queries and what the table was sized
    // for.
    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] std::uint64_t size() const noexcept { return keys_; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] const daisy_plan& plan() const noexcept { return plan_; }
    [[nodiscard]] const daisy_terms& terms() const noexcept { return plan_.terms; }
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] daisy_layout layout() const noexcept { return layout_; }
    [[nodiscard]] std::uint64_t bits() const noexcept { return std::uint64_t{table_.size_bytes()} * 8; }
    [[nodiscard]] std::uint64_t bits_set() const noexcept { return bits_set_; }
    [[nodiscard]] std::uint64_t draws(unsigned its_class) const noexcept {
        return its_class < draws_.size() ? draws_[its_class] : 0;
    }
    // Of the plan's queries, those that pass this very table after n draws of different keys.
    // Computed, not measured; the blocked layouts need some memory and milliseconds for it.
    [[nodiscard]] result<double> expected_rate() const noexcept;
    [[nodiscard]] daisy_bloom_drift drift() const noexcept;

    [[nodiscard]] static result<std::uint64_t> bits_for(const daisy_plan& plan, bool blocked = false,
                                                        std::optional<double> rate = std::nullopt) noexcept;

  private:
    daisy_bloom_filter(const daisy_plan& plan, const hasher& hash, daisy_layout layout, buffer table) noexcept;
    [[nodiscard]] static result<daisy_bloom_filter> make_with(const daisy_bloom_options& options, daisy_layout layout,
                                                              std::uint64_t lines) noexcept;

    const daisy_bloom_kernels* kernels_;
    daisy_bloom_state state_;
    hasher hash_;
    buffer table_;
    daisy_plan plan_;
    daisy_layout layout_;
    std::uint64_t bits_set_ = 0;
    std::uint64_t keys_ = 0;
    std::array<std::uint64_t, max_daisy_class + 1> draws_{};
};

}  // namespace genista
