// daisy_fingerprint_filter: fingerprints of as many bits as a key deserves, sorted by their length [daisy Thm 7, §4].
//
// A key of class j (⌈k_x⌉ bits, oracles/daisy_class.hpp) is kept in F_j, an ordinary filter of rate 2^-j that is made for the keys of
// this class alone; classes that hardly any key is of share one filter of rate ε. Nothing is kept of class 0: always "maybe".
//
//     class   0        1        2        3        4     …    ⌈log 1/ε⌉
//             maybe    F_1      F_2      F_r      F_r        F_⌈log 1/ε⌉        F_r: the rare classes together, rate ε
//                      ▒▒       ▒▒▒▒     ▒                   ▒▒▒▒▒▒▒▒▒▒▒
//
// F is cleary.hpp's table: j + 2 + 2/15 bits a cell, two cache lines a look-up, any size. The bits come to (1 + o(1)) LB + O(n), where
// LB is what no filter can do without [daisy Thm 6, Lemma 8], and the rate over the queries is at most 3 ε [daisy Lemma 11] where
// n Σ p_x q_x ≤ ε. Beside it: daisy_bloom, 1.44 times LB, and any filter that takes all keys for alike, log(1/ε) bits for each.
//
// **Sizes.** A class is *frequent* if n_j = n P_j is at least n / log^c n, c = 2.5 (the text: any c > 2), and at least what the smallest
// table holds. F_j is made for N_j = n_j + max(n_j / log n, 3 √n_j) keys: the text's (1 + 1/log n) n_j, but no less than three standard
// deviations (*fork*: with 10^6 draws the text's margin is less than that for classes below 3,600 keys, its "with high probability" is
// for larger n). F_r likewise, from the sum of the rare n_j; that is below the 6 n / log^c n a class of [daisy Lemma 9]. At N_j keys 97 %
// of the cells are taken, at n_j about 92 %.
//
// **It never refuses a key while there is memory.** What comes beyond a table's 97 % gets a table more, in the same chain: each twice as
// large and a bit longer than the one before, so that the rates of a chain add up to at most twice that of its first table. drift() tells
// that the world is not as planned; the remedy is a new filter by a new plan.
//
//   I1  No false negative: may_contain(x, j) is true once insert(x, j) returned, for the same j.
//   I2  `full` means that memory has ended, and that nothing has changed.
//   I3  Which tables a chain has, and of what shape, follows from plan and number alone.
//
// All tables read the same digest. A key is in one of them only, and a stranger, whose digest is independent of all others, is let through
// with probability at most Σ values / (cells · 2^bits) over the tables of its chain (let_through), exactly that where there is one: a
// union bound, for which nothing has to be independent.
//
// Unknown sizes [daisy §4.3, first remark]: with `unknown_size` nothing is sized by the plan, and it needs no shares. Each class begins with a single block,
// tables double, rates fall as 1/(i (i + 1)), whose sum is 1: 2 log log n bits a key more, and the rate stays 2^-j for any number of keys.
//
// Many threads may query at once; an insert excludes everything else, as with a standard container.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "genista/base/buffer.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/filter.hpp"
#include "genista/oracles/daisy_drift.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista {

struct fingerprint_layout;  // which tables it has: src/filters/daisy_fingerprint_layout.hpp
struct fingerprint_layout_table;

struct daisy_fingerprint_options {
    daisy_plan plan{};
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
    bool unknown_size = false;                  // of the plan, its terms are used and nothing else
};

// What came beside what was planned, in inserts: repetitions are counted, as in the text's draws.
//
//   fuller_than_planned   more draws than n, by more than chance and 1/log n of them
//   classes_differ        a class has more keys than its share, by more than chance, 1/log n of them and 1/log² n of all
struct daisy_fingerprint_drift {
    std::array<std::uint64_t, max_daisy_class + 1> inserts{};
    std::array<double, max_daisy_class + 1> planned{};  // n P_j
    std::uint64_t extra_tables = 0;                     // beyond those of the plan
    drift_verdict verdict = drift_verdict::as_planned;
};

// One of its tables.
struct daisy_fingerprint_table {
    unsigned its_class = 0;                         // 0: of all rare classes
    unsigned bits = 0;                              // of a remainder
    std::uint64_t cells = 0, values = 0, room = 0;  // it takes values up to `room`
};

class daisy_fingerprint_filter {
  public:
    static constexpr std::string_view name = "daisy_fingerprint";
    static constexpr double min_rate = 0x1p-48;  // of the terms: eight longer tables fit behind it

    [[nodiscard]] static result<daisy_fingerprint_filter> make(const daisy_fingerprint_options& options) noexcept;

