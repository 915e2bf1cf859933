// See hashed.hpp.
#include "filters/succinct/hashed.hpp"

#include <array>
#include <cassert>

namespace genista::succinct {

std::uint64_t hashed::contains(std::span<const digest> digests) const noexcept {
    assert(digests.size() <= 64);
    std::array<std::uint64_t, 64> values;
    for (std::size_t i = 0; i < digests.size(); ++i) {
        values[i] = value_of(digests[i]);
        values_.prefetch_address(values[i]);
    }
    // As many blocks on their way as a core keeps outstanding.
    constexpr std::size_t ahead = 12;
    std::uint64_t answers = 0;
    for (std::size_t i = 0; i < digests.size() + ahead; ++i) {
        if (i < digests.size()) values_.prefetch_block(values[i]);
        if (i >= ahead) answers |= std::uint64_t{values_.contains(values[i - ahead])} << (i - ahead);
    }
    return answers;
}

}  // namespace genista::succinct
