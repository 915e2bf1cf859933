// A filter that is built from all its keys at once, as a subject: inserts collect them, and the
// last one is followed by the build, on one thread. Both are on the clock, so that "insert" is what
// a key costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/filter_subject.hpp"

namespace genista::tool::bench {

// Options come from filter_options by way of the registry; Filter::build(options, keys, values)
// with no values: a set.
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
