// The public functions of cascade: they check parameters and turn exceptions into errors.
// cascade/core.hpp has the filter.
#include "genista/filters/cascade.hpp"

#include <utility>

#include "filters/cascade/core.hpp"
#include "filters/common.hpp"
#include "filters/walls.hpp"

namespace genista {

cascade_filter::cascade_filter(std::unique_ptr<cascade::core> core) noexcept : core_{std::move(core)} {}
cascade_filter::cascade_filter(cascade_filter&&) noexcept = default;
cascade_filter& cascade_filter::operator=(cascade_filter&&) noexcept = default;
cascade_filter::~cascade_filter() = default;

result<cascade_filter> cascade_filter::make(const cascade_options& options) noexcept {
    const filter_options common{options.capacity, options.false_positive_rate, options.hash};
    if (const auto checked = check_options(name, common, cascade::least_rate); !checked) return checked.error();
    if (options.capacity > cascade::most_keys)
        return error::make(error_code::invalid_argument, "cascade: capacity %llu, allowed are 1 to 2^34",
                           static_cast<unsigned long long>(options.capacity));
    const auto hash = hasher_from(common);
    if (!hash) return hash.error();
    const auto seed = seed_of_chance(options.random);
    if (!seed) return seed.error();
    return without_throwing(name, [&]() -> result<cascade_filter> {
        auto made = cascade::core::make({.capacity = options.capacity,
                                         .rate = options.false_positive_rate,
                                         .hash = *hash,
                                         .seed = *seed,
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

bool cascade_filter::contains(const digest& d) const noexcept {
    return core_->contains(d);
}
std::uint64_t cascade_filter::contains(std::span<const digest> digests) const noexcept {
    return core_->contains(digests);
}
unsigned cascade_filter::level_of(const digest& d) const noexcept {
    return core_->level_of(d);
}
result<insert_outcome> cascade_filter::insert_from(const hashed_key& key, index_source& source) noexcept {
    return without_throwing(name, [&] { return core_->insert(key, source); });
}
result<erase_outcome> cascade_filter::erase_from(const hashed_key& key, index_source& source) noexcept {
    return without_throwing(name, [&] { return core_->erase(key, source); });
}
result<erase_outcome> cascade_filter::forget_from(const hashed_key& key, index_source& source) noexcept {
    return without_throwing(name, [&] { return core_->forget(key, source); });
}
result<adapt_outcome> cascade_filter::adapt_from(const hashed_key& key, index_source& source) noexcept {
    return without_throwing(name, [&] { return core_->adapt(key, source); });
}
result<void> cascade_filter::rebuild_from(index_source& source) noexcept {
    return without_throwing(name, [&] { return core_->rebuild(source); });
}
result<void> cascade_filter::audit_from(index_source& source) const noexcept {
    return without_throwing(name, [&] { return core_->audit(source); });
}
result<void> cascade_filter::save(sink& out) const noexcept {
    return without_throwing(name, [&] { return core_->save(out); });
}

double cascade_filter::rate() const noexcept {
    return core_->rate();
}
filter_stats cascade_filter::stats() const noexcept {
    return core_->stats();
}
cascade_details cascade_filter::details() const {
    return core_->details();
}
const hasher& cascade_filter::hash() const noexcept {
    return core_->hash();
}

result<std::uint64_t> cascade_filter::bits_for(std::uint64_t capacity, double rate) noexcept {
    if (const auto checked = check_options(name, {capacity, rate, std::nullopt}, cascade::least_rate); !checked)
        return checked.error();
    if (capacity > cascade::most_keys)
        return error::make(error_code::invalid_argument, "cascade: capacity %llu, allowed are 1 to 2^34",
                           static_cast<unsigned long long>(capacity));
    const cascade::design sizes = cascade::design_for(capacity, rate, cascade_rates::tower);
    std::uint64_t bytes = 0;
    for (unsigned i = 0; i < sizes.count; ++i)
        bytes += quotient_table::bytes_for(cascade::quotient_set::shape_of(sizes.levels[i]));
    return 8 * bytes;
}

}  // namespace genista
