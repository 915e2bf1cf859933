// adaptive_subject: a filter that works beside a remote map, as a subject. R is a sorted array in
// RAM, with an index beside it if the filter needs one (subject_remote.hpp); what is spent inside R
// is taken off the clock (clocked_map.hpp). A filter without an erase has neither that figure nor a
// mix. A filter that inserts all keys again after n queries pays for that in "adapt".
#pragma once

#include <cassert>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "bench/filter_subject.hpp"
#include "bench/subject_remote.hpp"
#include "genista/filters/adaptive_bloom.hpp"

namespace genista::tool::bench {

// Learns: false for a filter that reads R and does not learn from false positives. Locks: false for
// one that a single thread may change at a time.
template <class Filter, class Options, bool Learns = true, bool Locks = true>
class adaptive_subject final : public subject_of<Filter> {
  public:
    explicit adaptive_subject(const Options& options) : options_{options} {}

    void announce(const std::shared_ptr<const flat_records>& records) override {
        remote_.reset();
        if (records != nullptr) remote_.emplace(records);
    }
    result<void> empty() override {
        if (auto made = this->take(Filter::make(options_)); !made) return made;
        if (remote_) remote_->store().clear();
        if constexpr (needs_index<Filter>) {
            if (remote_) remote_->clear_index();
        }
        return {};
    }

    // The store commits first. That is not the filter's time.
    void before_insert(std::span<const std::uint64_t> keys) override {
        [[maybe_unused]] const std::uint64_t unknown = remote_->store().put_all(filter_->hash(), keys);
        assert(unknown == 0);
    }
    [[nodiscard]] std::uint64_t insert(std::span<const std::uint64_t> keys) override {
        std::uint64_t refused = 0;
        for (const std::uint64_t key : keys) refused += insert_one(key) ? 0u : 1u;
        return refused;
    }

    [[nodiscard]] bool inserts_in_batches() const noexcept override { return takes_batches; }
    [[nodiscard]] bool erases_in_batches() const noexcept override { return takes_batches; }
    [[nodiscard]] std::uint64_t insert_batch(std::span<const std::uint64_t> keys) override {
        std::uint64_t inserted = 0;
        if constexpr (takes_batches) {
            inserted = sum_of_batches(keys, [this](auto part) { return filter_->insert(part, remote_->remote()); });
        }
        return keys.size() - inserted;
    }
    [[nodiscard]] std::uint64_t erase_batch(std::span<const std::uint64_t> keys) override {
        std::uint64_t erased = 0;
        if constexpr (takes_batches) {
            erased = sum_of_batches(
                keys, [this](auto part) { return filter_->erase(part, remote_->remote(), assume_present); });
        }
        return erased;
    }

    [[nodiscard]] bool can_erase() const noexcept override { return erases; }
    [[nodiscard]] std::uint64_t erase(std::span<const std::uint64_t> keys) override {
        std::uint64_t erased = 0;
        for (const std::uint64_t key : keys) erased += erase_one(key) ? 1u : 0u;
        return erased;
    }

    [[nodiscard]] bool many_writers() const noexcept override { return Locks; }
    // The store commits each key just before its insert, on R's time: keys committed ahead would be
    // stored keys that the filter lacks.
    [[nodiscard]] update_counts mixed(const mixed_work& work) override {
        const auto commit_and_insert = [this](std::uint64_t key) {
            remote_->clock().timed([&] { return remote_->store().put_all(filter_->hash(), {&key, 1}); });
            return insert_one(key);
        };
        return run_mixed(
            work, [this](std::uint64_t key) { return filter_->may_contain(key); }, commit_and_insert,
            [this](std::uint64_t key) { return erase_one(key); });
    }

    [[nodiscard]] bool asks_remote() const noexcept override { return true; }
    [[nodiscard]] std::uint64_t slot_bytes() const override {
        constexpr std::uint64_t bytes_a_slot = 9;  // a key and a bit
        if constexpr (needs_slots<Filter>) return bytes_a_slot * filter_->shape().slots();
        return 0;
    }

    // The index in R is not part of an array: about 36 bytes a record (memory_map.hpp).
    [[nodiscard]] std::uint64_t building_bytes() const override {
        std::uint64_t records = needs_index<Filter> ? options_.capacity : 0;
        if constexpr (std::is_same_v<Filter, adaptive_bloom_filter>) {
            records *= filter_->details().levels.front().functions;  // one for each cell that a key uses
        }
        return 36 * records;
    }

    [[nodiscard]] bool can_adapt() const noexcept override { return Learns; }
    [[nodiscard]] std::uint64_t adapt(std::span<const std::uint64_t> keys) override {
        std::uint64_t fixed = 0;
        for (const std::uint64_t key : keys) {
            const auto outcome = filter_->adapt(key, remote_->remote());
            // A renewal of its bin for another key may have repaired it.
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
    [[nodiscard]] std::uint64_t remote_slot_reads() const noexcept override {
        return remote_meter::of_this_thread().slot_reads;
    }

  private:
    using subject_of<Filter>::filter_;
    using remote_type = std::remove_reference_t<decltype(std::declval<remote_for<Filter>&>().remote())>;
    static constexpr bool takes_batches =
        requires(Filter & filter, std::span<const std::uint64_t> keys, remote_type& remote) {
        filter.insert(keys, remote);
        filter.erase(keys, remote, assume_present);
    };
    static constexpr bool erases = requires(Filter & filter, std::uint64_t key, remote_type& remote) {
        filter.erase(key, remote);
    };

    // Applied to the result of update(part).
    template <class Update>
    [[nodiscard]] static std::uint64_t sum_of_batches(std::span<const std::uint64_t> keys, const Update& update) {
        std::uint64_t sum = 0;
        for (std::size_t first = 0; first < keys.size(); first += batch_size) {
            const auto done = update(keys.subspan(first, std::min(batch_size, keys.size() - first)));
            sum += done ? *done : 0;
        }
        return sum;
    }

    [[nodiscard]] bool insert_one(std::uint64_t key) {
        const auto outcome = filter_->insert(key, remote_->remote());
        return outcome && *outcome != insert_outcome::full;
    }
    [[nodiscard]] bool erase_one([[maybe_unused]] std::uint64_t key) {
        assert(can_erase());  // or a caller's bug
        // Like the erase of the local filters, where the filter has assume_present: the caller
        // guarantees that the key was stored.
        const auto outcome = [&]() -> result<erase_outcome> {
            if constexpr (takes_batches)
                return filter_->erase(key, remote_->remote(), assume_present);
            else if constexpr (erases)
                return filter_->erase(key, remote_->remote());
            else
                return erase_outcome::absent;
        }();
        return outcome && *outcome == erase_outcome::erased;
    }

    Options options_;
    std::optional<remote_for<Filter>> remote_;  // engaged by announce()
};

}  // namespace genista::tool::bench
