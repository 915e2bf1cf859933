// adaptive_subject: a filter that works beside a remote map, as a subject. R is a tree in RAM; what is spent inside R is taken
// off the clock, so that the times are the filter's own, whatever the store behind it will be.
#pragma once

#include <cassert>
#include <optional>
#include <vector>

#include "bench/clock.hpp"
#include "bench/filter_subject.hpp"
#include "genista/remote/memory_map.hpp"

namespace genista::tool::bench {

// Any R, with a clock around it.
template <remote_map R>
class clocked_map {
  public:
    explicit clocked_map(R& inner) noexcept : inner_{inner} {}

    result<bool> put(const digest& where, key_view key) {
        return timed([&] { return inner_.put(where, key); });
    }
    result<bool> erase(const digest& where, key_view key) {
        return timed([&] { return inner_.erase(where, key); });
    }
    result<bool> contains(const digest& where, key_view key) {
        return timed([&] { return inner_.contains(where, key); });
    }
    // Visits are the filter's work, the walk is R's: the records are copied out first, on R's time.
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        seen_.clear();
        const result<void> read = timed([&] {
            return inner_.for_each(first, last, [&](const digest& at, key_view key) {
                seen_.push_back({at, {key.data, key.data + key.size}});
                return true;
            });
        });
        for (const record& each : seen_) {
            if (!visit(each.at, key_view{each.key.data(), each.key.size()})) break;
        }
        return read;
    }

    [[nodiscard]] clock::duration spent() const noexcept { return spent_; }

  private:
    struct record {
        digest at;
        std::vector<std::byte> key;
    };
    template <class Call>
    auto timed(const Call& call) {
        const auto begin = clock::now();
        auto answer = call();
        spent_ += clock::now() - begin;
        return answer;
    }

    R& inner_;
    clock::duration spent_{};
    std::vector<record> seen_;
};

template <class Filter, class Options>
class adaptive_subject final : public subject {
  public:
    explicit adaptive_subject(const Options& options) : options_{options} {}

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
        filter_.emplace(*std::move(made));
        store_.emplace();
        remote_.emplace(*store_);
        return {};
    }

    // The store commits first, and that is not the filter's time.
    void before_insert(std::span<const std::uint64_t> keys) override {
        for (const std::uint64_t key : keys) {
            (void)store_->put(filter_->hash()(key), key_view{reinterpret_cast<const std::byte*>(&key), sizeof key});
        }
    }
    [[nodiscard]] std::uint64_t insert(std::span<const std::uint64_t> keys) override {
        std::uint64_t refused = 0;
        for (const std::uint64_t key : keys) {
            const auto outcome = filter_->insert(key, *remote_);
            refused += !outcome || *outcome == insert_outcome::full ? 1u : 0u;
        }
        return refused;
    }

    [[nodiscard]] bool can_erase() const noexcept override { return true; }
    [[nodiscard]] std::uint64_t erase(std::span<const std::uint64_t> keys) override {
        std::uint64_t erased = 0;
        for (const std::uint64_t key : keys) {
            const auto outcome = filter_->erase(key, *remote_);
            erased += outcome && *outcome == erase_outcome::erased ? 1u : 0u;
        }
        return erased;
    }

    [[nodiscard]] bool can_adapt() const noexcept override { return true; }
    [[nodiscard]] std::uint64_t adapt(std::span<const std::uint64_t> keys) override {
        std::uint64_t fixed = 0;
        for (const std::uint64_t key : keys) {
            const auto outcome = filter_->adapt(key, *remote_);
            // One may have gone with the renewal of its bin for another.
            fixed += outcome && *outcome != adapt_outcome::true_positive ? 1u : 0u;
        }
        return fixed;
    }
    [[nodiscard]] std::vector<std::uint64_t> false_positives(std::span<const std::uint64_t> absent) const override {
        std::vector<std::uint64_t> found;
        for (const std::uint64_t key : absent) {
            if (filter_->may_contain(key)) found.push_back(key);
        }
        return found;
    }

    [[nodiscard]] clock::duration remote_time() const noexcept override { return remote_->spent(); }

  private:
    Options options_;
    std::optional<Filter> filter_;  // engaged after the first empty(), which the registry calls
    std::optional<memory_map> store_;
    std::optional<clocked_map<memory_map>> remote_;
};

}  // namespace genista::tool::bench
