// packed_array: sizes are checked here, before any arithmetic on them. See packed_array.hpp.
#include "bits/packed_array.hpp"

namespace genista::bits {

result<packed_array> packed_array::make(std::uint64_t size, std::uint64_t width_bits) noexcept {
    if (width_bits < 1 || width_bits > word_bits)
        return error::make(error_code::invalid_argument, "packed array: width of %llu bits, allowed are 1 to 64",
                           static_cast<unsigned long long>(width_bits));
    std::uint64_t total_bits = 0;
    if (__builtin_mul_overflow(size, width_bits, &total_bits))
        return error::make(error_code::invalid_argument,
                           "packed array: %llu entries of %llu bits, allowed are at most 2^64 - 1 bits in all",
                           static_cast<unsigned long long>(size), static_cast<unsigned long long>(width_bits));
    auto memory = buffer::zeroed(words_for(total_bits) * sizeof(std::uint64_t));  // at most 2^61 bytes: no overflow
    if (!memory) return memory.error();
    return packed_array{std::move(*memory), size, static_cast<std::size_t>(width_bits)};
}

}  // namespace genista::bits
