// The look-up kernels of the broom filter for this processor.
#pragma once

#include "filters/broom/shape.hpp"
#include "genista/detail/filters/broom/lookup_state.hpp"
#include "genista/detail/filters/kernel_table.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

[[nodiscard]] const broom_kernel_set<broom_lookup_state>* pick_kernels(shape s) noexcept;

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
