// Keys in any order → their digests in the order of positions, which is the order R has and bins are laid in.
//
// A radix pass by the highest bits of the position spreads the digests over so many buckets that each fits into the
// first-level cache, where it is sorted; both on several threads. Twice hashed, once moved: hashing is cheaper than memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/filters/broom/range_source.hpp"
#include "genista/hash/hasher.hpp"

namespace genista {
inline namespace GENISTA_BROOM_VARIANT {
namespace broom {

// May throw std::bad_alloc. Key is std::uint64_t or key_view.
template <class Key>
[[nodiscard]] std::vector<digest> digests_in_order(const hasher& hash, std::span<const Key> keys, unsigned threads);

// Sorted digests as if they came from R.
class digest_source final : public range_source {
  public:
    explicit digest_source(std::span<const digest> sorted) noexcept : sorted_{sorted} {}

    result<void> read(position_range range, population& into) override;
    result<bool> erase() override { return false; }
    [[nodiscard]] bool is_remote() const noexcept override { return false; }

  private:
    std::span<const digest> sorted_;
};

}  // namespace broom
}  // namespace GENISTA_BROOM_VARIANT
}  // namespace genista
