// The public functions of adaptive_bloom: they check parameters and turn exceptions into errors.
// adaptive_bloom/core.hpp has the filter.
#include "genista/filters/adaptive_bloom.hpp"

#include <utility>

#include "filters/adaptive_bloom/core.hpp"
#include "filters/indexed_body.hpp"

namespace genista {

template class indexed_body<adaptive_bloom::core>;

adaptive_bloom_filter::adaptive_bloom_filter(std::unique_ptr<adaptive_bloom::core> core) noexcept
    : indexed_filter{indexed_body<adaptive_bloom::core>{std::move(core)}} {}

result<adaptive_bloom_filter> adaptive_bloom_filter::make(const adaptive_bloom_options& options) noexcept {
    const auto begins = begin_indexed(name, options, adaptive_bloom::least_rate, adaptive_bloom::most_keys);
    if (!begins) return begins.error();
    return without_throwing(name, [&]() -> result<adaptive_bloom_filter> {
        auto made = adaptive_bloom::core::make(
            {.sizes = adaptive_bloom::design_for(options.capacity, options.false_positive_rate),
             .hash = begins->hash,
             .seed = begins->seed});
        if (!made) return made.error();
        return adaptive_bloom_filter{*std::move(made)};
    });
}

result<adaptive_bloom_filter> adaptive_bloom_filter::load(std::span<const std::byte> bytes) noexcept {
    return without_throwing(name, [&]() -> result<adaptive_bloom_filter> {
        auto made = adaptive_bloom::core::load(bytes);
        if (!made) return made.error();
        return adaptive_bloom_filter{*std::move(made)};
    });
}

result<void> adaptive_bloom_filter::save(sink& out) const noexcept {
    return without_throwing(name, [&] { return body_.core().save(out); });
}

adaptive_bloom_details adaptive_bloom_filter::details() const {
    return body_.core().details();
}
adaptive_bloom_path adaptive_bloom_filter::path_of(const digest& d) const noexcept {
    return body_.core().path_of(d);
}

result<std::uint64_t> adaptive_bloom_filter::bits_for(std::uint64_t capacity, double rate) noexcept {
    const auto checked = check_indexed(name, capacity, rate, adaptive_bloom::least_rate, adaptive_bloom::most_keys);
    if (!checked) return checked.error();
    return 8 * adaptive_bloom::design_for(capacity, rate).bytes();
}

}  // namespace genista
