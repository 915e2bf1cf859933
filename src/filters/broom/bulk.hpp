// bulk: builds a filter from digests in the order of positions (hash/digests_in_order.hpp) when the
// keys are at hand, without reading R.
#pragma once

#include <cstdint>
#include <span>

#include "genista/base/result.hpp"
#include "genista/detail/filters/broom/range_source.hpp"
#include "genista/hash/key.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

// Serves sorted digests through the interface of R.
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
}  // namespace GENISTA_BROOM_NAMESPACE
