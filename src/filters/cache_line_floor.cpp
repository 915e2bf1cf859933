// Making cache_line_floor, and its kernels for every instruction set.
#include "filters/cache_line_floor.hpp"

#include <algorithm>
#include <cstring>

#include "base/cpu.hpp"
#include "hash/digest_kernels_includes.hpp"

#define GENISTA_KERNELS "filters/cache_line_floor_kernels.inl"
#include "base/foreach_isa.hpp"

namespace genista {

cache_line_floor::cache_line_floor(const hasher& hash, buffer array) noexcept
    : kernels_{GENISTA_PICK(cache_line_kernels)}, hash_{hash}, array_{std::move(array)} {
    state_ = {array_.data(), array_.size_bytes() / 64};
}

result<cache_line_floor> cache_line_floor::make(std::uint64_t size_bytes, const hasher& hash) noexcept {
    auto array = buffer::zeroed(std::max<std::uint64_t>(1, size_bytes / 64) * 64);
    if (!array) return array.error();
    std::memset(array->data(), 0x5a, array->size_bytes());
    return cache_line_floor{hash, *std::move(array)};
}

}  // namespace genista
