// succinct_set: a dynamic set of numbers below u, exactly, in little more than log C(u, n) bits;
// and succinct_multiset, which counts them.
//
// The dictionary under the filters of [ppr05]. No false positives and no false negatives: it knows
// which numbers it holds. A set of n numbers takes log C(u, n) + O(n) bits [ppr05 §4], whatever n
// is at the time: it grows and shrinks bin by bin and is never copied as a whole.
// docs/filters/succinct_set.md has the figures beside the bound; how it lies in memory is in
// src/filters/succinct.
//
// contains() takes constant time; insert and erase expected constant time, amortised. A secret
// permutation of [u] spreads the numbers, so that no caller can choose some that crowd.
//
// Many threads may look at once; a change excludes everything else, as with a standard container.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "genista/base/result.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

struct succinct_options {
    std::uint64_t universe = std::uint64_t{1} << 32;  // numbers below it, 1 to 2^61
    std::optional<hasher> hash = std::nullopt;        // the permutation's; none: under a random key
};

namespace succinct_detail {

// Calls a visitor through two pointers, so that it can be any callable and nothing is allocated.
struct visitor {
    void* callable;
    void (*call)(void*, std::uint64_t x, std::uint64_t count);
};
template <class Visit>
[[nodiscard]] visitor visitor_of(Visit& visit) noexcept {
    return {&visit, [](void* callable, std::uint64_t x, std::uint64_t count) {
                Visit& mine = *static_cast<Visit*>(callable);
                if constexpr (std::is_invocable_v<Visit&, std::uint64_t, std::uint64_t>) {
                    mine(x, count);
                } else {
                    mine(x);
                }
            }};
}

}  // namespace succinct_detail

class succinct_set {
  public:
    static constexpr std::string_view name = "succinct_set";

    [[nodiscard]] static result<succinct_set> make(const succinct_options& options = {}) noexcept;
    succinct_set(succinct_set&&) noexcept;
    succinct_set& operator=(succinct_set&&) noexcept;
    ~succinct_set();

    [[nodiscard]] bool contains(std::uint64_t x) const noexcept;
    // `full`: no memory. An error for numbers beyond the universe.
    result<insert_outcome> insert(std::uint64_t x) noexcept;
    result<erase_outcome> erase(std::uint64_t x) noexcept;
    // Takes all numbers out and gives their memory back; the universe and the permutation stay.
    void clear() noexcept;
    // Every number, in no order.
    template <class Visit>
    void each(Visit visit) const {
        visit_all(succinct_detail::visitor_of(visit));
    }

    [[nodiscard]] std::uint64_t size() const noexcept;
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] std::uint64_t universe() const noexcept;
    [[nodiscard]] filter_stats stats() const noexcept;  // capacity: the universe; rate: 0
    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<succinct_set> load(std::span<const std::byte> bytes) noexcept;

    // log C(u, n): nothing can hold every set of n numbers below u in fewer bits.
    [[nodiscard]] static double bound_bits(std::uint64_t universe, std::uint64_t size) noexcept;

  private:
    struct core;
    explicit succinct_set(std::unique_ptr<core> made) noexcept;
    void visit_all(const succinct_detail::visitor& visit) const;
    std::unique_ptr<core> core_;
};

// A dynamic multiset of numbers below u, exactly, in log C(u + n, n) + O(n)
// bits, n with repetitions [ppr05 Theorem 1.1].
//
// Every number has a counter whose digits lie in sets S_1, S_2, … (bits/redundant_counter.hpp,
// src/filters/succinct/counted.hpp), so that a number that is there once costs as little as in a
// set, and one that is there c times has O(log c) digits.
//
// contains() takes constant time; insert and erase expected constant time, amortised; count O(1 +
// log c). Numbers are spread by a secret permutation, too. Many threads may look
// at once; a change excludes everything else.
class succinct_multiset {
  public:
    static constexpr std::string_view name = "multiset";

    [[nodiscard]] static result<succinct_multiset> make(const succinct_options& options = {}) noexcept;
    succinct_multiset(succinct_multiset&&) noexcept;
    succinct_multiset& operator=(succinct_multiset&&) noexcept;
    ~succinct_multiset();

    [[nodiscard]] bool contains(std::uint64_t x) const noexcept;
    [[nodiscard]] std::uint64_t count(std::uint64_t x) const noexcept;
    // Once more. `full`: no memory. An error for numbers beyond the universe.
    result<insert_outcome> insert(std::uint64_t x) noexcept;
    // So often at once, in O(1 + log times): all of them, or `full` and nothing has changed. 0
    // times is `inserted` and changes nothing. A count goes up to 2^62 - 1, and size() to 2^63 - 1.
    result<insert_outcome> insert(std::uint64_t x, std::uint64_t times) noexcept;
    // Once less; `absent`: there was none, and nothing has changed.
    result<erase_outcome> erase(std::uint64_t x) noexcept;
    // Takes all numbers out and gives their memory back; the universe and the permutation stay.
    void clear() noexcept;
    // visit(x, count) for every number, in no order.
    template <class Visit>
    void each(Visit visit) const {
        visit_all(succinct_detail::visitor_of(visit));
    }

    [[nodiscard]] std::uint64_t size() const noexcept;      // with repetitions
    [[nodiscard]] std::uint64_t distinct() const noexcept;  // without
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    // In how many counters digit i + 1 is in use: n_1, n_2, … of [ppr05 §4].
    [[nodiscard]] std::uint64_t digits_in_use(unsigned i) const noexcept;
    [[nodiscard]] std::uint64_t universe() const noexcept;
    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<succinct_multiset> load(std::span<const std::byte> bytes) noexcept;

    // log C(u + n, n).
    [[nodiscard]] static double bound_bits(std::uint64_t universe, std::uint64_t size) noexcept;

  private:
    struct core;
    explicit succinct_multiset(std::unique_ptr<core> made) noexcept;
    void visit_all(const succinct_detail::visitor& visit) const;
    std::unique_ptr<core> core_;
};

}  // namespace genista
