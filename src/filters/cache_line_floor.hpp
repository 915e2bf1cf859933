// cache_line_floor: the cheapest possible look-up, one random cache line of an array, hash
// included. Not a filter: `genista bench` compares filters with it (docs/benchmarks.md).
#pragma once

#include <cstdint>
#include <utility>

#include "genista/detail/base/buffer.hpp"
#include "genista/detail/filters/kernel_table.hpp"

namespace genista {

struct cache_line_state {
    const std::byte* bytes = nullptr;
    std::uint64_t lines = 0;
};

class cache_line_floor : public filter_surface<cache_line_floor> {
  public:
    // An array of at least one line. Every page is written, so that reads go to memory and not to
    // one shared zero page.
    [[nodiscard]] static result<cache_line_floor> make(std::uint64_t size_bytes, const hasher& hash) noexcept;

    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] std::uint64_t size_bytes() const noexcept { return array_.size_bytes(); }

  private:
    friend filter_surface;
    cache_line_floor(const hasher& hash, buffer array) noexcept;
    [[nodiscard]] const kernel_table<cache_line_state>& kernels() const noexcept { return *kernels_; }
    [[nodiscard]] const cache_line_state& state() const noexcept { return state_; }

    const kernel_table<cache_line_state>* kernels_;
    cache_line_state state_;
    hasher hash_;
    buffer array_;
};

}  // namespace genista
