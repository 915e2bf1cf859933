// daisy_fingerprint_filter: fingerprints of as many bits as a key deserves, sorted by their length
// [daisy Thm 7, §4].
//
// A key of class j (⌈k_x⌉ bits, oracles/daisy_plan.hpp) is kept in F_j, an ordinary filter of rate
// 2^-j. Classes whose own filter would cost more than the bits that it saves share that of the next
// longer one. Nothing is kept of class 0: always "maybe".
//
//     class   0        1        2        3        4     …    ⌈log 1/ε⌉
//             maybe    F_2      F_2      F_4      F_4        F_⌈log 1/ε⌉
//                      ▒▒▒▒▒▒▒▒▒▒        ▒▒▒▒▒▒▒▒            ▒▒▒▒▒▒▒▒▒▒▒
//
// F is cleary.hpp's table: j + 2 + 2/15 bits a cell, two cache lines a look-up, any size. The bits
// come to (1 + o(1)) LB + O(n), where LB is what no filter can do without [daisy Thm 6, Lemma 8],
// and the rate over the queries is at most 3 ε [daisy Lemma 11] where n Σ p_x q_x ≤ ε. Beside it:
// daisy_bloom, 1.44 times LB, and any filter that takes all keys for alike, log(1/ε) bits for each.
//
// **Sizes.** *Fork*: the paper has a filter for each class of n_j = n P_j ≥ n / log^c n keys and
// F_r, of rate ε, for all others. We cut the classes into stretches, each kept as its last class,
// in the way that takes the fewest bytes. One of these ways sends the paper's rare classes to the
// next frequent one, which is not longer than F_r: so the paper's bound holds, and a key's rate is
// that of its class or less. A table is made for N = m + max(m / log n, 3 √m) keys, m those to
// expect: the paper's (1 + 1/log n) m, but no less than three standard deviations (the second
// *fork*: with 10^6 draws the paper's margin is less than that below 3,600 keys, its "with high
// probability" is for larger n). At N keys 99 % of the cells are taken, at m about 94 %. The rate
// does not depend on it, and look-ups do little.
//
// **It never refuses a key while there is memory.** What comes beyond a table's 99 %, or would have
// to move more than 2,048 cells of it (daisy_fingerprint_layout.hpp), goes to a *growing table*
// behind it, at a quarter of its rate: together they let at most 5/4 of 2^-j through, whatever
// comes. drift() says that the input is not as planned; the remedy is a new filter by a new plan.
//
// **Time** [daisy Thm 7]. A look-up reads one table, or two where the first has one behind it. It
// passes at most 2,048 cells, as an insert does. The dearest insert is one that splits a page of a
// growing table: about 512 remainders are written again. None of these depends on n.
//
//   I1  No false negative: may_contain(x, j) is true once insert(x, j) returned, for the same j.
//   I2  `full` means that memory has ended, and that nothing has changed.
//   I3  The shape of the planned tables follows from the plan alone.
//
// All tables read the same digest. A key is in one of them only, and an absent one, whose digest is
// independent of all others, is let through with probability at most values / (cells · 2^bits) by
// the planned table and Σ 2^-length by the growing one (let_through): a union bound, for which
// nothing has to be independent.
//
// Unknown sizes [daisy §4.3, first remark]: with `unknown_size` nothing is sized by the plan, and
// it needs no shares. Each class has a growing table and no other
// (src/filters/growing_fingerprints.hpp): one table whose pages are split one by one, so that it
// grows with the keys. Early keys have kept fewer bits than late ones need, by a sum of rates 2^-j
// / (i (i + 1)) over the doublings i. The rate is at most 2^-j at every moment, for any number of
// keys; the bits are at most 2 log log n + 4 a key more than a planned cell's, at every moment; an
// operation reads or writes one page, and every 256th insert splits one. n itself is still a term:
// classes depend on it.
//
// Many threads may query at once; an insert excludes everything else, as with a standard container.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "genista/detail/base/buffer.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/filter.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista {

