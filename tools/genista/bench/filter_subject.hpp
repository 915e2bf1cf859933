// The timed loops, once for every filter: any type with the vocabulary of filters/filter.hpp
// becomes a subject.
//
// The loops are those of a careful user: independent look-ups one after another, so that a
// processor overlaps their cache misses by itself, and batches of batch_size keys.
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
#include <vector>

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
        // Bits beyond the last key are no answers.
        if (count % 64 != 0) answers[words - 1] &= (std::uint64_t{1} << (count % 64)) - 1;
        for (std::size_t w = 0; w < words; ++w) positives += static_cast<std::uint64_t>(std::popcount(answers[w]));
        keys = keys.subspan(count);
    }
    return positives;
}

// lookup(key) -> bool, insert(key) -> bool (not refused), erase(key) -> bool (found), mixed as
// in mixed_work.
template <class Lookup, class Insert, class Erase>
update_counts run_mixed(const mixed_work& work, const Lookup& lookup, const Insert& insert, const Erase& erase) {
    update_counts counts;
    std::size_t looked_up = 0, updated = 0;
    std::uint64_t due = 0;  // in hundredths of an update
    for (std::uint64_t i = 0; i < work.operations; ++i) {
        due += work.update_percent;
        if (due < 100) {
            counts.positives += lookup(work.lookups[looked_up++]) ? 1u : 0u;
            continue;
        }
        due -= 100;
        const std::size_t pair = updated / 2;
        if (updated++ % 2 == 0)
            counts.refused += insert(work.inserts[pair]) ? 0u : 1u;
        else
            counts.lost += erase(work.erases[pair]) ? 0u : 1u;
    }
    return counts;
}

// Look-ups alone: `Held` has them, or is a reference to what has them.
template <class Held>
class reader_of final : public reader {
  public:
    explicit reader_of(Held held) : held_{std::forward<Held>(held)} {}

    [[nodiscard]] std::uint64_t count_each(std::span<const std::uint64_t> keys) const override {
        return count_each_in(held_, keys);
    }
    [[nodiscard]] std::uint64_t count_batch(std::span<const std::uint64_t> keys) const override {
        return count_batch_in(held_, keys);
    }

  private:
    Held held_;
};

// What all subjects begin with: the filter, and its look-ups.
template <class Filter>
class subject_of : public subject {
  public:
    [[nodiscard]] std::uint64_t count_each(std::span<const std::uint64_t> keys) const override {
        return count_each_in(*filter_, keys);
    }
    [[nodiscard]] std::uint64_t count_batch(std::span<const std::uint64_t> keys) const override {
        return count_batch_in(*filter_, keys);
    }
    [[nodiscard]] std::string_view name() const noexcept override { return Filter::name; }
    [[nodiscard]] filter_stats stats() const override { return filter_->stats(); }

  protected:
    // On failure the old one stays.
    [[nodiscard]] result<void> take(result<Filter> made) {
        if (!made) return made.error();
        filter_.emplace(*std::move(made));
        return {};
    }

    std::optional<Filter> filter_;  // engaged after the first empty(), which the registry calls
};

template <local_filter Filter>
class filter_subject final : public subject_of<Filter> {
  public:
    explicit filter_subject(const filter_options& options) : options_{options} {}

    result<void> empty() override { return this->take(Filter::make(options_)); }

    [[nodiscard]] std::uint64_t insert(std::span<const std::uint64_t> keys) override {
        std::uint64_t refused = 0;
        for (const std::uint64_t key : keys) refused += filter_->insert(key) == insert_outcome::full ? 1u : 0u;
        return refused;
    }

    [[nodiscard]] bool inserts_in_batches() const noexcept override { return true; }
    [[nodiscard]] std::uint64_t insert_batch(std::span<const std::uint64_t> keys) override {
        std::uint64_t inserted = 0;
        for (std::size_t first = 0; first < keys.size(); first += batch_size) {
            inserted += filter_->insert(keys.subspan(first, std::min(batch_size, keys.size() - first)));
        }
        return keys.size() - inserted;
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

    [[nodiscard]] update_counts mixed([[maybe_unused]] const mixed_work& work) override {
        if constexpr (locally_erasable_filter<Filter>) {
            return run_mixed(
                work, [this](std::uint64_t key) { return filter_->may_contain(key); },
                [this](std::uint64_t key) { return filter_->insert(key) != insert_outcome::full; },
                [this](std::uint64_t key) { return filter_->erase(key) == erase_outcome::erased; });
        } else {
            assert(can_erase());  // a caller's bug
            return {};
        }
    }

  private:
    using subject_of<Filter>::filter_;
    filter_options options_;
};

// A filter that is built from all its keys at once: inserts collect them, and the last one is
// followed by the build, on one thread. Both are on the clock, so that "insert" is what a key
// costs. Options come from filter_options by way of the registry; Filter::build(options, keys,
// values) with no values: a set.
template <membership_filter Filter, class Options>
class built_subject final : public subject_of<Filter> {
  public:
    built_subject(const Options& options, std::uint64_t capacity) : options_{options}, capacity_{capacity} {}

    // The keys, their digests, and the filter, which is still empty.
    [[nodiscard]] std::uint64_t building_bytes() const override { return 32 * capacity_; }

    result<void> empty() override {
        if (auto made = this->take(Filter::build(options_, std::span<const std::uint64_t>{}, {})); !made) return made;
        collected_.clear();
        collected_.reserve(static_cast<std::size_t>(capacity_));
        return {};
    }

    [[nodiscard]] std::uint64_t insert(std::span<const std::uint64_t> keys) override {
        collected_.insert(collected_.end(), keys.begin(), keys.end());
        return 0;
    }
    [[nodiscard]] std::uint64_t finish_inserts() override {
        const auto made = this->take(Filter::build(options_, std::span<const std::uint64_t>{collected_}, {}));
        const std::uint64_t refused = made ? 0 : collected_.size();
        collected_ = {};
        return refused;
    }

  private:
    Options options_;
    std::uint64_t capacity_;
    std::vector<std::uint64_t> collected_;
};

}  // namespace genista::tool::bench
