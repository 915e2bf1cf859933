// kernel_table: the hot entry points of one structure for one instruction set, and filter_surface,
// which gives a filter its overloads from them. Written once here so that every filter speaks the
// same vocabulary (filter.hpp).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "genista/detail/hash/hash_state.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

// Each look-up is one call: hash and probe inline into each other behind it. State is the plain
// view of the table that the structure's kernels read (where the bytes are, how many bins).
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

// The queries of a filter. Derived offers kernels(), state() and hash().
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

    // Batches keep a ring of prefetches ahead of the work; out_bits needs words_for(keys.size())
    // words and gets exactly those, unused bits zero.
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

  private:
    friend Derived;
    filter_surface() = default;
    [[nodiscard]] const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }
};

}  // namespace genista