struct fingerprint_layout;  // which tables it has: src/filters/daisy_fingerprint_layout.hpp
struct fingerprint_layout_table;
class growing_fingerprints;  // src/filters/growing_fingerprints.hpp

struct daisy_fingerprint_options {
    daisy_plan plan{};
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
    bool unknown_size = false;                  // of the plan, its terms are used and nothing else
};

// What came beside what was planned, in inserts: repetitions are counted, as in the paper's draws.
//
//   fuller_than_planned   more draws than n, by more than chance and 1/log n of them
//   classes_differ        a class has more keys than its share, by more than chance, 1/log n of
//                         them and 1/log² n of all
struct daisy_fingerprint_drift {
    std::array<std::uint64_t, max_daisy_class + 1> inserts{};
    std::array<double, max_daisy_class + 1> planned{};  // n P_j
    std::uint64_t extra_tables = 0;                     // growing ones: at most one a chain
    drift_verdict verdict = drift_verdict::as_planned;
};

// One of its tables. A growing one has homes for cells, a new remainder has `bits` at the most, and
// it takes values up to `room` before it grows by a page.
struct daisy_fingerprint_table {
    unsigned its_class = 0;  // the last of those that share it
    unsigned bits = 0;       // of a remainder
    std::uint64_t cells = 0, values = 0, room = 0;
    bool growing = false;
};

class daisy_fingerprint_filter {
  public:
    static constexpr std::string_view name = "daisy_fingerprint";
    static constexpr unsigned most_class = 48;
    static constexpr double min_rate = 0x1p-48;  // of the terms

    [[nodiscard]] static result<daisy_fingerprint_filter> make(const daisy_fingerprint_options& options) noexcept;
    daisy_fingerprint_filter(daisy_fingerprint_filter&&) noexcept;
    daisy_fingerprint_filter& operator=(daisy_fingerprint_filter&&) noexcept;
    ~daisy_fingerprint_filter();

    // A class above the plan's largest is that one. `already_present`: maybe, and for class 0
    // always.
    insert_outcome insert(const digest& d, unsigned its_class) noexcept;
    insert_outcome insert(key_view key, unsigned its_class) noexcept { return insert(hash_(key), its_class); }
    insert_outcome insert(integer_key key, unsigned its_class) noexcept { return insert(hash_(key), its_class); }

    // Takes all keys out, as if it had just been made: same plan, planned tables and hash. Growing
    // tables are given back; drift() begins again.
    void clear() noexcept;

    [[nodiscard]] bool may_contain(const digest& d, unsigned its_class) const noexcept {
        const std::size_t index = its_class < places_.size() ? its_class : most_class;
        if (index == 0) return true;
        const place at = places_[index];
        if (at.planned != none && tables_[at.planned].kernels->lookups.contains_digest(tables_[at.planned].state, d))
            return true;
        return at.growing != none && is_in_growing(at.growing, d);
    }
    [[nodiscard]] bool may_contain(key_view key, unsigned its_class) const noexcept {
        return may_contain(hash_(key), its_class);
    }
    [[nodiscard]] bool may_contain(integer_key key, unsigned its_class) const noexcept {
        return may_contain(hash_(key), its_class);
    }
    // Batches: classes[i] is that of key i; out_bits as in filter.hpp. Sorted by class, so that
    // each table is asked for many keys at once.
    void may_contain(std::span<const digest> digests, std::span<const std::uint8_t> classes,
                     std::span<std::uint64_t> out_bits) const noexcept;
    void may_contain(std::span<const std::uint64_t> keys, std::span<const std::uint8_t> classes,
                     std::span<std::uint64_t> out_bits) const noexcept;
    void may_contain(std::span<const key_view> keys, std::span<const std::uint8_t> classes,
                     std::span<std::uint64_t> out_bits) const noexcept;

    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<daisy_fingerprint_filter> load(std::span<const std::byte> bytes) noexcept;

