// The public functions of broom_paper: they check parameters and turn exceptions into errors.
// broom_paper/core.hpp has the filter.
#include "papers/broom_paper.hpp"

#include <utility>

#include "filters/common.hpp"
#include "filters/walls.hpp"
#include "papers/broom_paper/core.hpp"

namespace genista {

broom_paper_filter::broom_paper_filter(std::unique_ptr<broom_paper::core> core) noexcept : core_{std::move(core)} {}
broom_paper_filter::broom_paper_filter(broom_paper_filter&&) noexcept = default;
broom_paper_filter& broom_paper_filter::operator=(broom_paper_filter&&) noexcept = default;
broom_paper_filter::~broom_paper_filter() = default;

result<broom_paper_filter> broom_paper_filter::make(const broom_paper_options& options) noexcept {
    const filter_options common{options.capacity, options.false_positive_rate, options.hash};
    if (const auto checked = check_options(name, common, broom_paper::least_rate); !checked) return checked.error();
    if (options.capacity > broom_paper::most_keys)
        return error::make(error_code::invalid_argument, "broom_paper: capacity %llu, allowed are 1 to 2^36",
                           static_cast<unsigned long long>(options.capacity));
    if (options.rehashed_by_adapt < 3 || options.rehashed_by_adapt > 64)
        return error::make(error_code::invalid_argument,
                           "broom_paper: %u keys rehashed by a repair, allowed are 3 to 64", options.rehashed_by_adapt);
    const auto hash = hasher_from(common);
    if (!hash) return hash.error();
    const auto seed = seed_of_chance(options.random);
    if (!seed) return seed.error();
    return without_throwing(name, [&]() -> result<broom_paper_filter> {
        auto made =
            broom_paper::core::make({.sizes = broom_paper::design_for(options.capacity, options.false_positive_rate),
                                     .rate = options.false_positive_rate,
                                     .hash = *hash,
                                     .seed = *seed,
                                     .rehashed_by_adapt = options.rehashed_by_adapt,
                                     .ghosts = options.ghosts,
                                     .rehashing = options.rehashing});
        if (!made) return made.error();
        return broom_paper_filter{*std::move(made)};
    });
}

bool broom_paper_filter::contains(const digest& d) const noexcept {
    return core_->contains(d);
}
bool broom_paper_filter::contains(const hashed_key& key) const noexcept {
    return core_->contains(broom_paper::element::of(key));
}
result<insert_outcome> broom_paper_filter::insert_from(const hashed_key& key, index_source& source) noexcept {
    return without_throwing(name, [&] { return core_->insert(key, source); });
}
result<erase_outcome> broom_paper_filter::erase_from(const hashed_key& key, index_source& source) noexcept {
    return without_throwing(name, [&] { return core_->erase(key, source); });
}
result<erase_outcome> broom_paper_filter::forget_from(const hashed_key& key, index_source& source) noexcept {
    return without_throwing(name, [&] { return core_->forget(key, source); });
}
result<adapt_outcome> broom_paper_filter::adapt_from(const hashed_key& key, index_source& source) noexcept {
    return without_throwing(name, [&] { return core_->adapt(key, source); });
}
result<void> broom_paper_filter::rebuild_from(index_source& source) noexcept {
    return without_throwing(name, [&] { return core_->rebuild(source); });
}
result<void> broom_paper_filter::audit_from(index_source& source) const noexcept {
    return without_throwing(name, [&] { return core_->audit(source); });
}

double broom_paper_filter::rate() const noexcept {
    return core_->rate();
}
filter_stats broom_paper_filter::stats() const noexcept {
    return core_->stats();
}
broom_paper_details broom_paper_filter::details() const {
    return core_->details();
}
const hasher& broom_paper_filter::hash() const noexcept {
    return core_->hash();
}

result<std::uint64_t> broom_paper_filter::bits_for(std::uint64_t capacity, double rate) noexcept {
    if (const auto checked = check_options(name, {capacity, rate, std::nullopt}, broom_paper::least_rate); !checked)
        return checked.error();
    if (capacity > broom_paper::most_keys)
        return error::make(error_code::invalid_argument, "broom_paper: capacity %llu, allowed are 1 to 2^36",
                           static_cast<unsigned long long>(capacity));
    const broom_paper::design sizes = broom_paper::design_for(capacity, rate);
    const std::uint64_t overflow = quotient_table::bytes_for(sizes.is_large ? sizes.backyard : sizes.second);
    return 8 * (quotient_table::bytes_for(sizes.primary) + overflow);
}

}  // namespace genista
