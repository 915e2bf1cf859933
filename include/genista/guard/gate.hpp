// gate: a filter with what it needs to stand before a store: doors for keys on their way in, repairs, counters.
//
// guarded.hpp puts it before any store with get, put and erase; a store with an interface of its own (RocksDB's batches,
// iterators, snapshots) calls the steps itself:
//
//     put      { entering in{gate, digest}; commit; in.settle(key) }
//     batch    { entering in{gate, sorted keys}; commit; in.settle(key) for each key put, in their order }
//     delete   commit; gate.forget(key)
//     query    if (!gate.may_contain(key, digest)) it is absent; else read the store, and if it is not there, gate.missed(key)
//
//   I1  A key in R is never denied: from the moment its commit is visible until the moment its removal is. Where the filter
//       cannot be told (failing store, no memory), the key's range stays "maybe" (doors.hpp, in_flight.hpp).
//   I2  Nothing here writes to the store.
//   I3  A key that is not in flight, in a range that needs no repair, is answered by the filter alone: writers cost the
//       queries of other keys no reads, whatever the size of their batches.
//
// Filters that learn (filter.hpp, adaptive_filter) are told of mistakes; others are only asked and filled. A Bloom filter keeps
// what was erased: it cannot forget, so those keys stay "maybe". Filters with an oracle are asked with key and digest, others with the digest.
//
// Threads: any number, whatever the filter; one that cannot stand them is locked.
#pragma once

#include <cassert>
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
#include <type_traits>
#include <utility>
#include <vector>

#include "genista/filters/asked_with_key.hpp"
#include "genista/filters/filter.hpp"
#include "genista/guard/counters.hpp"
#include "genista/guard/doors.hpp"
#include "genista/guard/in_flight.hpp"

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

