// The public functions of adaptive_bloom: they check parameters and turn exceptions into errors.
// adaptive_bloom/core.hpp has the filter.
#include "genista/filters/adaptive_bloom.hpp"

#include <utility>

#include "filters/adaptive_bloom/core.hpp"
#include "filters/common.hpp"
#include "filters/walls.hpp"

namespace genista {

adaptive_bloom_filter::adaptive_bloom_filter(std::unique_ptr<adaptive_bloom::core> core) noexcept
    : core_{std::move(core)} {}
adaptive_bloom_filter::adaptive_bloom_filter(adaptive_bloom_filter&&) noexcept = default;
adaptive_bloom_filter& adaptive_bloom_filter::operator=(adaptive_bloom_filter&&) noexcept = default;
adaptive_bloom_filter::~adaptive_bloom_filter() = default;

result<adaptive_bloom_filter> adaptive_bloom_filter::make(const adaptive_bloom_options& options) noexcept {
    const filter_options common{options.capacity, options.false_positive_rate, options.hash};
    if (const auto checked = check_options(name, common, adaptive_bloom::least_rate); !checked) return checked.error();
    if (options.capacity > adaptive_bloom::most_keys)
        return error::make(error_code::invalid_argument, "adaptive_bloom: capacity %llu, allowed are 1 to 2^36",
                           static_cast<unsigned long long>(options.capacity));
    const auto hash = hasher_from(common);
    if (!hash) return hash.error();
    const auto seed = seed_of_chance(options.random);
    if (!seed) return seed.error();
    return without_throwing(name, [&]() -> result<adaptive_bloom_filter> {
        auto made = adaptive_bloom::core::make(
            {.sizes = adaptive_bloom::design_for(options.capacity, options.false_positive_rate),
             .hash = *hash,
             .seed = *seed});
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

bool adaptive_bloom_filter::contains(const digest& d) const noexcept {
    return core_->contains(d);
}
result<insert_outcome> adaptive_bloom_filter::insert_from(const hashed_key& key, index_source& source) noexcept {
    return without_throwing(name, [&] { return core_->insert(key, source); });
}
result<adapt_outcome> adaptive_bloom_filter::adapt_from(const hashed_key& key, index_source& source) noexcept {
    return without_throwing(name, [&] { return core_->adapt(key, source); });
}
result<void> adaptive_bloom_filter::rebuild_from(index_source& source) noexcept {
    return without_throwing(name, [&] { return core_->rebuild(source); });
}
result<void> adaptive_bloom_filter::audit_from(index_source& source) const noexcept {
    return without_throwing(name, [&] { return core_->audit(source); });
}
result<void> adaptive_bloom_filter::save(sink& out) const noexcept {
    return without_throwing(name, [&] { return core_->save(out); });
}

double adaptive_bloom_filter::rate() const noexcept {
    return core_->rate();
}
filter_stats adaptive_bloom_filter::stats() const noexcept {
    return core_->stats();
}
adaptive_bloom_details adaptive_bloom_filter::details() const {
    return core_->details();
}
const hasher& adaptive_bloom_filter::hash() const noexcept {
    return core_->hash();
}
adaptive_bloom_path adaptive_bloom_filter::path_of(const digest& d) const noexcept {
    return core_->path_of(d);
}

result<std::uint64_t> adaptive_bloom_filter::bits_for(std::uint64_t capacity, double rate) noexcept {
    if (const auto checked = check_options(name, {capacity, rate, std::nullopt}, adaptive_bloom::least_rate); !checked)
        return checked.error();
    if (capacity > adaptive_bloom::most_keys)
        return error::make(error_code::invalid_argument, "adaptive_bloom: capacity %llu, allowed are 1 to 2^36",
                           static_cast<unsigned long long>(capacity));
    return 8 * adaptive_bloom::design_for(capacity, rate).bytes();
}

}  // namespace genista
