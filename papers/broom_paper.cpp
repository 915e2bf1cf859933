// The public functions of broom_paper: they check parameters and turn exceptions into errors.
// broom_paper/core.hpp has the filter.
#include "papers/broom_paper.hpp"

#include <utility>

#include "filters/indexed_body.hpp"
#include "papers/broom_paper/core.hpp"

namespace genista {

template class indexed_body<broom_paper::core>;
template class erasing_indexed_body<broom_paper::core>;

broom_paper_filter::broom_paper_filter(std::unique_ptr<broom_paper::core> core) noexcept
    : indexed_filter{erasing_indexed_body<broom_paper::core>{std::move(core)}} {}

result<broom_paper_filter> broom_paper_filter::make(const broom_paper_options& options) noexcept {
    const auto checked = check_indexed(name, options.capacity, options.false_positive_rate, broom_paper::least_rate,
                                       broom_paper::most_keys);
    if (!checked) return checked.error();
    if (options.rehashed_by_adapt < 3 || options.rehashed_by_adapt > 64)
        return error::make(error_code::invalid_argument,
                           "broom_paper: %u keys rehashed by a repair, allowed are 3 to 64", options.rehashed_by_adapt);
    const auto begins = begin_indexed(name, options, broom_paper::least_rate, broom_paper::most_keys);
    if (!begins) return begins.error();
    return without_throwing(name, [&]() -> result<broom_paper_filter> {
        auto made =
            broom_paper::core::make({.sizes = broom_paper::design_for(options.capacity, options.false_positive_rate),
                                     .rate = options.false_positive_rate,
                                     .hash = begins->hash,
                                     .seed = begins->seed,
                                     .rehashed_by_adapt = options.rehashed_by_adapt,
                                     .ghosts = options.ghosts,
                                     .rehashing = options.rehashing});
        if (!made) return made.error();
        return broom_paper_filter{*std::move(made)};
    });
}

bool broom_paper_filter::contains(const hashed_key& key) const noexcept {
    return body_.core().contains(broom_paper::element::of(key));
}

broom_paper_details broom_paper_filter::details() const {
    return body_.core().details();
}

result<std::uint64_t> broom_paper_filter::bits_for(std::uint64_t capacity, double rate) noexcept {
    const auto checked = check_indexed(name, capacity, rate, broom_paper::least_rate, broom_paper::most_keys);
    if (!checked) return checked.error();
    const broom_paper::design sizes = broom_paper::design_for(capacity, rate);
    const std::uint64_t overflow = quotient_table::bytes_for(sizes.is_large ? sizes.backyard : sizes.second);
    return 8 * (quotient_table::bytes_for(sizes.primary) + overflow);
}

}  // namespace genista
