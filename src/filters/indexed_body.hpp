// indexed_body: the definitions (genista/detail/filters/index_surface.hpp), and what making a
// filter with an index begins with. Included by the file that instantiates the body of its filter.
#pragma once

#include <bit>
#include <utility>

#include "filters/common.hpp"
#include "genista/detail/filters/index_surface.hpp"

namespace genista {

// REQUIRES: most_keys is a power of two.
[[nodiscard]] inline result<void> check_indexed(std::string_view name, std::uint64_t capacity, double rate,
                                                double least_rate, std::uint64_t most_keys) noexcept {
    if (const auto checked = check_options(name, {capacity, rate, std::nullopt}, least_rate); !checked) return checked;
    if (capacity > most_keys)
        return error::make(error_code::invalid_argument, "%.*s: capacity %llu, allowed are 1 to 2^%d",
                           static_cast<int>(name.size()), name.data(), static_cast<unsigned long long>(capacity),
                           std::countr_zero(most_keys));
    return {};
}

// Where a filter with an index begins: its hash, and the seed of its random choices.
struct indexed_beginnings {
    hasher hash;
    std::uint64_t seed = 0;
};
template <class Options>
[[nodiscard]] result<indexed_beginnings> begin_indexed(std::string_view name, const Options& options, double least_rate,
                                                       std::uint64_t most_keys) noexcept {
    const auto checked = check_indexed(name, options.capacity, options.false_positive_rate, least_rate, most_keys);
    if (!checked) return checked.error();
    const auto hash = hasher_from({options.capacity, options.false_positive_rate, options.hash});
    if (!hash) return hash.error();
    const auto seed = seed_of_chance(options.random);
    if (!seed) return seed.error();
    return indexed_beginnings{*hash, *seed};
}

template <class Core>
indexed_body<Core>::indexed_body(std::unique_ptr<Core> made) noexcept : core_{std::move(made)} {}
template <class Core>
indexed_body<Core>::indexed_body(indexed_body&&) noexcept = default;
template <class Core>
indexed_body<Core>& indexed_body<Core>::operator=(indexed_body&&) noexcept = default;
template <class Core>
indexed_body<Core>::~indexed_body() = default;

template <class Core>
bool indexed_body<Core>::contains(const digest& d) const noexcept {
    return core_->contains(d);
}
template <class Core>
result<insert_outcome> indexed_body<Core>::insert(const hashed_key& key, index_source& source) noexcept {
    return without_throwing(Core::name, [&] { return core_->insert(key, source); });
}
template <class Core>
result<adapt_outcome> indexed_body<Core>::adapt(const hashed_key& key, index_source& source) noexcept {
    return without_throwing(Core::name, [&] { return core_->adapt(key, source); });
}
template <class Core>
result<void> indexed_body<Core>::rebuild(index_source& source) noexcept {
    return without_throwing(Core::name, [&] { return core_->rebuild(source); });
}
template <class Core>
result<void> indexed_body<Core>::audit(index_source& source) const noexcept {
    return without_throwing(Core::name, [&] { return core_->audit(source); });
}
template <class Core>
result<erase_outcome> erasing_indexed_body<Core>::erase(const hashed_key& key, index_source& source) noexcept {
    return without_throwing(Core::name, [&] { return this->core_->erase(key, source); });
}
template <class Core>
result<erase_outcome> erasing_indexed_body<Core>::forget(const hashed_key& key, index_source& source) noexcept {
    return without_throwing(Core::name, [&] { return this->core_->forget(key, source); });
}

template <class Core>
double indexed_body<Core>::rate() const noexcept {
    return core_->rate();
}
template <class Core>
filter_stats indexed_body<Core>::stats() const noexcept {
    return core_->stats();
}
template <class Core>
const hasher& indexed_body<Core>::hash() const noexcept {
    return core_->hash();
}

}  // namespace genista
