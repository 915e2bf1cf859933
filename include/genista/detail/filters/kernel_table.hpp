// kernel_table: the hot entry points of one structure for one instruction set, and filter_surface,
// which gives a filter its overloads from them. It is written once, so that all filters have the
// same calls (filter.hpp).
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "genista/filters/filter.hpp"
#include "genista/hash/hasher.hpp"

namespace genista {

// Each look-up is one call, into which hash and probe are inlined. State is the plain view of the
// table that the structure's kernels read (where the bytes are, how many bins).
template <class State>
struct kernel_table {
    bool (*contains_integer)(const State&, const hash_state&, std::uint64_t) noexcept;
    bool (*contains_key)(const State&, const hash_state&, key_view) noexcept;
    bool (*contains_digest)(const State&, const digest&) noexcept;
    void (*contains_integers)(const State&, const hash_state&, const std::uint64_t*, std::size_t,
                              std::uint64_t*) noexcept;
    void (*contains_keys)(const State&, const hash_state&, const key_view*, std::size_t, std::uint64_t*) noexcept;
    void (*contains_digests)(const State&, const hash_state&, const digest*, std::size_t, std::uint64_t*) noexcept;
};

// Keys [0, taken) are in the filter; key number `taken`, if there is one, was refused as `full`,
// and the keys behind it were not tried.
struct many_inserted {
    std::size_t taken = 0;
    std::uint64_t fresh = 0;  // of them, those that were `inserted`, not `already_present`
};

// The inserts of many keys of one structure for one instruction set.
template <class State>
struct insert_table {
    many_inserted (*integers)(State&, const hash_state&, const std::uint64_t*, std::size_t) noexcept;
    many_inserted (*keys)(State&, const hash_state&, const key_view*, std::size_t) noexcept;
    many_inserted (*digests)(State&, const hash_state&, const digest*, std::size_t) noexcept;

    template <class Key>
    [[nodiscard]] many_inserted insert(State& state, const hash_state& hash, std::span<const Key> all) const noexcept {
        if constexpr (std::same_as<Key, std::uint64_t>) {
            return integers(state, hash, all.data(), all.size());
        } else if constexpr (std::same_as<Key, key_view>) {
            return keys(state, hash, all.data(), all.size());
        } else {
            return digests(state, hash, all.data(), all.size());
        }
    }
};

// The queries of a filter. Derived has kernels(), state() and hash().
template <class Derived>
class filter_surface {
  public:
    [[nodiscard]] bool may_contain(integer_key key) const noexcept {
        return self().kernels().contains_integer(self().state(), self().hash().state(), key.value());
    }
    [[nodiscard]] bool may_contain(key_view key) const noexcept {
        return self().kernels().contains_key(self().state(), self().hash().state(), key);
    }
    [[nodiscard]] bool may_contain(const digest& d) const noexcept {
        return self().kernels().contains_digest(self().state(), d);
    }

    // Batches keep a ring of prefetches ahead of the work. REQUIRES: out_bits has
    // words_for(keys.size()) words; exactly those are written, unused bits are zero.
    void may_contain(std::span<const std::uint64_t> keys, std::span<std::uint64_t> out_bits) const noexcept {
        assert(out_bits.size() >= words_for(keys.size()));
        self().kernels().contains_integers(self().state(), self().hash().state(), keys.data(), keys.size(),
                                           out_bits.data());
    }
    void may_contain(std::span<const key_view> keys, std::span<std::uint64_t> out_bits) const noexcept {
        assert(out_bits.size() >= words_for(keys.size()));
        self().kernels().contains_keys(self().state(), self().hash().state(), keys.data(), keys.size(),
                                       out_bits.data());
    }
    void may_contain(std::span<const digest> digests, std::span<std::uint64_t> out_bits) const noexcept {
        assert(out_bits.size() >= words_for(digests.size()));
        self().kernels().contains_digests(self().state(), self().hash().state(), digests.data(), digests.size(),
                                          out_bits.data());
    }

    // filter.hpp says what is counted.
    [[nodiscard]] std::uint64_t size() const noexcept { return self().stats().keys; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  protected:
    filter_surface() = default;

  private:
    [[nodiscard]] const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }
};

}  // namespace genista
