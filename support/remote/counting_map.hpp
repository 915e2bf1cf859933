// counting_map: wraps any R, an index too, and counts the calls that would cross the network: the
// measure by which filters are compared here.
//
// "Count remote reads first, then bits, then time": a filter with too many remote reads is slow
// whatever its speed in memory. The wrapper changes no answer. It refers to the wrapped map, which
// must outlive it: several filters may share one R, each with its own wrapper. A call that fails
// costs its round trip too, so it is counted among the calls of its kind and also among `failures`.
//
// Threads: as the wrapped map; counters are atomic, each one exact. counts() reads them one by one,
// so counts read while calls run may include only some of a call's counters.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "genista/base/result.hpp"
#include "genista/hash/key.hpp"
#include "genista/remote/remote.hpp"

namespace genista {

struct remote_counts {
    std::uint64_t range_reads = 0;        // for_each
    std::uint64_t point_reads = 0;        // contains
    std::uint64_t keys_visited = 0;       // records passed to visitors
    std::uint64_t key_bytes_visited = 0;  // and the bytes of their keys (digests are 16 more each)
    std::uint64_t puts = 0;
    std::uint64_t erases = 0;
    std::uint64_t batches = 0;          // apply, whatever the number of changes
    std::uint64_t records_changed = 0;  // the changes of these calls
    std::uint64_t range_erases = 0;     // erase_range
    std::uint64_t failures = 0;         // calls of any kind that returned an error

    friend constexpr bool operator==(const remote_counts&, const remote_counts&) noexcept = default;
};

template <remote_map R>
class counting_map {
  public:
    explicit counting_map(R& counted) noexcept : inner_{counted} {}
    counting_map(const counting_map&) = delete;
    counting_map& operator=(const counting_map&) = delete;
    ~counting_map() = default;

    result<bool> put(const digest& where, key_view key) {
        add(puts_, 1);
        return noted(inner_.put(where, key));
    }

    result<bool> erase(const digest& where, key_view key) {
        add(erases_, 1);
        return noted(inner_.erase(where, key));
    }

    result<bool> contains(const digest& where, key_view key) {
        add(point_reads_, 1);
        return noted(inner_.contains(where, key));
    }

    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first_position, std::uint64_t last_position, Visit&& visit) {
        add(range_reads_, 1);
        visit_counts counts{*this};
        return noted(inner_.for_each(first_position, last_position, [&](const digest& where, key_view key) -> bool {
            ++counts.keys;
            counts.key_bytes += key.size;
            return visit(where, key);
        }));
    }

    result<void> apply(std::span<const record_change> changes) requires batched_map<R> {
        add(batches_, 1);
        add(records_changed_, changes.size());
        return noted(inner_.apply(changes));
    }

    result<void> erase_range(std::uint64_t first_position, std::uint64_t last_position) requires batched_map<R> {
        add(range_erases_, 1);
        return noted(inner_.erase_range(first_position, last_position));
    }

    [[nodiscard]] remote_counts counts() const noexcept {
        return {.range_reads = range_reads_.load(std::memory_order_relaxed),
                .point_reads = point_reads_.load(std::memory_order_relaxed),
                .keys_visited = keys_visited_.load(std::memory_order_relaxed),
                .key_bytes_visited = key_bytes_visited_.load(std::memory_order_relaxed),
                .puts = puts_.load(std::memory_order_relaxed),
                .erases = erases_.load(std::memory_order_relaxed),
                .batches = batches_.load(std::memory_order_relaxed),
                .records_changed = records_changed_.load(std::memory_order_relaxed),
                .range_erases = range_erases_.load(std::memory_order_relaxed),
                .failures = failures_.load(std::memory_order_relaxed)};
    }

    // A call that is under way may be counted before or after the reset.
    void reset() noexcept {
        for (counter* each : {&range_reads_, &point_reads_, &keys_visited_, &key_bytes_visited_, &puts_, &erases_,
                              &batches_, &records_changed_, &range_erases_, &failures_}) {
            each->store(0, std::memory_order_relaxed);
        }
    }

  private:
    using counter = std::atomic<std::uint64_t>;

    // Adds up one visit locally, so that a range of many keys costs two atomic additions. The
    // destructor adds them also if a visitor throws.
    struct visit_counts {
        counting_map& owner;
        std::uint64_t keys = 0;
        std::uint64_t key_bytes = 0;

        explicit visit_counts(counting_map& map) noexcept : owner{map} {}
        visit_counts(const visit_counts&) = delete;
        visit_counts& operator=(const visit_counts&) = delete;
        ~visit_counts() {
            add(owner.keys_visited_, keys);
            add(owner.key_bytes_visited_, key_bytes);
        }
    };

    static void add(counter& to, std::uint64_t amount) noexcept { to.fetch_add(amount, std::memory_order_relaxed); }

    template <class Result>
    Result noted(Result outcome) noexcept {
        if (!outcome) add(failures_, 1);
        return outcome;
    }

    R& inner_;
    counter range_reads_{0}, point_reads_{0}, keys_visited_{0}, key_bytes_visited_{0}, puts_{0}, erases_{0},
        batches_{0}, records_changed_{0}, range_erases_{0}, failures_{0};
};

}  // namespace genista
