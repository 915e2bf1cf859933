// plain_surface: the overloads of may_contain (filter.hpp) from one function, for filters that are
// written to be understood: the papers' own constructions, to compare ours with. The fast filters
// have kernel_table.hpp.
//
// Derived has hash() and contains(const digest&) const noexcept; and contains(const hashed_key&),
// if it needs more than the digest.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "genista/filters/filter.hpp"

namespace genista {

template <class Derived>
class plain_surface {
  public:
    [[nodiscard]] bool may_contain(const digest& d) const noexcept { return self().contains(d); }
    [[nodiscard]] bool may_contain(key_view key) const noexcept {
        const hashed_key hashed{self().hash(), key};
        if constexpr (requires { self().contains(hashed); }) {
            return self().contains(hashed);
        } else {
            return self().contains(hashed.where());
        }
    }
    [[nodiscard]] bool may_contain(integer_key key) const noexcept { return may_contain(key.view()); }

    void may_contain(std::span<const std::uint64_t> keys, std::span<std::uint64_t> out_bits) const noexcept {
        each(keys, out_bits);
    }
    void may_contain(std::span<const key_view> keys, std::span<std::uint64_t> out_bits) const noexcept {
        each(keys, out_bits);
    }
    void may_contain(std::span<const digest> digests, std::span<std::uint64_t> out_bits) const noexcept {
        each(digests, out_bits);
    }

    // filter.hpp says what is counted.
    [[nodiscard]] std::uint64_t size() const noexcept { return self().stats().keys; }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  protected:
    plain_surface() = default;

  private:
    [[nodiscard]] const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }

    template <class Key>
    void each(std::span<const Key> keys, std::span<std::uint64_t> out_bits) const noexcept {
        assert(out_bits.size() >= words_for(keys.size()));
        std::fill_n(out_bits.begin(), words_for(keys.size()), std::uint64_t{0});
        for (std::size_t i = 0; i < keys.size(); ++i) {
            out_bits[i / 64] |= std::uint64_t{may_contain(keys[i])} << i % 64;
        }
    }
};

}  // namespace genista
