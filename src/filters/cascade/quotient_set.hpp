// quotient_set: hash values in a quotient table, bits + 2.25 bits a slot: the single-hash filter
// that the cascade uses.
//
// A dead value is one that is stored twice. No key needs that, because keys with one value share
// its slot. So the mark costs nothing for a live value, and bits + 2.25 for a dead one: on average
// (bits + 2.25) times the share of dead values, which is less than a bit in every slot. It is also
// less than a table of dead values beside this one, whose remainders would be longer. (The paper
// compresses its dead bits by cutting the table into ranges [broom17 §5, proof of Thm 19]; this is
// the same idea.)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "filters/cascade/single_hash_set.hpp"
#include "filters/quotient_table.hpp"

namespace genista::cascade {

class quotient_set {
  public:
    [[nodiscard]] static quotient_shape shape_of(const level_plan& plan) noexcept {
        return {.quotients = plan.quotients, .bits = plan.bits, .more_bits = 0, .window = window};
    }
    [[nodiscard]] static result<quotient_set> make(const level_plan& plan) noexcept {
        auto table = quotient_table::make(shape_of(plan));
        if (!table) return table.error();
        return quotient_set{*std::move(table)};
    }
    // Takes over the bytes of another set of this plan, which may be anything. May throw
    // std::bad_alloc.
    [[nodiscard]] static result<quotient_set> from_bytes(const level_plan& plan, std::span<const std::byte> bytes);

    [[nodiscard]] value_state look(std::uint64_t value) const noexcept {
        unsigned found = 0;
        const quotient_table::run run = table_.run_of(value >> bits());
        for (std::uint64_t slot = run.first; slot < run.last && found < 2; ++slot)
            found += table_[slot] == remainder(value) ? 1u : 0u;
        return static_cast<value_state>(found);
    }
    [[nodiscard]] bool insert(std::uint64_t value) noexcept {
        return table_.insert(value >> bits(), remainder(value)).has_value();
    }
    [[nodiscard]] bool kill(std::uint64_t value) noexcept {
        if (!insert(value)) return false;
        ++dead_;
        return true;
    }
    void erase(std::uint64_t value) noexcept {
        const quotient_table::run run = table_.run_of(value >> bits());
        for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
            if (table_[slot] == remainder(value)) return table_.erase(value >> bits(), slot);
        }
    }

    [[nodiscard]] std::uint64_t stored() const noexcept { return table_.size() - 2 * dead_; }
    [[nodiscard]] std::uint64_t dead() const noexcept { return dead_; }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return table_.allocated_bytes(); }
    [[nodiscard]] const quotient_table& table() const noexcept { return table_; }

  private:
    explicit quotient_set(quotient_table table) noexcept : table_{std::move(table)} {}
    [[nodiscard]] unsigned bits() const noexcept { return table_.shape().bits; }
    [[nodiscard]] std::uint64_t remainder(std::uint64_t value) const noexcept { return value & bits::low_mask(bits()); }

    quotient_table table_;
    std::uint64_t dead_ = 0;
};

static_assert(single_hash_set<quotient_set>);

}  // namespace genista::cascade
