// See hashed.hpp.
#include "filters/succinct/hashed.hpp"

#include <array>
#include <cassert>

namespace genista::succinct {

std::uint64_t hashed::contains(std::span<const digest> digests) const noexcept {
    assert(digests.size() <= 64);
    std::array<sets::aimed, 64> all;
    for (std::size_t i = 0; i < digests.size(); ++i) all[i] = values_.aim(value_of(digests[i]));
    // As many blocks on their way as a core keeps lines outstanding.
    constexpr std::size_t ahead = 6;
    std::uint64_t answers = 0;
    for (std::size_t i = 0; i < digests.size() + ahead; ++i) {
        if (i < digests.size()) values_.fetch(all[i]);
        if (i >= ahead) answers |= std::uint64_t{values_.contains(all[i - ahead])} << (i - ahead);
    }
    return answers;
}

}  // namespace genista::succinct
