// Filters that count: optimal_filter, the replacement of Bloom filters with deletions, and
// spectral_filter, for multisets.
//
// It holds the multiset of h(x) for all inserted keys x, with h from a universal family into [n/ε]
// [ppr05 §2], in a succinct multiset (succinct_set.hpp). A stored key is always found; an absent
// key with probability at most ε. The structure counts each value:
//
//   I1  count(x) is never below the number of times that x was inserted and not erased, and above
//       it with probability ≤ ε.
//   I2  erase(x) subtracts one. REQUIRES: x is stored; for an absent key whose value is that of a
//       stored key, the stored key would be erased. If the count of the value is zero, the key is
//       certainly absent: the outcome is `absent`, and nothing changes.
//
// Space follows the number n of keys, as it grows and shrinks: n log(capacity/(n ε)) + O(n) bits
// and about 2 KB. At its capacity that is (1 + o(1)) n log(1/ε) + O(n). Below it, h still has
// values for `capacity` keys: each halving of n adds a bit to every key that is left, and halves
// the rate. So a filter made much too large is not as small as one made for its keys. No insert or
// erase copies more than some kilobytes, and there is never a second copy
// (docs/filters/optimal_filter.md).
//
// Many threads may look up keys at once; a change excludes everything else, as with a standard
// container.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "genista/detail/filters/insert_surface.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

// Rules has a name, and says what `capacity` counts (by_value: different keys; otherwise all of
// them).
template <class Rules>
class counting_filter : public insert_surface<counting_filter<Rules>> {
  public:
    static constexpr std::string_view name = Rules::name;
    static constexpr double min_false_positive_rate = 0x1p-32;

    // The rate holds for up to `capacity` keys; beyond it, or without memory, inserts report
    // `full`.
    [[nodiscard]] static result<counting_filter> make(const filter_options& options = {}) noexcept;
    counting_filter(counting_filter&&) noexcept;
    counting_filter& operator=(counting_filter&&) noexcept;
    ~counting_filter();

    insert_outcome insert(const digest& d) noexcept;
    insert_outcome insert(key_view key) noexcept { return insert(hash()(key)); }
    insert_outcome insert(integer_key key) noexcept { return insert(hash()(key)); }
    using insert_surface<counting_filter>::insert;  // many keys
    // `times` inserts in O(1 + log times); if one of them would be `full`, nothing changes. 0 times
    // is `inserted` and changes nothing. A count goes up to 2^62 - 1, and all keys together to 2^63
    // - 1.
    insert_outcome insert(const digest& d, std::uint64_t times) noexcept;
    insert_outcome insert(key_view key, std::uint64_t times) noexcept { return insert(hash()(key), times); }
    insert_outcome insert(integer_key key, std::uint64_t times) noexcept { return insert(hash()(key), times); }
    erase_outcome erase(const digest& d) noexcept;
    erase_outcome erase(key_view key) noexcept { return erase(hash()(key)); }
    erase_outcome erase(integer_key key) noexcept { return erase(hash()(key)); }
    // Takes all keys out and gives their memory back; capacity, rate and hash stay.
    void clear() noexcept;

    [[nodiscard]] std::uint64_t count(const digest& d) const noexcept;
    [[nodiscard]] std::uint64_t count(key_view key) const noexcept { return count(hash()(key)); }
    [[nodiscard]] std::uint64_t count(integer_key key) const noexcept { return count(hash()(key)); }

    [[nodiscard]] bool may_contain(const digest& d) const noexcept;
    [[nodiscard]] bool may_contain(key_view key) const noexcept;
    [[nodiscard]] bool may_contain(integer_key key) const noexcept;
    void may_contain(std::span<const std::uint64_t> keys, std::span<std::uint64_t> out_bits) const noexcept;
    void may_contain(std::span<const key_view> keys, std::span<std::uint64_t> out_bits) const noexcept;
    void may_contain(std::span<const digest> digests, std::span<std::uint64_t> out_bits) const noexcept;

    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<counting_filter> load(std::span<const std::byte> bytes) noexcept;

    [[nodiscard]] filter_stats stats() const noexcept;  // `keys` counts repetitions
    [[nodiscard]] std::uint64_t size() const noexcept { return stats().keys; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] const hasher& hash() const noexcept;
    [[nodiscard]] std::uint64_t distinct_values() const noexcept;
    // n_1, n_2, … of [ppr05 §4]: how many counters use digit i + 1.
    [[nodiscard]] std::uint64_t digits_in_use(unsigned i) const noexcept;
    [[nodiscard]] std::uint64_t universe() const noexcept;  // the number of values of h

  private:
    friend insert_surface<counting_filter>;
    template <class Key>
    std::size_t insert_many(std::span<const Key> keys) noexcept {
        return insert_in_order(*this, keys);
    }

    struct core;
    explicit counting_filter(std::unique_ptr<core> made) noexcept;
    std::unique_ptr<core> core_;
};

// The replacement of Bloom filters with deletions, in (1 + o(1)) n log(1/ε) + O(n)
// bits [ppr05 Theorem 1.2].
//
// For when R is not at hand: it needs no store, erases keys that the caller guarantees, and counts.
// The text's own structure: a universal hash function into [n/ε], and a succinct dynamic multiset
// of its values. Measured: 4.6 bits a key above log(1/ε) at 10^7 keys
// (docs/filters/optimal_filter.md); cleary.hpp is smaller and faster, and cannot erase; the broom
// filter, with R at hand, keeps its rate against adversaries, which this one does not: a false
// positive that is repeated is one each time.
//
// `capacity` counts all keys, with repetitions.
struct optimal_rules {
    static constexpr std::string_view name = "optimal_filter";
    static constexpr bool by_value = false;
};
using optimal_filter = counting_filter<optimal_rules>;

// How often is it there? A filter for multisets: count(x) is never too small, and
// too large with probability ≤ ε [ppr05 §6.1, after Cohen and Matias].
//
// The optimal filter, sized by *different* keys: `capacity` of them, each as
// often as you like. A key that is there c times costs O(log c) digits. Reporting a count of c
// takes O(1 + log c).
struct spectral_rules {
    static constexpr std::string_view name = "spectral";
    static constexpr bool by_value = true;
};
using spectral_filter = counting_filter<spectral_rules>;

}  // namespace genista
