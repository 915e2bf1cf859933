#include "filters/broom/core.hpp"
namespace genista::inline GENISTA_BROOM_VARIANT {
namespace broom {
result<void> core::save(sink&) const noexcept { return error::make(error_code::unsupported, "not yet"); }
}
result<broom_filter> broom_filter::load(std::span<const std::byte>) noexcept { return error::make(error_code::unsupported, "not yet"); }
}
