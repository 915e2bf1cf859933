// The daisy filters under the clock, with probabilities that are not uniform: four groups of keys,
// each with its share of the stored keys and of the queries.
//
//     group     0      1      2      3          2^40 keys each, alike within it
//     stored    0.60   0.30   0.09   0.01
//     queried   0.01   0.09   0.30   0.60
//
// The run's keys stand for draws from these groups: a stored key belongs to a group by the first
// row, an absent one by the second, chosen by the key itself. The plan is tuned to the run's rate
// (plan_tuned), so that `fpr` compares with the other filters'. An exact oracle has each key's
// probabilities. It is called before the clock runs (before_lookups); its time is a separate
// figure, oracle_ns.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/filter_subject.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"

namespace genista::tool::bench {

inline constexpr double daisy_group_keys = 0x1p40;
inline constexpr std::array<odds_group, 4> daisy_groups = {{
    {{0.60 / daisy_group_keys, 0.01 / daisy_group_keys}, daisy_group_keys},
    {{0.30 / daisy_group_keys, 0.09 / daisy_group_keys}, daisy_group_keys},
    {{0.09 / daisy_group_keys, 0.30 / daisy_group_keys}, daisy_group_keys},
    {{0.01 / daisy_group_keys, 0.60 / daisy_group_keys}, daisy_group_keys},
}};

// Which one: its name in tables, its type, and how a plan becomes one.
template <bool Blocked>
struct daisy_bloom_at {
    static constexpr std::string_view name = Blocked ? "daisy_bloom_blocked" : "daisy_bloom";
    using filter = daisy_bloom_filter;
    static result<filter> make(const daisy_plan& plan, const std::optional<hasher>& hash) {
        return filter::make({.plan = plan, .hash = hash, .blocked = Blocked});
    }
};
struct daisy_fingerprint_at {
    static constexpr std::string_view name = daisy_fingerprint_filter::name;
    using filter = daisy_fingerprint_filter;
    static result<filter> make(const daisy_plan& plan, const std::optional<hasher>& hash) {
        return filter::make({.plan = plan, .hash = hash});
    }
};

template <class Which>
class daisy_subject final : public subject {
  public:
    explicit daisy_subject(const filter_options& options) : options_{options} {}

    [[nodiscard]] std::string_view name() const noexcept override { return Which::name; }
    [[nodiscard]] filter_stats stats() const override { return filter_->stats(); }

    result<void> empty() override {
        const daisy_terms terms{static_cast<double>(options_.capacity), options_.false_positive_rate};
        const auto plan = plan_tuned(terms, [](const daisy_terms& at) { return plan_for_groups(at, daisy_groups); });
        if (!plan) return plan.error();
        auto made = Which::make(*plan, options_.hash);
        if (!made) {
            return error::make(made.error().code(), "%.*s at the rate %.9g: %s", static_cast<int>(Which::name.size()),
                               Which::name.data(), options_.false_positive_rate,
                               std::string{made.error().message()}.c_str());
        }
        filter_.emplace(*std::move(made));
        return {};
    }

    void before_insert(std::span<const std::uint64_t> keys) override { before_lookups(keys, true); }
    [[nodiscard]] std::uint64_t insert(std::span<const std::uint64_t> keys) override {
        const std::span<const std::uint8_t> classes = classes_of(keys);
        std::uint64_t refused = 0;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            refused += filter_->insert(keys[i], classes[i]) == insert_outcome::full ? 1u : 0u;
        }
        return refused;
    }

    void before_lookups(std::span<const std::uint64_t> keys, bool stored) const override {
        classes_.resize(keys.size());
        const auto begin = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const key_odds& odds = daisy_groups[group_of(keys[i], stored)].each;
            classes_[i] = static_cast<std::uint8_t>(daisy_class(odds, filter_->terms()));
        }
        const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
        first_key_ = keys.data();
        if (keys.size() < least_timed) return;
        const double ns = spent.count() / static_cast<double>(keys.size());
        oracle_ns_ = oracle_ns_ ? std::min(*oracle_ns_, ns) : ns;
    }
    [[nodiscard]] std::optional<double> oracle_ns() const override { return oracle_ns_; }

    [[nodiscard]] std::uint64_t count_each(std::span<const std::uint64_t> keys) const override {
        const std::span<const std::uint8_t> classes = classes_of(keys);
        std::uint64_t positives = 0;
        for (std::size_t i = 0; i < keys.size(); ++i) positives += filter_->may_contain(keys[i], classes[i]) ? 1u : 0u;
        return positives;
    }
    [[nodiscard]] std::uint64_t count_batch(std::span<const std::uint64_t> keys) const override {
        return count_batch_in(with_classes{*filter_, keys, classes_of(keys)}, keys);
    }

  private:
    using filter_type = typename Which::filter;
    static constexpr std::size_t least_timed = 10'000;

    // What count_batch_in asks: batches of `keys`, whose classes lie beside them.
    struct with_classes {
        const filter_type& filter;
        std::span<const std::uint64_t> all;
        std::span<const std::uint8_t> classes;
        void may_contain(std::span<const std::uint64_t> keys, std::span<std::uint64_t> out_bits) const {
            const auto first = static_cast<std::size_t>(keys.data() - all.data());
            filter.may_contain(keys, classes.subspan(first, keys.size()), out_bits);
        }
    };

    // By bits of the key that the key_source has mixed well.
    static std::size_t group_of(std::uint64_t key, bool stored) {
        const auto percent = static_cast<unsigned>((key >> 32) * 100 >> 32);
        const std::array<unsigned, 3> up_to = stored ? std::array{60u, 90u, 99u} : std::array{1u, 10u, 40u};
        return static_cast<std::size_t>(percent >= up_to[0]) + static_cast<std::size_t>(percent >= up_to[1]) +
               static_cast<std::size_t>(percent >= up_to[2]);
    }

    // Those of a part of the keys that before_lookups() was given last.
    std::span<const std::uint8_t> classes_of(std::span<const std::uint64_t> keys) const {
        assert(keys.data() >= first_key_ && keys.data() + keys.size() <= first_key_ + classes_.size());
        return std::span{classes_}.subspan(static_cast<std::size_t>(keys.data() - first_key_), keys.size());
    }

    filter_options options_;
    std::optional<filter_type> filter_;  // engaged after the first empty(), which the registry calls
    mutable std::vector<std::uint8_t> classes_;
    mutable const std::uint64_t* first_key_ = nullptr;
    mutable std::optional<double> oracle_ns_;
};

}  // namespace genista::tool::bench