    // A class above plan().largest_class() is that one. `already_present`: maybe, and for class 0 always.
    insert_outcome insert(const digest& d, unsigned its_class) noexcept;
    insert_outcome insert(key_view key, unsigned its_class) noexcept { return insert(hash_(key), its_class); }
    insert_outcome insert(std::uint64_t key, unsigned its_class) noexcept { return insert(hash_(key), its_class); }

    [[nodiscard]] bool may_contain(const digest& d, unsigned its_class) const noexcept {
        const std::size_t index = its_class < first_of_.size() ? its_class : max_daisy_class;
        if (index == 0) return true;
        for (std::uint32_t at = first_of_[index]; at != none; at = tables_[at].next) {
            if (tables_[at].kernels->lookups.contains_digest(tables_[at].state, d)) return true;
        }
        return false;
    }
    [[nodiscard]] bool may_contain(key_view key, unsigned its_class) const noexcept {
        return may_contain(hash_(key), its_class);
    }
    [[nodiscard]] bool may_contain(std::uint64_t key, unsigned its_class) const noexcept {
        return may_contain(hash_(key), its_class);
    }
    // Batches: classes[i] is that of key i; out_bits as in filter.hpp. Sorted by class, so that each table is asked for many keys at once.
    void may_contain(std::span<const digest> digests, std::span<const std::uint8_t> classes,
                     std::span<std::uint64_t> out_bits) const noexcept;
    void may_contain(std::span<const std::uint64_t> keys, std::span<const std::uint8_t> classes,
                     std::span<std::uint64_t> out_bits) const noexcept;
    void may_contain(std::span<const key_view> keys, std::span<const std::uint8_t> classes,
                     std::span<std::uint64_t> out_bits) const noexcept;

    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<daisy_fingerprint_filter> load(std::span<const std::byte> bytes) noexcept;

    // `keys` are values: those of class 0, and those that found theirs taken, are not among them. The rate is plan().expected_rate(), over
    // the plan's queries; proved are 3 ε.
    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] const daisy_plan& plan() const noexcept { return plan_; }
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] bool unknown_size() const noexcept { return unknown_size_; }

    [[nodiscard]] daisy_fingerprint_drift drift() const noexcept;
    // The chance that a stranger of this class is let through now, at most: what the tables hold of all values.
    [[nodiscard]] double let_through(unsigned its_class) const noexcept;
    [[nodiscard]] std::vector<daisy_fingerprint_table> tables() const;
    // Classes that share F_r.
    [[nodiscard]] bool is_rare(unsigned its_class) const noexcept;

    // Bits of the planned tables.
    [[nodiscard]] static result<std::uint64_t> bits_for(const daisy_plan& plan) noexcept;

  private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct table {
        cleary_state state{};
        const cleary_kernels* kernels = nullptr;
        std::uint64_t room = 0;
        std::uint32_t next = none;
        std::uint32_t chain = 0;  // the class, or 0 for the rare ones
        buffer own{};             // empty for those of the plan, which share one
    };

    daisy_fingerprint_filter(const daisy_fingerprint_options& options, const hasher& hash,
                             const fingerprint_layout& layout) noexcept;
    [[nodiscard]] result<void> lay_planned(const fingerprint_layout& layout) noexcept;
    [[nodiscard]] result<void> add_table(unsigned chain) noexcept;
    [[nodiscard]] static table laid_at(const fingerprint_layout_table& shape, unsigned chain,
                                       std::byte* zeros) noexcept;
    void append(table made) noexcept;
    [[nodiscard]] unsigned tables_in(unsigned chain) const noexcept;
    // A table's bytes with what lies behind them, which is zero.
    [[nodiscard]] static std::span<std::byte> bytes_of(const table& of) noexcept;
    [[nodiscard]] result<void> take_over(std::span<const std::byte> used, std::span<const std::byte> planned,
                                         std::span<const std::byte> extra) noexcept;
    [[nodiscard]] unsigned chain_of(unsigned its_class) const noexcept { return is_rare(its_class) ? 0 : its_class; }
    [[nodiscard]] std::uint32_t last_in(unsigned chain) const noexcept;
    void answer_chunk(std::span<const digest> digests, std::span<const std::uint8_t> classes,
                      std::span<std::uint64_t> out_bits) const noexcept;

    hasher hash_;
    daisy_plan plan_;
    std::array<std::uint64_t, max_daisy_class + 1> inserts_{};
    // By class: the first table of its chain; at 0 that of the rare ones. Classes above the largest are as the largest.
    std::array<std::uint32_t, max_daisy_class + 1> first_of_{};
    std::vector<table> tables_{};
    buffer planned_{};
    unsigned largest_ = 0;    // class
    std::uint64_t rare_ = 0;  // a bit for each class of F_r; the largest is at most 48
    bool unknown_size_ = false;
};

}  // namespace genista
