// A filter that is built from all its keys at once, as a subject: inserts collect them, and the last one is followed by the build, on one
// thread. Both are on the clock, so that "insert" is what a key costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/filter_subject.hpp"

namespace genista::tool::bench {

// Options come from filter_options by way of the registry; Filter::build(options, keys, values) with no values: a set.
template <membership_filter Filter, class Options>
class built_subject final : public subject {
  public:
    built_subject(const Options& options, std::uint64_t capacity) : options_{options}, capacity_{capacity} {}

    [[nodiscard]] std::uint64_t count_each(std::span<const std::uint64_t> keys) const override {
        return count_each_in(*filter_, keys);
    }
    [[nodiscard]] std::uint64_t count_batch(std::span<const std::uint64_t> keys) const override {
        return count_batch_in(*filter_, keys);
    }

    [[nodiscard]] std::string_view name() const noexcept override { return Filter::name; }
    [[nodiscard]] filter_stats stats() const override { return filter_->stats(); }
    // The keys here, their digests there, and the filter itself, which is empty yet.
    [[nodiscard]] std::uint64_t building_bytes() const override { return 32 * capacity_; }

    result<void> empty() override {
        result<Filter> made = Filter::build(options_, std::span<const std::uint64_t>{}, {});
        if (!made) return made.error();
        filter_.emplace(std::move(*made));
        collected_.clear();
        collected_.reserve(static_cast<std::size_t>(capacity_));
        return {};
    }

    [[nodiscard]] std::uint64_t insert(std::span<const std::uint64_t> keys) override {
        collected_.insert(collected_.end(), keys.begin(), keys.end());
        return 0;
    }
    [[nodiscard]] std::uint64_t finish_inserts() override {
        result<Filter> made = Filter::build(options_, std::span<const std::uint64_t>{collected_}, {});
        const std::uint64_t refused = made ? 0 : collected_.size();
        if (made) filter_.emplace(std::move(*made));
        collected_ = {};
        return refused;
    }

    [[nodiscard]] bool can_erase() const noexcept override { return false; }
    [[nodiscard]] std::uint64_t erase(std::span<const std::uint64_t>) override { return 0; }
    [[nodiscard]] update_counts mixed(const mixed_work&) override { return {}; }

  private:
    Options options_;
    std::uint64_t capacity_;
    std::optional<Filter> filter_;  // engaged after the first empty(), which the registry calls
    std::vector<std::uint64_t> collected_;
};

}  // namespace genista::tool::bench
