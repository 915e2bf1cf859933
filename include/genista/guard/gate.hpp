// gate: a filter with what it needs to stand before a store: doors for keys on their way in, repairs, counters.
//
// guarded.hpp puts it before any store with get, put and erase; a store with an interface of its own (RocksDB's batches,
// iterators, snapshots) calls the steps itself:
//
//     write    { entering in{gate, digests}; commit; gate.settle(key) for each key put, gate.forget(key) for each deleted }
//     query    if (!gate.may_contain(key, digest)) it is absent; else read the store, and if it is not there, gate.missed(key)
//
//   I1  A key in R is never denied: from the moment its commit is visible until the moment its removal is. Where the filter
//       cannot be told (failing store, no memory), the key's door stays open (doors.hpp).
//   I2  Nothing here writes to the store.
//
// Filters that learn (filter.hpp, adaptive_filter) are told of mistakes; others are only asked and filled. A Bloom filter keeps
// what was erased: it cannot forget, so those keys stay "maybe". Filters with an oracle are asked with key and digest, others with the digest.
//
// Threads: any number, whatever the filter; one that cannot stand them is locked.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "genista/filters/asked_with_key.hpp"
#include "genista/filters/filter.hpp"
#include "genista/guard/counters.hpp"
#include "genista/guard/doors.hpp"

namespace genista {

// When a mistake is repaired.
enum class adapting : unsigned char {
    on_read,        // before the query returns that found it: one range read more, once a mistake
    in_background,  // by a thread of the gate's own, soon
    off,            // never: to see what that costs
};

struct guard_options {
    adapting adapt = adapting::on_read;
    std::size_t queued_adapts = 1024;  // in the background; a mistake that finds the queue full waits for its next turn
};

template <class Filter, remote_map R>
class gate {
  public:
    static constexpr bool learns = adaptive_filter<Filter, R> || learning_with_key<Filter, R>;

    gate(Filter filter, R& remote, const guard_options& options = {})
        : filter_{std::move(filter)}, remote_{remote}, options_{options} {
        if (learns && options_.adapt == adapting::in_background) worker_ = std::thread{[this] { work(); }};
    }
    gate(const gate&) = delete;
    gate& operator=(const gate&) = delete;
    ~gate() {
        if (!worker_.joinable()) return;
        {
            const std::lock_guard held{queue_mutex_};
            stopping_ = true;
        }
        wake_.notify_all();
        worker_.join();
    }

    // The door first, the filter second (doors.hpp). `d` is hash()(key).
    [[nodiscard]] bool may_contain(key_view key, const digest& d) const noexcept {
        if (doors_.is_open(d)) return true;
        if constexpr (learns) {
            return asks(key, d);
        } else {
            const std::shared_lock held{filter_mutex_};
            return asks(key, d);
        }
    }

    // A write is on its way: from before the commit until everything is settled.
    class entering {
      public:
        entering(gate& through, const digest& d) noexcept : through_{through} { add(d); }
        explicit entering(gate& through) noexcept : through_{through} {}
        entering(const entering&) = delete;
        entering& operator=(const entering&) = delete;
        ~entering() {
            for (unsigned word = 0; word < inside_.size(); ++word) {
                for (std::uint64_t rest = inside_[word]; rest != 0; rest &= rest - 1) {
                    through_.doors_.leave(word * 64 + static_cast<unsigned>(std::countr_zero(rest)));
                }
            }
        }
        void add(const digest& d) noexcept {
            const unsigned door = doors::of(d);
            const std::uint64_t bit = std::uint64_t{1} << door % 64;
            if ((inside_[door / 64] & bit) != 0) return;
            through_.doors_.enter(door);
            inside_[door / 64] |= bit;
        }

      private:
        gate& through_;
        std::array<std::uint64_t, doors::number_of_doors / 64> inside_{};  // a batch enters each door once
    };

    // R holds the key, or may hold it (a commit that failed with unknown effect): the filter takes it, or its door jams. The
    // caller is inside the door. A key that R does not hold after all costs one false positive.
    void settle(key_view key) noexcept {
        tally_.count(guard_tally::put);
        if (bring_in(key)) return;
        tally_.count(guard_tally::late_insert);
        doors_.jam(doors::of(hash()(key)));
    }

    // R no longer holds the key.
    void forget(key_view key) noexcept {
        tally_.count(guard_tally::erase);
        if constexpr (learns) {
            if (!filter_.forget(key, remote_)) tally_.count(guard_tally::failed_adapt);
        }
    }

    // The filter let the key through and the store does not have it.
    void missed(const digest& d, key_view key) noexcept {
        tally_.count(guard_tally::wasted_read);
        if (tally_.wasted_before(d)) tally_.count(guard_tally::repeated_wasted_read);
        if constexpr (learns) {
            if (options_.adapt == adapting::on_read) adapt(key);
            if (options_.adapt == adapting::in_background) enqueue(key);
        }
    }

