// What every filter promises: the vocabulary, its outcomes and the concepts that generic code asks
// for.
//
// The signature is the cost model. A query is local: it takes no remote map and cannot fail. What a
// filter may do to itself without asking R takes a key alone; what may cross the network takes
// `R&` and returns a result (the adaptive filters). In every filter
//
//   I1  no false negative: may_contain(x) is true from the moment insert(x) returned until erase(x)
//       begins;
//   I2  a call that reports `full` or an error has changed nothing.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "genista/base/result.hpp"
#include "genista/format/sink.hpp"
#include "genista/hash/hashed_key.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/hash/key.hpp"

namespace genista {

enum class [[nodiscard]] insert_outcome : unsigned char{
    inserted,
    already_present,  // nothing had to change; for the Bloom filters: "maybe present" already
    full,             // no room; nothing has changed
};

enum class [[nodiscard]] erase_outcome : unsigned char{erased, absent};

// What became of a key that a filter let through and R does not hold.
enum class [[nodiscard]] adapt_outcome : unsigned char{
    fixed,          // it was a false positive, and is one no longer
    unfixed,        // it still is one: the filter tried in vain, or is one that does not learn (never the broom filter)
    was_negative,   // the filter does not let it through: nothing to do
    true_positive,  // R holds it (or a key with the very same digest, which no filter can tell apart)
};

// Parameters every filter takes. {.capacity = 10'000'000, .false_positive_rate = 1.0 / 256}
struct filter_options {
    std::uint64_t capacity = 1'000'000;
    double false_positive_rate = 1.0 / 256;
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
};

inline constexpr std::uint64_t max_capacity = std::uint64_t{1} << 40;
inline constexpr double max_false_positive_rate = 0.5;

struct filter_stats {
    std::uint64_t keys = 0;
    std::uint64_t capacity = 0;
    double false_positive_rate = 0;    // promised, for up to `capacity` keys
    std::uint64_t local_bytes = 0;     // everything in RAM: what the allocator gave and the object itself
    std::uint64_t adaptive_bytes = 0;  // the part of local_bytes that grew by adapting
    std::uint64_t adapts = 0;
    std::uint64_t renewals = 0;
    std::uint64_t remote_reads = 0;
};

// The last argument of an erase whose caller guarantees that the key is stored, where the filter
// could also ask R (broom_filter::erase).
struct assume_present_t {
    explicit assume_present_t() = default;
};
inline constexpr assume_present_t assume_present{};

// `min_rate` differs by structure; the message names the value and what is allowed.
[[nodiscard]] result<void> check_options(std::string_view filter, const filter_options& options,
                                         double min_rate) noexcept;

// Answers for n keys are the bits of (n + 63) / 64 words, key i at bit i % 64 of word i / 64.
[[nodiscard]] constexpr std::size_t words_for(std::size_t keys) noexcept {
    return (keys + 63) / 64;
}

// size() is stats().keys: the keys that the filter holds, as its inserts and erases counted them.
// An insert that returned `already_present` counts nothing. Where a filter cannot distinguish two
// keys (the Bloom filters, cleary_filter) the second one is such an insert, and size() is less than
// the number of keys by those; after merge() a key of both filters counts twice. The filters of
// multisets count repetitions. empty() is size() == 0. Beside other threads both are of some moment
// during the call.
template <class F>
concept membership_filter = requires(const F& f, key_view key, std::uint64_t integer, const digest& d,
                                     std::span<const std::uint64_t> integers, std::span<const key_view> keys,
                                     std::span<const digest> digests, std::span<std::uint64_t> out_bits) {
    { F::name } -> std::convertible_to<std::string_view>;
    { f.may_contain(key) }
    noexcept->std::same_as<bool>;
    { f.may_contain(integer) }
    noexcept->std::same_as<bool>;
    { f.may_contain(d) }
    noexcept->std::same_as<bool>;
    { f.may_contain(integers, out_bits) }
    noexcept;
    { f.may_contain(keys, out_bits) }
    noexcept;
    { f.may_contain(digests, out_bits) }
    noexcept;
    { f.stats() }
    noexcept->std::same_as<filter_stats>;
    { f.size() }
    noexcept->std::same_as<std::uint64_t>;
    { f.empty() }
    noexcept->std::same_as<bool>;
    { f.hash() }
    noexcept->std::same_as<const hasher&>;
};

// Has snapshots (docs/format.md). Every installed filter has; those of papers/ have none.
template <class F>
concept savable_filter = membership_filter<F> && requires(const F& f, sink& out, std::span<const std::byte> bytes) {
    { f.save(out) } -> std::same_as<result<void>>;
    { F::load(bytes) } -> std::same_as<result<F>>;
};

// Takes keys without asking a remote map.
template <class F>
concept local_filter = savable_filter<F> &&
    requires(F& f, key_view key, std::uint64_t integer, const digest& d, const filter_options& options,
             std::span<const std::uint64_t> integers, std::span<const key_view> keys, std::span<const digest> digests) {
    { F::make(options) } -> std::same_as<result<F>>;
    { f.insert(key) }
    noexcept->std::same_as<insert_outcome>;
    { f.insert(integer) }
    noexcept->std::same_as<insert_outcome>;
    { f.insert(d) }
    noexcept->std::same_as<insert_outcome>;
    // Many keys: how many are in the filter now, from the first one on (insert_surface.hpp).
    { f.insert(integers) }
    noexcept->std::same_as<std::size_t>;
    { f.insert(keys) }
    noexcept->std::same_as<std::size_t>;
    { f.insert(digests) }
    noexcept->std::same_as<std::size_t>;
};

// Erases. REQUIRES: the key was inserted; erasing an absent key may erase a stored one.
template <class F>
concept locally_erasable_filter = local_filter<F> &&
    requires(F& f, key_view key, std::uint64_t integer, const digest& d) {
    { f.erase(key) }
    noexcept->std::same_as<erase_outcome>;
    { f.erase(integer) }
    noexcept->std::same_as<erase_outcome>;
    { f.erase(d) }
    noexcept->std::same_as<erase_outcome>;
};

// Empties in place: afterwards it is as make() made it, with the same options and the same hash,
// and takes no more memory than then. Like an erase it excludes every other call. Adaptive filters
// have none: the keys that they answer for are R's. Take the keys out of R and call rebuild(R).
template <class F>
concept clearable_filter = requires(F& f) {
    { f.clear() }
    noexcept->std::same_as<void>;
};

template <class F>
concept mergeable_filter = local_filter<F> && requires(F& f, const F& other) {
    { f.merge(other) }
    noexcept->std::same_as<result<void>>;
};

// Learns: takes keys whose store committed them, and repairs itself with one range read of R where
// it was wrong. Each call also takes a key that the caller has hashed already (hashed_key.hpp).
template <class F, class R>
concept adaptive_filter = membership_filter<F> &&
    requires(F& f, const F& c, key_view key, std::uint64_t integer, const hashed_key& hashed, R& r) {
    { f.insert(key, r) } -> std::same_as<result<insert_outcome>>;
    { f.insert(integer, r) } -> std::same_as<result<insert_outcome>>;
    { f.insert(hashed, r) } -> std::same_as<result<insert_outcome>>;
    { f.erase(key, r) } -> std::same_as<result<erase_outcome>>;
    { f.erase(integer, r) } -> std::same_as<result<erase_outcome>>;
    { f.erase(hashed, r) } -> std::same_as<result<erase_outcome>>;
    { f.forget(key, r) } -> std::same_as<result<erase_outcome>>;
    { f.forget(integer, r) } -> std::same_as<result<erase_outcome>>;
    { f.forget(hashed, r) } -> std::same_as<result<erase_outcome>>;
    { f.adapt(key, r) } -> std::same_as<result<adapt_outcome>>;
    { f.adapt(integer, r) } -> std::same_as<result<adapt_outcome>>;
    { f.adapt(hashed, r) } -> std::same_as<result<adapt_outcome>>;
    { c.audit(r) } -> std::same_as<result<void>>;
};

// How big to make it. Inverses of each other: fpr_for(n, bits_for(n, ε)) ≤ ε, and
// keys_for_bits(bits, ε) is the largest n with bits_for(n, ε) ≤ bits. All bits are bits of the
// whole table.
template <class F>
concept sized_filter = requires(std::uint64_t capacity, double rate, std::uint64_t bits) {
    { F::bits_for(capacity, rate) } -> std::same_as<result<std::uint64_t>>;
    { F::fpr_for(capacity, bits) } -> std::same_as<double>;
    { F::keys_for_bits(bits, rate) } -> std::same_as<result<std::uint64_t>>;
};

}  // namespace genista
