// counted_table: one table, the kernels that fill it, its hash and the number of its keys. The
// filters that are no more than that (bloom, blocked_bloom, cuckoo_partial) derive from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "genista/detail/base/buffer.hpp"
#include "genista/detail/filters/insert_surface.hpp"
#include "genista/detail/filters/kernel_table.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

// The kernels of a filter to which keys are added. An insert is true if it changed the table.
template <class State>
struct adding_kernels {
    kernel_table<State> lookups;
    bool (*insert_integer)(State&, const hash_state&, std::uint64_t) noexcept;
    bool (*insert_digest)(State&, const digest&) noexcept;
    insert_table<State> many;
};

// Unchanged is what an insert returns that changed nothing.
template <class Derived, class State, class Kernels, insert_outcome Unchanged>
class counted_table : public filter_surface<Derived>, public insert_surface<Derived> {
  public:
    using insert_surface<Derived>::insert;  // many keys

    insert_outcome insert(integer_key key) noexcept {
        return count(kernels_->insert_integer(state_, hash_.state(), key.value()));
    }
    insert_outcome insert(key_view key) noexcept { return insert(hash_(key)); }
    insert_outcome insert(const digest& d) noexcept { return count(kernels_->insert_digest(state_, d)); }

    // Takes all keys out, as if it had just been made: same table, same hash.
    void clear() noexcept {
        std::ranges::fill(table_.bytes(), std::byte{0});
        keys_ = 0;
    }

    [[nodiscard]] filter_stats stats() const noexcept {
        filter_stats now;
        now.keys = keys_;
        now.capacity = capacity_;
        now.false_positive_rate = rate_;
        now.local_bytes = table_.allocated_bytes() + sizeof(Derived);
        return now;
    }
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }

  protected:
    counted_table(const Kernels* kernels, const hasher& hash, buffer table, const filter_options& options) noexcept
        : kernels_{kernels},
          hash_{hash},
          table_{std::move(table)},
          capacity_{options.capacity},
          rate_{options.false_positive_rate} {}

    const Kernels* kernels_;
    State state_;
    hasher hash_;
    buffer table_;
    std::uint64_t keys_ = 0;
    std::uint64_t capacity_;
    double rate_;

  private:
    friend filter_surface<Derived>;
    friend insert_surface<Derived>;
    [[nodiscard]] const kernel_table<State>& kernels() const noexcept { return kernels_->lookups; }
    [[nodiscard]] const State& state() const noexcept { return state_; }
    template <class Key>
    std::size_t insert_many(std::span<const Key> keys) noexcept {
        const many_inserted done = kernels_->many.insert(state_, hash_.state(), keys);
        keys_ += done.fresh;
        return done.taken;
    }
    insert_outcome count(bool changed) noexcept {
        keys_ += changed ? 1 : 0;
        return changed ? insert_outcome::inserted : Unchanged;
    }
};

}  // namespace genista