    // `keys` are values: those of class 0, and those that found theirs taken, are not among them.
    // The rate is plan().expected_rate(), over the plan's queries; proved are 3 ε.
    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] std::uint64_t size() const noexcept { return stats().keys; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] const daisy_terms& terms() const noexcept { return terms_; }
    // By value, put together: a filter of few keys is hardly larger than a plan of 65 classes.
    [[nodiscard]] daisy_plan plan() const noexcept;
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] bool unknown_size() const noexcept { return unknown_size_; }

    [[nodiscard]] daisy_fingerprint_drift drift() const noexcept;
    // The chance that an absent key of this class is let through now, at most: what the tables hold
    // of all strings. It walks over a growing table.
    [[nodiscard]] double let_through(unsigned its_class) const noexcept;
    [[nodiscard]] std::vector<daisy_fingerprint_table> tables() const;
    // The class in whose table a key of this class lies: this one or a longer one; 0 for 0.
    [[nodiscard]] unsigned kept_as(unsigned its_class) const noexcept;

    // Bits of the planned tables.
    [[nodiscard]] static result<std::uint64_t> bits_for(const daisy_plan& plan) noexcept;

  private:
    static constexpr std::uint8_t none = 0xff;
    struct table {
        cleary_state state{};
        const cleary_kernels* kernels = nullptr;
        std::uint8_t chain = 0;  // the last of its classes
    };
    // Where the tables of a chain are: in tables_, in growing_.
    struct place {
        std::uint8_t planned = none, growing = none;
    };
    // What no look-up needs.
    struct class_record {
        double stored_share = 0, asked_share = 0;  // of the plan
        std::uint64_t inserts = 0;
    };

    daisy_fingerprint_filter(const daisy_fingerprint_options& options, const hasher& hash,
                             const fingerprint_layout& layout) noexcept;
    [[nodiscard]] result<void> make_planned(const daisy_plan& plan, const fingerprint_layout& layout) noexcept;
    [[nodiscard]] result<void> add_growing(unsigned chain, growing_fingerprints made) noexcept;
    [[nodiscard]] unsigned growing_bits(unsigned chain) const noexcept;
    [[nodiscard]] bool is_in_growing(std::size_t at, const digest& d) const noexcept;
    [[nodiscard]] insert_outcome insert_growing(const digest& d, unsigned chain) noexcept;
    void set_places(unsigned chain, place where) noexcept;
    [[nodiscard]] fingerprint_layout_table shape_of(std::size_t at) const noexcept;
    [[nodiscard]] unsigned chain_of(unsigned its_class) const noexcept {
        return its_class + static_cast<unsigned>(std::countr_zero(tops_ >> its_class));
    }
    [[nodiscard]] bool is_chain(unsigned its_class) const noexcept { return (tops_ >> its_class & 1) != 0; }
    [[nodiscard]] result<void> take_planned(std::size_t at, std::uint64_t used) noexcept;
    [[nodiscard]] result<void> take_over(std::span<const std::uint8_t> has_growing, std::span<const std::byte> used,
                                         std::span<const std::byte> planned,
                                         std::span<const std::byte> growing) noexcept;
    void answer_chunk(std::span<const digest> digests, std::span<const std::uint8_t> classes,
                      std::span<std::uint64_t> out_bits) const noexcept;

    hasher hash_;
    std::vector<table> tables_{};
    buffer planned_{};
    std::vector<std::unique_ptr<growing_fingerprints>> growing_{};
    std::unique_ptr<class_record[]> classes_;  // 0 .. largest_
    daisy_terms terms_;
    double mean_bits_, overlap_;  // of the plan
    std::uint64_t tops_ = 0;      // a bit for each class that has a chain; the largest has
    // By class: the tables of its chain. Classes above the largest are as the largest.
    std::array<place, most_class + 1> places_{};
    std::uint8_t largest_ = 0;  // class
    bool unknown_size_ = false;
};

}  // namespace genista
