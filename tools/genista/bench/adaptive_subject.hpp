// adaptive_subject: a filter that works beside a remote map, as a subject. R is a sorted array in
// RAM (flat_map.hpp); what is spent inside R is taken off the clock (clocked_map.hpp).
#pragma once

#include <cassert>
#include <memory>
#include <optional>
#include <vector>

#include "bench/clocked_map.hpp"
#include "bench/filter_subject.hpp"
#include "bench/flat_map.hpp"

namespace genista::tool::bench {

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

    void announce(const std::shared_ptr<const flat_records>& records) override {
        remote_.reset();
        store_.reset();
        if (records == nullptr) return;
        store_.emplace(records);
        remote_.emplace(*store_);
    }
    result<void> empty() override {
        result<Filter> made = Filter::make(options_);
        if (!made) return made.error();
        filter_.emplace(*std::move(made));
        if (store_) store_->clear();
        return {};
    }

    // The store commits first, and that is not the filter's time.
    void before_insert(std::span<const std::uint64_t> keys) override {
        [[maybe_unused]] const std::uint64_t unknown = store_->put_all(filter_->hash(), keys);
        assert(unknown == 0);
    }
    [[nodiscard]] std::uint64_t insert(std::span<const std::uint64_t> keys) override {
        std::uint64_t refused = 0;
        for (const std::uint64_t key : keys) refused += insert_one(key) ? 0u : 1u;
        return refused;
    }

    [[nodiscard]] bool updates_in_batches() const noexcept override { return true; }
    [[nodiscard]] std::uint64_t insert_batch(std::span<const std::uint64_t> keys) override {
        std::uint64_t inserted = 0;
        for (std::size_t first = 0; first < keys.size(); first += batch_size) {
            const auto part = keys.subspan(first, std::min(batch_size, keys.size() - first));
            const auto done = filter_->insert(part, *remote_);
            inserted += done ? *done : 0;
        }
        return keys.size() - inserted;
    }
    [[nodiscard]] std::uint64_t erase_batch(std::span<const std::uint64_t> keys) override {
        std::uint64_t erased = 0;
        for (std::size_t first = 0; first < keys.size(); first += batch_size) {
            const auto part = keys.subspan(first, std::min(batch_size, keys.size() - first));
            const auto done = filter_->erase(part, *remote_, vouched);
            erased += done ? *done : 0;
        }
        return erased;
    }

    [[nodiscard]] bool can_erase() const noexcept override { return true; }
    [[nodiscard]] std::uint64_t erase(std::span<const std::uint64_t> keys) override {
        std::uint64_t erased = 0;
        for (const std::uint64_t key : keys) erased += erase_one(key) ? 1u : 0u;
        return erased;
    }

    [[nodiscard]] bool many_writers() const noexcept override { return true; }
    // Here the store commits each key when its turn has come, on R's time: committed ahead, the keys would be members
    // that the filter does not know yet.
    [[nodiscard]] update_counts mixed(const mixed_work& work) override {
        const auto commit_and_insert = [this](std::uint64_t key) {
            remote_->timed([&] { return store_->put_all(filter_->hash(), {&key, 1}); });
            return insert_one(key);
        };
        return run_mixed(
            work, [this](std::uint64_t key) { return filter_->may_contain(key); }, commit_and_insert,
            [this](std::uint64_t key) { return erase_one(key); });
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

    [[nodiscard]] std::chrono::steady_clock::duration remote_time() const noexcept override {
        return remote_meter::of_this_thread().spent;
    }
    [[nodiscard]] std::uint64_t remote_range_reads() const noexcept override {
        return remote_meter::of_this_thread().range_reads;
    }

  private:
    [[nodiscard]] bool insert_one(std::uint64_t key) {
        const auto outcome = filter_->insert(key, *remote_);
        return outcome && *outcome != insert_outcome::full;
    }
    [[nodiscard]] bool erase_one(std::uint64_t key) {
        // As the local filters' erase does: whoever erases knows that the key was stored.
        const auto outcome = filter_->erase(key, *remote_, vouched);
        return outcome && *outcome == erase_outcome::erased;
    }

    Options options_;
    std::optional<Filter> filter_;   // engaged after the first empty(), which the registry calls
    std::optional<flat_map> store_;  // engaged by announce()
    std::optional<clocked_map<flat_map>> remote_;
};

}  // namespace genista::tool::bench
