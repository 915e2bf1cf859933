// The timed loops, once for every filter: any type with the vocabulary of filters/filter.hpp becomes a subject.
//
// The loops are what a careful user would write: independent look-ups one after another, so that a processor overlaps
// their cache misses by itself, and batches of batch_size keys.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "bench/subject.hpp"

namespace genista::tool::bench {

template <class Filter>
std::uint64_t count_each_in(const Filter& filter, std::span<const std::uint64_t> keys) {
    std::uint64_t positives = 0;
    for (const std::uint64_t key : keys) positives += filter.may_contain(key) ? 1u : 0u;
    return positives;
}

template <class Filter>
std::uint64_t count_batch_in(const Filter& filter, std::span<const std::uint64_t> keys) {
    std::array<std::uint64_t, words_for(batch_size)> answers{};
    std::uint64_t positives = 0;
    while (!keys.empty()) {
        const std::size_t count = std::min(keys.size(), batch_size);
        const std::size_t words = words_for(count);
        filter.may_contain(keys.first(count), std::span{answers}.first(words));
        // Bits beyond the last key are nobody's answer.
        if (count % 64 != 0) answers[words - 1] &= (std::uint64_t{1} << (count % 64)) - 1;
        for (std::size_t w = 0; w < words; ++w) positives += static_cast<std::uint64_t>(std::popcount(answers[w]));
        keys = keys.subspan(count);
    }
    return positives;
}

template <local_filter Filter>
class filter_subject final : public subject {
  public:
    explicit filter_subject(const filter_options& options) : options_{options} {}

    [[nodiscard]] std::uint64_t count_each(std::span<const std::uint64_t> keys) const override {
        return count_each_in(*filter_, keys);
    }
    [[nodiscard]] std::uint64_t count_batch(std::span<const std::uint64_t> keys) const override {
        return count_batch_in(*filter_, keys);
    }

    [[nodiscard]] std::string_view name() const noexcept override { return Filter::name; }
    [[nodiscard]] filter_stats stats() const override { return filter_->stats(); }

    result<void> empty() override {
        result<Filter> made = Filter::make(options_);
        if (!made) return made.error();
        filter_.emplace(std::move(*made));
        return {};
    }

    [[nodiscard]] std::uint64_t insert(std::span<const std::uint64_t> keys) override {
        std::uint64_t refused = 0;
        for (const std::uint64_t key : keys) refused += filter_->insert(key) == insert_outcome::full ? 1u : 0u;
        return refused;
    }

    [[nodiscard]] bool can_erase() const noexcept override { return locally_erasable_filter<Filter>; }
    [[nodiscard]] std::uint64_t erase([[maybe_unused]] std::span<const std::uint64_t> keys) override {
        std::uint64_t erased = 0;
        if constexpr (locally_erasable_filter<Filter>) {
            for (const std::uint64_t key : keys) erased += filter_->erase(key) == erase_outcome::erased ? 1u : 0u;
        } else {
            assert(can_erase());  // a caller's bug
        }
        return erased;
    }

  private:
    filter_options options_;
    std::optional<Filter> filter_;  // engaged after the first empty(), which the registry calls
};

}  // namespace genista::tool::bench
