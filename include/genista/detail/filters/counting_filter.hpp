// counting_filter: what optimal_filter.hpp and spectral.hpp have in common. Start with one of
// these.
//
// The multiset of h(x) for all keys x that were inserted, h from a universal family into [n/ε]
// [ppr05 §2], in a succinct multiset (multiset.hpp). A key that is in it is always found; an absent
// key with probability at most ε. The structure knows how often each value is in it:
//
//   I1  count(x) is never below the number of times that x was inserted and not erased, and above
//       it with probability ≤ ε.
//   I2  erase(x) takes one away. The caller vouches that x is there: of an absent key whose value
//       is a member's, the member would be erased. A value whose count is zero is known to be an
//       absent key's: `absent`, and nothing changes.
//
// Space follows the n keys that there are, as it grows and shrinks: n log(capacity/(n ε)) + O(n)
// bits and about 2 KB. At its capacity that is (1 + o(1)) n log(1/ε) + O(n). Below it, h still has
// values for `capacity` keys: each halving of n adds a bit to every key that is left, and halves
// the rate. So a filter that is made far too large is not as small as one made for its keys. No
// insert or erase copies more than some kilobytes, and there is never a second copy
// (docs/filters/optimal_filter.md).
//
// Many threads may look at once; a change excludes everything else, as with a standard container.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "genista/filters/filter.hpp"

namespace genista {

// Rules says: name, and what `capacity` is about (by_value: different keys; else all of them).
template <class Rules>
class counting_filter {
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
    // So often at once, in O(1 + log times): what so many inserts would do, or, where one of them
    // would be `full`, nothing at all. 0 times is `inserted` and changes nothing. A count goes up
    // to 2^62 - 1, and all keys together to 2^63 - 1.
    insert_outcome insert(const digest& d, std::uint64_t times) noexcept;
    insert_outcome insert(key_view key, std::uint64_t times) noexcept { return insert(hash()(key), times); }
    insert_outcome insert(integer_key key, std::uint64_t times) noexcept { return insert(hash()(key), times); }
    erase_outcome erase(const digest& d) noexcept;
    erase_outcome erase(key_view key) noexcept { return erase(hash()(key)); }
    erase_outcome erase(integer_key key) noexcept { return erase(hash()(key)); }

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

    [[nodiscard]] filter_stats stats() const noexcept;  // keys: with repetitions
    [[nodiscard]] std::uint64_t size() const noexcept { return stats().keys; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] const hasher& hash() const noexcept;
    [[nodiscard]] std::uint64_t distinct_values() const noexcept;
    // n_1, n_2, … of [ppr05 §4]: how many counters use digit i + 1.
    [[nodiscard]] std::uint64_t digits_in_use(unsigned i) const noexcept;
    [[nodiscard]] std::uint64_t universe() const noexcept;  // of h's values

  private:
    struct core;
    explicit counting_filter(std::unique_ptr<core> made) noexcept;
    std::unique_ptr<core> core_;
};

}  // namespace genista
