// cuckoo_family_filter: cuckoo filters with full hash functions. They read their keys from R and
// can therefore move a key to any of its bins. One core; a rule decides what a false positive
// changes. Users include cuckooing.hpp, or papers/cuckoo_family.hpp.
//
//     key → one bin in each of `tables` tables, and a fingerprint; the fingerprint is stored in one
//     slot of one of these bins
//
//   I1  No false negative: may_contain(x) is true from the moment insert(x) returned until erase(x)
//       begins, under threads, new hash functions, failing stores and failing memory. A key that is
//       being moved is in at least one slot at every moment.
//   I2  A call that reports `full` or an error has changed nothing in the filter. R's index may be
//       left in doubt: the next call that changes something first writes it as the filter has it,
//       or fails too.
//   I3  Index and filter agree, but for the slots in doubt. A key that R reports for a slot is
//       checked against the fingerprint there; a record that does not fit is an error and is not
//       used.
//
// The index (remote/indexed.hpp) says which key is in which slot: one record (place, key) for each
// slot in use, with place = {generation · 2^40 + slot, 0}. The filter renumbers its slots whenever
// it chooses new hash functions, so that the old records stay whole until the new ones are
// complete.
//
// None of these filters keeps its rate against an adversary [acf §5, Thms 9, 10, 12]: use the broom
// filter for that. docs/filters/adaptive_cuckoo.md says what they are good for, and what was
// measured.
//
// The order of steps is the broom filter's:
//
//     insert   the store commits the key to R first, then filter.insert(key, R), then the caller's
//              acknowledgement
//     erase    filter.erase(key, R) takes the key out of R, then forgets it
//     query    if may_contain(key): ask the store; if it does not have the key: filter.adapt(key,
//              R)
//
// Remote cost: a negative costs nothing. An insert reads one place of the index for every key on
// its way to a free slot (none while there is room, about seven at 95 % load), and writes once. New
// hash functions for a full filter read and write every place once.
//
// Any number of threads may call anything but moving, assigning and destroying. Changes wait for
// each other, remote reads included; queries wait only while new hash functions are put in place (a
// copy of the table).
//
// cuckooing_filter is the one to deploy: it alone has snapshots, and threads and failing memory are
// tested with it. The others are in papers/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "genista/detail/base/random_source.hpp"
#include "genista/detail/filters/cuckoo/lookup_state.hpp"
#include "genista/detail/filters/index_source.hpp"
#include "genista/detail/filters/kernel_table.hpp"
#include "genista/detail/filters/remote_surface.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

struct cuckoo_options {
    std::uint64_t capacity = 1'000'000;
    double false_positive_rate = 1.0 / 256;                   // for the first query of an absent key
    std::optional<unsigned> fingerprint_bits = std::nullopt;  // 2 to 32, instead of a rate
    std::optional<hasher> hash = std::nullopt;                // none: keyed, with a random key of the filter's own
    std::optional<unsigned> tables = std::nullopt;            // 2 to 8; none: 4, for swapping 2
    std::optional<unsigned> bin_slots = std::nullopt;         // 1 to 8; none: 1, for swapping 4
    double load = 0.95;                                       // slots in use at capacity
    random_source random{};                                   // the operating system's
};

// The filters of the family: a rule and its usual shape.
namespace cuckoo {

struct plain_rule {
    static constexpr std::string_view name = "cuckoo";
    static constexpr cuckoo_rule rule = cuckoo_rule::plain;
    static constexpr unsigned selector_bits = 0, tables = 4, bin_slots = 1;
};
struct cuckooing_rule {
    static constexpr std::string_view name = "cuckooing";
    static constexpr cuckoo_rule rule = cuckoo_rule::cuckooing;
    static constexpr unsigned selector_bits = 0, tables = 4, bin_slots = 1;
};
// Not inside the struct: clang 14 does not accept it there.
inline constexpr std::string_view cyclic_names[] = {"cyclic1", "cyclic2", "cyclic3"};
template <unsigned SelectorBits>
requires(SelectorBits >= 1 && SelectorBits <= 3) struct cyclic_rule {
    static constexpr std::string_view name = cyclic_names[SelectorBits - 1];
    static constexpr cuckoo_rule rule = cuckoo_rule::cyclic;
    static constexpr unsigned selector_bits = SelectorBits, tables = 4, bin_slots = 1;
};
struct swapping_rule {
    static constexpr std::string_view name = "swapping";
    static constexpr cuckoo_rule rule = cuckoo_rule::swapping;
    static constexpr unsigned selector_bits = 0, tables = 2, bin_slots = 4;
};

// Rule and usual shape as values.
struct member_of_family {
    std::string_view name;
    cuckoo_shape usual;
};
template <class Rule>
inline constexpr member_of_family member{
    Rule::name,
    {.rule = Rule::rule, .tables = Rule::tables, .bin_slots = Rule::bin_slots, .selector_bits = Rule::selector_bits}};

struct any_batch_indexed_map {
    template <class R>
    static constexpr bool takes = batch_indexed_map<R>;
    template <class R>
    using source = remote_batch_index<R>;
};

class core;
struct inspection;  // of the tests, which compare tables exactly

// The part that is compiled once for all rules and all R. The filter below documents the calls.
class body {
  public:
    [[nodiscard]] static result<body> make(const member_of_family& who, const cuckoo_options& options) noexcept;
    [[nodiscard]] static result<body> load(const member_of_family& who, std::span<const std::byte> bytes) noexcept;
    body(body&&) noexcept;
    body& operator=(body&&) noexcept;
    ~body();