// `InFlight` is what in_flight.hpp says; tests replace it to see that it is needed.
template <class Filter, remote_map R, class InFlight = in_flight_set>
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

    // The range first, the filter second (in_flight.hpp). `d` is hash()(key).
    [[nodiscard]] bool may_contain(key_view key, const digest& d) const noexcept {
        if (doors_.is_open(d)) return may_contain_beside_writers(key, d);
        return ask_filter(key, d);
    }

    // A write is on its way: from before the commit until everything is settled. Ranges of keys that were not settled (a
    // commit that threw) need repair: such a key may be in the store.
    class entering {
      public:
        // One key.
        entering(gate& through, const digest& d) noexcept
            : through_{through}, one_{d}, keys_{one_}, writer_{through.in_flight_, keys_} {
            through_.doors_.enter(doors::of(d));
        }
        // Many keys, sorted by position. The caller settles each of them with settle(), in that order: a key that is
        // settled is the filter's alone to answer, while others of its batch still wait.
        entering(gate& through, const in_flight_keys& keys) noexcept
            : through_{through}, keys_{keys}, writer_{through.in_flight_, keys_} {
            for (std::size_t i = 0; i < keys_.size(); ++i) {
                if (is_first_of_range(i)) through_.doors_.enter(range_of(i));
            }
        }
        entering(const entering&) = delete;
        entering& operator=(const entering&) = delete;
        ~entering() {
            for (; settled_ < keys_.size(); ++settled_) {
                through_.doors_.jam(range_of(settled_));
                leave_after(settled_);
            }
        }

        // The next key. R holds it, or may hold it (a commit that failed with unknown effect): the filter takes it, or its
        // range is marked as needing repair. A key that R does not hold after all costs one false positive.
        void settle(key_view key) noexcept {
            assert(settled_ < keys_.size() && through_.hash()(key).position == keys_[settled_]);
            through_.settle(key);
            skip();
        }
        // The next key is known not to be in the store.
        void skip() noexcept {
            writer_.settle(settled_ + 1);
            leave_after(settled_);
            ++settled_;
        }

      private:
        [[nodiscard]] unsigned range_of(std::size_t index) const noexcept { return doors::of(keys_[index]); }
        [[nodiscard]] bool is_first_of_range(std::size_t index) const noexcept {
            return index == 0 || range_of(index) != range_of(index - 1);
        }
        void leave_after(std::size_t index) noexcept {
            const bool is_last = index + 1 == keys_.size() || is_first_of_range(index + 1);
            if (is_last) through_.doors_.leave(range_of(index));
        }

        gate& through_;
        const digest one_{};
        const in_flight_keys keys_;
        typename InFlight::writer writer_;
        std::size_t settled_ = 0;
    };

    // R no longer holds the key.
    void forget(key_view key) noexcept {
        tally_.count(guard_tally::erase);
        if constexpr (learns) {
            if (!filter_.forget(key, remote_)) tally_.count(guard_tally::failed_adapt);
        }
    }

    // The filter let the key through and the store does not have it.
    void missed(const digest& d, key_view key) noexcept { missed(d, key, remote_); }
    // The same through another view of R, which may give up: a caller with a deadline. A mistake whose range could not be
    // read in time is left for the next query that makes it, and counted as dropped.
    template <remote_map Through>
    void missed(const digest& d, key_view key, Through& through) noexcept {
        tally_.count(guard_tally::wasted_read);
        if (tally_.wasted_before(d)) tally_.count(guard_tally::repeated_wasted_read);
        if constexpr (learns) {
            if (options_.adapt == adapting::on_read) adapt(key, through);
            if (options_.adapt == adapting::in_background) enqueue(key);
        }
    }

    // Brings in every key of the ranges that need repair. An error leaves the rest as they are.
    result<void> repair() noexcept try {
        const std::lock_guard one_at_a_time{repairing_};
        for (unsigned door = 0; door < doors::number_of_doors; ++door) {
            if (!doors_.is_jammed(door)) continue;
            doors_.begin_repair(door);
            const auto done = repair_one(door);
            if (!done) doors_.jam(door);
            doors_.end_repair(door);
            if (!done) return done.error();
        }
        return {};
    } catch (const std::exception&) {  // a mutex that cannot be locked
        return error::make(error_code::io, "guard: ranges cannot be repaired now");
    }

    // A key waits behind some door for a repair.
    [[nodiscard]] bool any_jammed() const noexcept {
        for (unsigned door = 0; door < doors::number_of_doors; ++door) {
            if (doors_.is_jammed(door)) return true;
        }
        return false;
    }
    // A key waits for a repair, or a repair is bringing keys in: what is saved now would deny them. A repair clears the mark
    // before it reads R, so that a mark which is set meanwhile stays; therefore marks alone do not tell. The caller has made
    // sure that no write is under way.
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
        now.local_bytes = now.filter.local_bytes + sizeof *this - sizeof filter_ + side_bytes();
        return now;
    }
    // Beside the gate itself: the words of the ranges, and the lists of keys in flight.
    [[nodiscard]] static constexpr std::size_t side_bytes() noexcept {
        return doors::size_bytes() + InFlight::size_bytes();
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

    [[nodiscard]] bool ask_filter(key_view key, const digest& d) const noexcept {
        if constexpr (learns) {
            return asks(key, d);
        } else {
            const std::shared_lock held{filter_mutex_};
            return asks(key, d);
        }
    }

    // The slow part of may_contain: a writer is inside the range, or the range needs repair. The order of the steps is
    // that of in_flight.hpp. Counted is what the filter would have answered without the store.
    [[gnu::noinline]] bool may_contain_beside_writers(key_view key, const digest& d) const noexcept {
        const bool in_flight = in_flight_.contains(d);
        const bool pending = doors_.is_pending(doors::of(d));
        if (ask_filter(key, d)) return true;
        if (in_flight)
            tally_.count(guard_tally::let_through_in_flight);
        else if (pending)
            tally_.count(guard_tally::let_through_pending);
        return in_flight || pending;
    }

    void settle(key_view key) noexcept {
        tally_.count(guard_tally::put);
        if (bring_in(key)) return;
        tally_.count(guard_tally::late_insert);
        doors_.jam(doors::of(hash()(key)));
    }

    result<void> repair_one(unsigned door) noexcept try {
        return bring_in_all(doors::range_of(door));
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "guard: no memory to repair a range");
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
            if (!bring_in(key)) return error::make(error_code::io, "guard: a key could not be brought into the filter");
        }
        return {};
    }

    template <remote_map Through>
    void adapt(key_view key, Through& through) noexcept requires learns {
        const auto outcome = filter_.adapt(key, through);
        if (!outcome && outcome.error().code() == error_code::timeout && !std::is_same_v<Through, R>)
            tally_.count(guard_tally::adapt_dropped);
        else if (!outcome)
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
            if constexpr (learns) adapt(key_view{key}, remote_);
            held.lock();
            busy_ = false;
            if (queue_.empty()) idle_.notify_all();
        }
    }

    Filter filter_;
    R& remote_;
    guard_options options_;
    doors doors_;
    InFlight in_flight_;
    mutable guard_tally tally_;
    mutable std::shared_mutex filter_mutex_;  // for filters that do not stand threads

    std::mutex repairing_;

    std::mutex queue_mutex_;
    std::condition_variable wake_, idle_;
    std::deque<std::string> queue_;
    bool stopping_ = false;
    bool busy_ = false;
    std::thread worker_;
};

}  // namespace genista
