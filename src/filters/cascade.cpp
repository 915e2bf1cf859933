// The public functions of cascade: they check parameters and turn exceptions into errors.
// cascade/core.hpp has the filter.
#include "genista/filters/cascade.hpp"

#include <utility>

#include "filters/cascade/core.hpp"
#include "filters/indexed_body.hpp"

namespace genista {

template class indexed_body<cascade::core>;
template class erasing_indexed_body<cascade::core>;

cascade_filter::cascade_filter(std::unique_ptr<cascade::core> core) noexcept
    : indexed_filter{erasing_indexed_body<cascade::core>{std::move(core)}} {}

result<cascade_filter> cascade_filter::make(const cascade_options& options) noexcept {
    const auto begins = begin_indexed(name, options, cascade::least_rate, cascade::most_keys);
    if (!begins) return begins.error();
    return without_throwing(name, [&]() -> result<cascade_filter> {
        auto made = cascade::core::make({.capacity = options.capacity,
                                         .rate = options.false_positive_rate,
                                         .hash = begins->hash,
                                         .seed = begins->seed,
                                         .falling = options.rates});
        if (!made) return made.error();
        return cascade_filter{*std::move(made)};
    });
}

result<cascade_filter> cascade_filter::load(std::span<const std::byte> bytes) noexcept {
    return without_throwing(name, [&]() -> result<cascade_filter> {
        auto made = cascade::core::load(bytes);
        if (!made) return made.error();
        return cascade_filter{*std::move(made)};
    });
}

std::uint64_t cascade_filter::contains(std::span<const digest> digests) const noexcept {
    return body_.core().contains(digests);
}
unsigned cascade_filter::level_of(const digest& d) const noexcept {
    return body_.core().level_of(d);
}
result<void> cascade_filter::save(sink& out) const noexcept {
    return without_throwing(name, [&] { return body_.core().save(out); });
}

cascade_details cascade_filter::details() const {
    return body_.core().details();
}

result<std::uint64_t> cascade_filter::bits_for(std::uint64_t capacity, double rate) noexcept {
    const auto checked = check_indexed(name, capacity, rate, cascade::least_rate, cascade::most_keys);
    if (!checked) return checked.error();
    const cascade::design sizes = cascade::design_for(capacity, rate, cascade_rates::tower);
    std::uint64_t bytes = 0;
    for (unsigned i = 0; i < sizes.count; ++i)
        bytes += quotient_table::bytes_for(cascade::quotient_set::shape_of(sizes.levels[i]));
    return 8 * bytes;
}

}  // namespace genista
