// state: everything that a look-up reads: both hash functions, the frontier between them, and the
// levels.
//
// A key up to the frontier is hashed by h_b, one behind it by h_a [broom18 §4.2]. A look-up by
// digest alone cannot tell the side and tries both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "papers/broom_paper/backyard.hpp"
#include "papers/broom_paper/design.hpp"
#include "papers/broom_paper/level.hpp"

namespace genista::broom_paper {

struct state {
    generation older{}, newer{};        // h_a and h_b
    std::optional<element> frontier{};  // none: -∞
    level primary;
    std::optional<level> second{};     // small
    std::optional<backyard> behind{};  // large
    std::uint64_t keys = 0;
    std::uint64_t behind_frontier = 0;  // of these, the keys that h_a still hashes

    [[nodiscard]] static result<std::unique_ptr<state>> make(const design& sizes);

    [[nodiscard]] const generation& of(const element& e) const noexcept {
        return is_behind_frontier(e) ? older : newer;
    }
    [[nodiscard]] bool is_behind_frontier(const element& e) const noexcept { return !frontier || e > *frontier; }
    void count(const element& e, int by) noexcept {
        keys += static_cast<std::uint64_t>(by);
        if (is_behind_frontier(e)) behind_frontier += static_cast<std::uint64_t>(by);
    }
    [[nodiscard]] bool contains(const element& e, const hash_functions& hash) const noexcept {
        return contains_under(e.d, of(e), hash);
    }
    [[nodiscard]] bool contains(const digest& d, const hash_functions& hash) const noexcept {
        return contains_under(d, older, hash) || (frontier && contains_under(d, newer, hash));
    }
    [[nodiscard]] bool contains_under(const digest& d, const generation& mine,
                                      const hash_functions& hash) const noexcept {
        const whole_hash h = hash(d, mine.primary_salt);
        if (primary.find(h)) return true;
        if (behind) return behind->contains(h);
        return second->find(hash(d, mine.second_salt)).has_value();
    }
    // Fewer than keys only if keys with one digest share a fingerprint.
    [[nodiscard]] std::uint64_t fingerprints() const noexcept {
        return primary.size() + (second ? second->size() : 0) + (behind ? behind->size() : 0);
    }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept {
        return sizeof(state) + primary.allocated_bytes() + (second ? second->allocated_bytes() : 0) +
               (behind ? behind->table().allocated_bytes() : 0);
    }
};

inline result<std::unique_ptr<state>> state::make(const design& sizes) {
    auto first = quotient_table::make(sizes.primary);
    if (!first) return first.error();
    auto other = quotient_table::make(sizes.is_large ? sizes.backyard : sizes.second);
    if (!other) return other.error();
    auto made = std::make_unique<state>(
        state{.primary = level{*std::move(first), groups{sizes.primary.quotients, sizes.remainder_bits}}});
    if (sizes.is_large) {
        made->behind.emplace(*std::move(other));
    } else {
        made->second.emplace(*std::move(other), groups{sizes.second.quotients, sizes.remainder_bits});
    }
    return made;
}

}  // namespace genista::broom_paper