    // Brings in every key behind jammed doors. An error leaves the rest jammed.
    result<void> repair() noexcept try {
        for (unsigned door = 0; door < doors::number_of_doors; ++door) {
            if (!doors_.is_jammed(door)) continue;
            doors_.enter(door);
            doors_.free(door);
            const auto done = bring_in_all(doors::range_of(door));
            if (!done) doors_.jam(door);
            doors_.leave(door);
            if (!done) return done.error();
        }
        return {};
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "guard: no memory to repair a jammed door");
    }

    // A key waits behind some door for a repair.
    [[nodiscard]] bool any_jammed() const noexcept {
        for (unsigned door = 0; door < doors::number_of_doors; ++door) {
            if (doors_.is_jammed(door)) return true;
        }
        return false;
    }
    // A key waits for a repair, or a repair is bringing keys in: what is saved now would deny them. A repair frees its door
    // before it reads R, so that a jam which comes meanwhile stays; therefore jams alone do not tell. The caller has made sure that
    // no write is under way.
    [[nodiscard]] bool lacks_keys() const noexcept {
        for (unsigned door = 0; door < doors::number_of_doors; ++door) {
            if (doors_.is_open(door)) return true;
        }
        return false;
    }

    // Waits until every mistake seen so far has been looked at.
    void drain() noexcept {
        std::unique_lock held{queue_mutex_};
        idle_.wait(held, [this] { return (queue_.empty() && !busy_) || !worker_.joinable(); });
    }

    [[nodiscard]] guard_counters counters() const noexcept {
        guard_counters now = tally_.counters();
        for (unsigned door = 0; door < doors::number_of_doors; ++door)
            now.jammed_doors += doors_.is_jammed(door) ? 1u : 0u;
        {
            const std::shared_lock held{filter_mutex_};
            now.filter = filter_.stats();
        }
        now.local_bytes = now.filter.local_bytes + sizeof *this - sizeof filter_ + doors::size_bytes();
        return now;
    }
    [[nodiscard]] guard_tally& tally() noexcept { return tally_; }
    [[nodiscard]] const guard_tally& tally() const noexcept { return tally_; }
    [[nodiscard]] Filter& filter() noexcept { return filter_; }
    [[nodiscard]] const Filter& filter() const noexcept { return filter_; }
    [[nodiscard]] const hasher& hash() const noexcept { return filter_.hash(); }
    [[nodiscard]] R& remote() noexcept { return remote_; }

  private:
    [[nodiscard]] bool asks([[maybe_unused]] key_view key, const digest& d) const noexcept {
        if constexpr (asked_with_key<Filter>) {
            return filter_.may_contain(key, d);
        } else {
            return filter_.may_contain(d);
        }
    }

    [[nodiscard]] bool bring_in(key_view key) noexcept {
        if constexpr (learns) {
            const auto outcome = filter_.insert(key, remote_);
            return outcome && *outcome != insert_outcome::full;
        } else {
            const std::lock_guard held{filter_mutex_};
            return filter_.insert(key) != insert_outcome::full;
        }
    }

    result<void> bring_in_all(position_range range) {
        std::vector<std::string> keys;
        const auto read = remote_.for_each(range.first, range.last, [&](const digest&, key_view key) {
            keys.emplace_back(key.text());
            return true;
        });
        if (!read) return read.error();
        for (const std::string& key : keys) {
            if (!bring_in(key)) return error::make(error_code::io, "guard: a jammed door could not be repaired");
        }
        return {};
    }

    void adapt(key_view key) noexcept requires learns {
        const auto outcome = filter_.adapt(key, remote_);
        if (!outcome)
            tally_.count(guard_tally::failed_adapt);
        else if (*outcome == adapt_outcome::fixed)
            tally_.count(guard_tally::adapt);
    }

    void enqueue(key_view key) noexcept {
        try {
            const std::lock_guard held{queue_mutex_};
            if (queue_.size() < options_.queued_adapts) {
                queue_.emplace_back(key.text());
                wake_.notify_one();
                return;
            }
        } catch (const std::bad_alloc&) {  // the next mistake tries again
        }
        tally_.count(guard_tally::adapt_dropped);
    }

    void work() noexcept {
        std::unique_lock held{queue_mutex_};
        while (true) {
            wake_.wait(held, [this] { return stopping_ || !queue_.empty(); });
            if (stopping_) return;
            const std::string key = std::move(queue_.front());
            queue_.pop_front();
            busy_ = true;
            held.unlock();
            if constexpr (learns) adapt(key);
            held.lock();
            busy_ = false;
            if (queue_.empty()) idle_.notify_all();
        }
    }

    Filter filter_;
    R& remote_;
    guard_options options_;
    doors doors_;
    guard_tally tally_;
    mutable std::shared_mutex filter_mutex_;  // for filters that do not stand threads

    std::mutex queue_mutex_;
    std::condition_variable wake_, idle_;
    std::deque<std::string> queue_;
    bool stopping_ = false;
    bool busy_ = false;
    std::thread worker_;
};

}  // namespace genista
