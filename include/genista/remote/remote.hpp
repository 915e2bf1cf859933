// R, the remote side: the live keys, sorted by the position of their digest, on the other side of a
// slow read.
//
// A filter in RAM (L) answers questions; R holds the truth, from which the filter learns. R keeps
// its records in the order
//
//     (digest.position, digest.seed, key bytes)            key bytes as unsigned bytes, a prefix before its extensions
//
// and a filter finds the bin of a key by scaling its position, so that every bin, at every size of
// the filter, is one contiguous range of R. One range read serves a reverse look-up, a renewal, a
// step of growth and a rebuild after a crash, and R never depends on fingerprints: adapting never
// writes to it. (The paper keeps a reverse map from fingerprints to keys instead, RevLookup
// [broom18 §4.1]; this is where we leave its path.)
//
// This file states the concepts and the arithmetic between bins and ranges.
//
//     remote_map    put, erase, contains, for_each: all that the broom filter needs
//     batched_map   and apply, erase_range: for an index that many records change in at once
//                   (indexed.hpp)
//
// Implementations: memory_map.hpp, a B+ tree in RAM, and the stores over RocksDB. (Wrappers that
// count calls, or make them fail, are in support/remote of the sources and are not installed.)
//
// ## What a call costs remotely
//   put, erase   one write of one record. A store that holds the user's data writes both in one
//                atomic batch.
//   contains     one point read.
//   for_each     one range read: a seek and the records of the range, usually one block for one bin
//                (about 45 keys). A visitor that stops early saves the rest of the transfer, not
//                the seek.
//   apply        one write, whatever the number of changes.
//   erase_range  one write, whatever the number of records.
//
// ## What a caller may assume
//   Atomicity    put, erase and contains are atomic. put and erase are idempotent: after an error
//                whose effect is unknown, doing it again is safe, but its bool no longer says
//                whether this call changed R.
//   Batches      all changes of an apply happen, in the order given, or none does. It is
//                idempotent: after an error whose effect is unknown, doing it again is safe.
//   Order        for_each visits each record of the range once, in the order above. Equal digests
//                with different keys are different records and coexist; a filter must not take a
//                digest for a key.
//   Errors       a failed put, erase or apply may or may not have happened. A failed erase_range
//                may have happened in part. A failed for_each may have
//                visited a prefix of the range: the caller treats it as nothing read, and must not
//                have acted on that prefix. An error degrades to "maybe present", never to
//                "absent".
//   Exceptions   a call should not throw. What it throws is the error of a call that failed:
//                std::bad_alloc of code out_of_memory, anything else of code io. No filter passes
//                it on, and none ends the program.
//   Threads      calls may come from many threads at once. for_each sees each record either before
//                or after a write that runs beside it; memory_map is stricter (readers shared,
//                writers exclusive: a range is one moment). Who needs more re-checks under its own
//                lock that nothing moved since before the read.
//   Visitors     get a key_view that is valid during that one call, and do not call back into the
//                same R.
#pragma once

#include <cassert>
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

#include "genista/base/result.hpp"
#include "genista/hash/key.hpp"

namespace genista {

// Called for each record of a range; false stops the visit, which is then a success.
template <class Visit>
concept record_visitor = std::is_invocable_r_v<bool, Visit&, const digest&, key_view>;

namespace remote_detail {
struct any_visitor {
    bool operator()(const digest&, key_view) const noexcept { return true; }
};
}  // namespace remote_detail

// `put` and `erase` say whether they changed R: true for a new record, true for a record that was
// there. `for_each(first, last, visit)` takes both ends inclusive, because 2^64-1 is a position
// like any other and no end lies beyond it; first > last is the empty range, and no error. Reads
// are asked of an R&, not of a const R&: reading may count, cache or reconnect.
template <class R>
concept remote_map = requires(R& remote, const digest& where, key_view key, std::uint64_t position,
                              remote_detail::any_visitor visit) {
    { remote.put(where, key) } -> std::same_as<result<bool>>;
    { remote.erase(where, key) } -> std::same_as<result<bool>>;
    { remote.contains(where, key) } -> std::same_as<result<bool>>;
    { remote.for_each(position, position, visit) } -> std::same_as<result<void>>;
};

// A record that R holds after the change, or no longer holds. The key is borrowed.
struct record_change {
    digest where{};
    key_view key{};
    bool present = true;
};

// `erase_range` takes both ends inclusive, as for_each does.
template <class R>
concept batched_map = remote_map<R> &&
    requires(R& remote, std::span<const record_change> changes, std::uint64_t position) {
    { remote.apply(changes) } -> std::same_as<result<void>>;
    { remote.erase_range(position, position) } -> std::same_as<result<void>>;
};

// The positions first, first + 1, ..., last; never empty when it comes from range_of_bin.
struct position_range {
    std::uint64_t first = 0;
    std::uint64_t last = ~std::uint64_t{0};

    [[nodiscard]] constexpr bool contains(std::uint64_t position) const noexcept {
        return first <= position && position <= last;
    }
    friend constexpr bool operator==(const position_range&, const position_range&) noexcept = default;
};

// All positions p with scale(p, bins) == bin: the exact inverse of scale (digest.hpp), for 0 <= bin
// < bins and every bins a std::uint64_t can hold except 0.
//
//     scale(p, bins) == bin   <=>   bin <= p * bins / 2^64 < bin + 1
//                             <=>   ceil(bin * 2^64 / bins) <= p < ceil((bin + 1) * 2^64 / bins)
//
// The real interval is 2^64 / bins >= 1 long and half open, so it holds an integer: no bin's range
// is empty, the ranges of bins 0, 1, ... follow each other without gap or overlap, and the last one
// ends at 2^64-1. No overflow: (bin + 1) * 2^64 + bins - 1 < 2^128 whenever bin + 1 < bins, and bin
// + 1 == bins is not computed.
[[nodiscard]] constexpr position_range range_of_bin(std::uint64_t bin, std::uint64_t bins) noexcept {
    assert(bins > 0 && bin < bins);
    const auto start_of = [bins](std::uint64_t index) constexpr {
        return static_cast<std::uint64_t>(((uint128{index} << 64) + (bins - 1)) / bins);
    };
    const std::uint64_t last = bin + 1 == bins ? ~std::uint64_t{0} : start_of(bin + 1) - 1;
    return {.first = start_of(bin), .last = last};
}

}  // namespace genista