    [[nodiscard]] result<insert_outcome> insert(const hashed_key& key, batch_index_source& remote) noexcept;
    [[nodiscard]] result<erase_outcome> erase(const hashed_key& key, batch_index_source& remote) noexcept;
    [[nodiscard]] result<erase_outcome> forget(const hashed_key& key, batch_index_source& remote) noexcept;
    [[nodiscard]] result<adapt_outcome> adapt(const hashed_key& key, batch_index_source& remote) noexcept;
    [[nodiscard]] result<void> rebuild(batch_index_source& remote) noexcept;
    [[nodiscard]] result<void> audit(batch_index_source& remote) const noexcept;
    [[nodiscard]] result<void> save(sink& out) const noexcept;

    [[nodiscard]] const cuckoo_state& state() const noexcept { return *state_; }
    [[nodiscard]] const cuckoo_kernels& kernels() const noexcept { return *kernels_; }
    [[nodiscard]] const hasher& hash() const noexcept { return *hash_; }
    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] std::uint64_t rehashes() const noexcept;

    [[nodiscard]] static result<std::uint64_t> bits_for(const member_of_family& who, std::uint64_t capacity,
                                                        double rate) noexcept;
    [[nodiscard]] static double fpr_for(const member_of_family& who, std::uint64_t capacity,
                                        std::uint64_t bits) noexcept;
    [[nodiscard]] static result<std::uint64_t> keys_for_bits(const member_of_family& who, std::uint64_t bits,
                                                             double rate) noexcept;

  private:
    explicit body(std::unique_ptr<core> made) noexcept;

    std::unique_ptr<core> core_;
    const cuckoo_state* state_;  // points into the core, for look-ups
    const cuckoo_kernels* kernels_;
    const hasher* hash_;
};

}  // namespace cuckoo

template <class Rule>
class cuckoo_family_filter
    : public filter_surface<cuckoo_family_filter<Rule>>,
      public erasing_surface<cuckoo_family_filter<Rule>, cuckoo_options, cuckoo::any_batch_indexed_map> {
  public:
    static constexpr std::string_view name = Rule::name;

    // An error for a load that these tables cannot reach, and for options out of range.
    [[nodiscard]] static result<cuckoo_family_filter> make(const cuckoo_options& options = {}) noexcept {
        return owning(cuckoo::body::make(cuckoo::member<Rule>, options));
    }
    // insert, adapt, erase, forget, rebuild, build, audit: remote_surface.hpp. An insert is `full`
    // if no hash functions were found that place all keys, which happens only beyond the capacity.
    // An adapt is `unfixed` if the rule was applied, and the key is still answered "maybe". A build
    // reads R twice, in order. An audit also sees that R has a key for every slot of the filter.

    // cuckooing_filter only. A loaded filter answers queries at once. insert, erase and adapt are
    // errors until a rebuild, because they need an index that agrees with the filter.
    [[nodiscard]] result<void> save(sink& out) const noexcept requires(Rule::rule == cuckoo_rule::cuckooing) {
        return body_.save(out);
    }
    [[nodiscard]] static result<cuckoo_family_filter> load(std::span<const std::byte> bytes) noexcept
        requires(Rule::rule == cuckoo_rule::cuckooing) {
        return owning(cuckoo::body::load(cuckoo::member<Rule>, bytes));
    }

    [[nodiscard]] filter_stats stats() const noexcept { return body_.stats(); }
    [[nodiscard]] std::uint64_t rehashes() const noexcept { return body_.rehashes(); }  // new hash functions so far
    [[nodiscard]] double rate() const noexcept {
        return stats().false_positive_rate;
    }  // for the first query of an absent key
    [[nodiscard]] const cuckoo_shape& shape() const noexcept { return state().shape; }
    [[nodiscard]] const hasher& hash() const noexcept { return body_.hash(); }

    // For the usual tables, bins and load.
    [[nodiscard]] static result<std::uint64_t> bits_for(std::uint64_t capacity, double rate) noexcept {
        return cuckoo::body::bits_for(cuckoo::member<Rule>, capacity, rate);
    }
    [[nodiscard]] static double fpr_for(std::uint64_t capacity, std::uint64_t bits) noexcept {
        return cuckoo::body::fpr_for(cuckoo::member<Rule>, capacity, bits);
    }
    [[nodiscard]] static result<std::uint64_t> keys_for_bits(std::uint64_t bits, double rate) noexcept {
        return cuckoo::body::keys_for_bits(cuckoo::member<Rule>, bits, rate);
    }

  private:
    friend filter_surface<cuckoo_family_filter>;
    friend sourced_surface<cuckoo_family_filter, cuckoo_options, cuckoo::any_batch_indexed_map>;
    friend erasing_surface<cuckoo_family_filter, cuckoo_options, cuckoo::any_batch_indexed_map>;
    friend struct cuckoo::inspection;
    explicit cuckoo_family_filter(cuckoo::body made) noexcept : body_{std::move(made)} {}
    [[nodiscard]] cuckoo::body& body() noexcept { return body_; }
    [[nodiscard]] const cuckoo::body& body() const noexcept { return body_; }
    [[nodiscard]] static result<cuckoo_family_filter> owning(result<cuckoo::body> made) noexcept {
        if (!made) return made.error();
        return cuckoo_family_filter{*std::move(made)};
    }
    [[nodiscard]] const cuckoo_kernels& kernels() const noexcept { return body_.kernels(); }
    [[nodiscard]] const cuckoo_state& state() const noexcept { return body_.state(); }

    cuckoo::body body_;
};

}  // namespace genista
