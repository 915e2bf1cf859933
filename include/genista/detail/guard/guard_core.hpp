// guard_core: a filter and what it needs to answer for a store: the states of ranges, the keys in
// flight, repairs, counters.
//
// guarded.hpp uses it for any store with get, put and erase. A store with an interface of its own
// (RocksDB's batches, iterators, snapshots) calls the steps itself:
//
//     put      { entering in{core, key}; commit; in.on_committed(key) }
//     batch    { entering in{core, sorted keys}; commit; in.on_committed(key) for each key put, in
//              their order }
//     delete   commit; core.on_erased(key)
//     query    if (!core.may_contain(key)) the key is absent; else read the store, and if the key
//              is not there, core.on_false_positive(key)
//
// `key` is a hashed_key: the store hashes each key once, with hash(), and nothing here hashes it
// again (decision 0025).
//
//   I1  A key in R is never denied, from the moment its commit is visible until the moment its
//       removal is. If a key cannot be inserted into the filter (failing store, no memory), its
//       range answers "maybe" (range_states.hpp, in_flight.hpp). If R itself is known to lack keys
//       (need_repair_everywhere), all ranges answer "maybe", and none is repaired before R is
//       whole.
//   I2  Nothing here writes to the store.
//   I3  A key that is not in flight, in a range that needs no repair, is answered by the filter
//       alone: writes cost the queries of other keys no reads, whatever the size of their batches.
//
// Filters that learn (filter.hpp, adaptive_filter) adapt to false positives; others are only
// queried and filled. A Bloom filter cannot forget, so keys that were erased stay "maybe". Filters
// with an oracle are asked for key and digest, others for the digest.
//
// Threads: any number, whatever the filter. A filter that is not safe for threads is locked.
#pragma once

#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "genista/detail/base/caught.hpp"
#include "genista/detail/filters/asked_with_key.hpp"
#include "genista/detail/guard/in_flight.hpp"
#include "genista/detail/guard/range_states.hpp"
#include "genista/detail/remote/record_check.hpp"
#include "genista/filters/filter.hpp"
#include "genista/guard/event_log.hpp"
#include "genista/guard/metrics.hpp"
#include "genista/hash/hashed_key.hpp"

namespace genista {

// When the filter learns from a false positive.
enum class adapting : unsigned char {
    on_read,        // before the query that found it returns: one range read more, once for each false positive
    in_background,  // soon after, by a thread of the guard
    off,            // never: to measure what that costs
};

struct guard_options {
    adapting adapt = adapting::on_read;
    // Of in_background. If the queue is full, the next false positive on the key tries again.
    std::size_t queued_adapts = 1024;
    event_log log{};  // hears of ranges that need repair, of repairs, and of adapts that fail
};

// When one repair stops.
struct repair_pass {
    const std::atomic<bool>* stop = nullptr;  // once it is true, the remaining ranges are left as they are
    // Ranges that do not fit into the filter's memory are skipped; after so many of them the
    // remaining ranges are left as they are.
    unsigned most_failures = range_states::number_of_ranges;
    std::function<void(unsigned done, unsigned all)> progress{};  // in ranges; called after each one
};

// Called when R holds a key that the store does not hold, by the thread that found it, with no lock
// held.
using orphan_handler = std::function<void(const hashed_key& key)>;

// `InFlight` is in_flight_set, except in tests that show why it is needed.
template <class Filter, remote_map R, class InFlight = in_flight_set>
class guard_core {
  public:
    static constexpr bool learns = adaptive_filter<Filter, R> || learning_with_key<Filter, R>;

    guard_core(Filter filter, R& remote, const guard_options& options = {}, orphan_handler on_orphan = {})
        : filter_{std::move(filter)}, remote_{remote}, options_{options}, on_orphan_{std::move(on_orphan)} {
        if (learns && options_.adapt == adapting::in_background) worker_ = std::thread{[this] { work(); }};
    }
    guard_core(const guard_core&) = delete;
    guard_core& operator=(const guard_core&) = delete;
    ~guard_core() {
        if (!worker_.joinable()) return;
        {
            const std::lock_guard held{queue_mutex_};
            stopping_ = true;
        }
        wake_.notify_all();
        worker_.join();
    }

    // Loads the state of the range first and asks the filter second (in_flight.hpp).
    [[nodiscard]] bool may_contain(const hashed_key& key) const noexcept {
        assert(key.is_of(hash()));
        if (ranges_.is_open(key.where())) return may_contain_beside_writers(key);
        return ask_filter(key);
    }

    // A write that is under way: it exists from before the commit until all of its keys are
    // finished. The destructor marks the ranges of keys that were not finished (the commit threw)
    // for repair, because such a key may be in the store.
    class entering {
      public:
        // One key.
        entering(guard_core& through, const hashed_key& key) noexcept
            : through_{through}, one_{key.where()}, keys_{one_}, writer_{through.in_flight_, keys_} {
            assert(key.is_of(through.hash()));
            through_.ranges_.enter(range_states::of(one_));
        }
        // Many keys, sorted by position. The caller calls on_committed() or skip() for each of
        // them, in that order. From then on the filter alone decides about that key, while other
        // keys of the batch are still in flight.
        entering(guard_core& through, const in_flight_keys& keys) noexcept
            : through_{through}, keys_{keys}, writer_{through.in_flight_, keys_} {
            for (std::size_t i = 0; i < keys_.size(); ++i) {
                if (is_first_of_range(i)) through_.ranges_.enter(range_of(i));
            }
        }
        entering(const entering&) = delete;
        entering& operator=(const entering&) = delete;
        ~entering() {
            for (; finished_ < keys_.size(); ++finished_) {
                through_.mark_for_repair(range_of(finished_));
                leave_after(finished_);
            }
        }

        // Finishes the next key, which R holds or may hold (a commit that failed with unknown
        // effect): inserts it into the filter, or marks its range for repair. A key that R does not
        // hold after all costs one false positive.
        void on_committed(const hashed_key& key) noexcept {
            assert(finished_ < keys_.size() && key.where().position == keys_[finished_]);
            through_.on_committed(key);
            skip();
        }
        // Finishes the next key, which is known not to be in the store.
        void skip() noexcept {
            writer_.finish(finished_ + 1);
            leave_after(finished_);
            ++finished_;
        }

      private:
        [[nodiscard]] unsigned range_of(std::size_t index) const noexcept { return range_states::of(keys_[index]); }
        [[nodiscard]] bool is_first_of_range(std::size_t index) const noexcept {
            return index == 0 || range_of(index) != range_of(index - 1);
        }
        void leave_after(std::size_t index) noexcept {
            const bool is_last = index + 1 == keys_.size() || is_first_of_range(index + 1);
            if (is_last) through_.ranges_.leave(range_of(index));
        }

        guard_core& through_;
        const digest one_{};
        const in_flight_keys keys_;
        typename InFlight::writer writer_;
        std::size_t finished_ = 0;
    };

    // R no longer holds the key.
    void on_erased(const hashed_key& key) noexcept {
        counters_.count(live_guard_counters::erase);
        if constexpr (learns) {
            if (const auto gone = filter_.forget(key, remote_); !gone) adapt_failed(gone.error());
        }
    }

    // The filter answered "maybe", and the store does not have the key.
    void on_false_positive(const hashed_key& key) noexcept { on_false_positive(key, remote_); }
    // The same through another view of R, which may time out: for a caller with a deadline. If the
    // range could not be read in time, the filter does not learn now (the next false positive on
    // the key tries again), and the adapt is counted as dropped.
    template <remote_map Through>
    void on_false_positive(const hashed_key& key, Through& through) noexcept {
        counters_.count(live_guard_counters::wasted_read);
        if (counters_.wasted_before(key.where())) counters_.count(live_guard_counters::repeated_wasted_read);
        if constexpr (learns) {
            if (options_.adapt == adapting::on_read) adapt(key, through);
            if (options_.adapt == adapting::in_background) enqueue(key);
        }
    }

    // The filter may lack any key of R: every range answers "maybe" until it is repaired. With
    // `remote_is_whole` false R lacks keys, too, and repairs are refused until remote_is_whole()
    // returns true. If this is called again while a thread completes R, that thread must start
    // over: a missing key may lie behind its scan.
    void need_repair_everywhere(bool remote_is_whole = true) noexcept {
        // remote_lacks_ first: a repair clears the mark of a range and reads remote_lacks_
        // afterwards.
        if (!remote_is_whole) remote_lacks_.fetch_add(1, std::memory_order_seq_cst);
        for (unsigned range = 0; range < range_states::number_of_ranges; ++range) ranges_.mark_for_repair(range);
    }
    // How often R was found to lack keys since it was last whole. 0: it is whole.
    [[nodiscard]] std::uint64_t remote_lacks() const noexcept { return remote_lacks_.load(std::memory_order_seq_cst); }
    [[nodiscard]] bool remote_lacks_keys() const noexcept { return remote_lacks() != 0; }
    // R was completed. REQUIRES: one thread at a time; `lacks` is what remote_lacks() returned to
    // it before it read the first key. False: R was found to lack keys again meanwhile, perhaps
    // behind the scan, and nothing changes.
    [[nodiscard]] bool remote_is_whole(std::uint64_t lacks) noexcept {
        return remote_lacks_.compare_exchange_strong(lacks, 0, std::memory_order_seq_cst);
    }

    // Inserts every key of the ranges that need repair. A range that does not fit into the filter's
    // memory is skipped and stays "maybe". Any other error ends the repair and is returned; if
    // there is none, the first lack of memory is returned.
    result<void> repair(const repair_pass& how = {}) noexcept try {
        const std::lock_guard one_at_a_time{repairing_};
        const auto begin = clock::now();
        const unsigned all = pending_ranges();
        unsigned done = 0, failures = 0;
        std::optional<error> first;
        for (unsigned step = 0; step < range_states::number_of_ranges; ++step) {
            const unsigned range = (next_repaired_ + step) % range_states::number_of_ranges;
            if (!ranges_.is_marked(range)) continue;
            if (how.stop != nullptr && how.stop->load(std::memory_order_relaxed))
                return error::make(error_code::timeout, "guard: the repair was stopped");
            ranges_.begin_repair(range);
            const auto repaired = remote_lacks_keys() ? not_whole() : repair_one(range);
            if (!repaired) ranges_.mark_for_repair(range);
            ranges_.end_repair(range);
            if (repaired) {
                ++done;
                if (how.progress) how.progress(done, all);
                continue;
            }
            if (!first) first = repaired.error();
            const error_code why = repaired.error().code();
            const bool does_not_fit = why == error_code::out_of_memory || why == error_code::unsupported;
            if (!does_not_fit) first = repaired.error();
            if (!does_not_fit || ++failures >= how.most_failures) {
                next_repaired_ = (range + 1) % range_states::number_of_ranges;
                break;
            }
        }
        if (first) {
            report_failed_repair(done, *first);
            return *first;
        }
        if (done > 0) report_repaired(done, seconds_since(begin));
        return {};
    } catch (const std::exception&) {  // a mutex that cannot be locked
        return error::make(error_code::io, "guard: ranges cannot be repaired now");
    }

    // Writes bypassed the guard: `what` says which, and what is done about it. This only counts and
    // reports; the caller has to insert the keys.
    void on_foreign_writes(std::string_view what) noexcept {
        counters_.count(live_guard_counters::foreign_write);
        options_.log.report(event_level::error, event_kind::foreign_writes, "writes went past the guard: %.*s",
                            static_cast<int>(what.size()), what.data());
    }

    // Ranges that need repair or are under repair.
    [[nodiscard]] unsigned pending_ranges() const noexcept {
        unsigned pending = 0;
        for (unsigned range = 0; range < range_states::number_of_ranges; ++range)
            pending += ranges_.is_pending(range) ? 1u : 0u;
        return pending;
    }
    // Whether some range is marked: a key of it may be missing from the filter.
    [[nodiscard]] bool any_range_needs_repair() const noexcept {
        for (unsigned range = 0; range < range_states::number_of_ranges; ++range) {
            if (ranges_.is_marked(range)) return true;
        }
        return false;
    }
    // Whether a filter saved now could deny keys: a range needs repair or is under repair. Marks
    // alone do not say it, because a repair clears the mark before it reads R (so that a mark set
    // meanwhile stays). REQUIRES: no write is under way.
    [[nodiscard]] bool lacks_keys() const noexcept {
        for (unsigned range = 0; range < range_states::number_of_ranges; ++range) {
            if (ranges_.is_open(range)) return true;
        }
        return false;
    }

    // Waits until every queued false positive has been processed.
    void drain() noexcept {
        std::unique_lock held{queue_mutex_};
        idle_.wait(held, [this] { return (queue_.empty() && !busy_) || !worker_.joinable(); });
    }

    [[nodiscard]] guard_counters counters() const noexcept {
        guard_counters now = counters_.counters();
        now.ranges_pending_repair = pending_ranges();
        {
            const std::shared_lock held{filter_mutex_};
            now.filter = filter_.stats();
        }
        now.local_bytes = now.filter.local_bytes + own_bytes();
        return now;
    }
    // The guard's memory without the filter's.
    [[nodiscard]] static constexpr std::size_t own_bytes() noexcept {
        return sizeof(guard_core) - sizeof(Filter) + side_bytes();
    }
    // Beside the guard core itself: the words of the ranges, and the lists of keys in flight.
    [[nodiscard]] static constexpr std::size_t side_bytes() noexcept {
        return range_states::size_bytes() + InFlight::size_bytes();
    }
    [[nodiscard]] live_guard_counters& live_counters() noexcept { return counters_; }
    [[nodiscard]] const live_guard_counters& live_counters() const noexcept { return counters_; }
    [[nodiscard]] Filter& filter() noexcept { return filter_; }
    [[nodiscard]] const Filter& filter() const noexcept { return filter_; }
    [[nodiscard]] const hasher& hash() const noexcept { return filter_.hash(); }
    [[nodiscard]] R& remote() noexcept { return remote_; }

  private:
    using clock = std::chrono::steady_clock;
    static constexpr clock::rep never = 0;
    static double seconds_since(clock::time_point begin) noexcept {
        return std::chrono::duration<double>{clock::now() - begin}.count();
    }

    [[nodiscard]] bool query(const hashed_key& key) const noexcept {
        if constexpr (asked_with_key<Filter>) {
            return filter_.may_contain(key);
        } else {
            return filter_.may_contain(key.where());
        }
    }

    [[nodiscard]] bool ask_filter(const hashed_key& key) const noexcept {
        if constexpr (learns) {
            return query(key);
        } else {
            const std::shared_lock held{filter_mutex_};
            return query(key);
        }
    }

    // The slow part of may_contain: a writer is inside the range, or the range needs repair or is
    // under repair. The order of the steps is that of in_flight.hpp. Counts the answers that the
    // filter alone would have given as "absent".
    [[gnu::noinline]] bool may_contain_beside_writers(const hashed_key& key) const noexcept {
        const bool in_flight = in_flight_.contains(key.where());
        const bool pending = ranges_.is_pending(range_states::of(key.where()));
        if (ask_filter(key)) return true;
        if (in_flight)
            counters_.count(live_guard_counters::let_through_in_flight);
        else if (pending)
            counters_.count(live_guard_counters::let_through_pending);
        return in_flight || pending;
    }

    void on_committed(const hashed_key& key) noexcept {
        counters_.count(live_guard_counters::put);
        if (insert_key(key)) return;
        counters_.count(live_guard_counters::late_insert);
        mark_for_repair(range_states::of(key.where()));
    }

    // Only the first mark since the last repair is reported: a failing store marks ranges by the
    // thousand.
    void mark_for_repair(unsigned range) noexcept {
        ranges_.mark_for_repair(range);
        if (!options_.log || pending_reported_.exchange(true, std::memory_order_relaxed)) return;
        options_.log.report(event_level::warning, event_kind::ranges_pending,
                            "keys could not be inserted into the filter: their ranges answer \"maybe\" until they are "
                            "repaired");
    }
    void report_repaired(unsigned repaired, double seconds) noexcept {
        if (!options_.log) return;
        // Before the count, so that a range that is marked after the count is reported.
        pending_reported_.store(false, std::memory_order_relaxed);
        const unsigned left = pending_ranges();
        options_.log.report(event_level::info, event_kind::ranges_repaired,
                            "%u ranges repaired in %.3f s, %u need repair now", repaired, seconds, left);
    }
    void report_failed_repair(unsigned repaired, const error& why) noexcept {
        if (!options_.log) return;
        options_.log.report(event_level::error, event_kind::repair_failed,
                            "%u ranges repaired, %u still answer \"maybe\": %.*s", repaired, pending_ranges(),
                            static_cast<int>(why.message().size()), why.message().data());
    }

    // At most one report a second: with a failing store every false positive fails here.
    void adapt_failed(const error& why) noexcept {
        counters_.count(live_guard_counters::failed_adapt);
        if (!options_.log) return;
        const auto now = clock::now().time_since_epoch().count();
        auto last = adapt_reported_.load(std::memory_order_relaxed);
        const bool is_soon = last != never && now - last < clock::duration{std::chrono::seconds{1}}.count();
        if (is_soon || !adapt_reported_.compare_exchange_strong(last, now, std::memory_order_relaxed)) return;
        options_.log.report(event_level::warning, event_kind::adapt_failed,
                            "the filter could not learn from a false positive (%llu times so far): %.*s",
                            static_cast<unsigned long long>(counters_.sum(live_guard_counters::failed_adapt)),
                            static_cast<int>(why.message().size()), why.message().data());
    }

    [[nodiscard]] static result<void> not_whole() noexcept {
        return error::make(error_code::io, "guard: R lacks keys, so that no range can be repaired from it yet");
    }

    // Filters that build their bins from R read R once for each bin; for others the keys are
    // inserted one by one.
    result<void> repair_one(unsigned number) noexcept try {
        const position_range range = range_states::range_of(number);
        if constexpr (requires { filter_.rebuild_range(range, remote_); }) {
            return filter_.rebuild_range(range, remote_);
        } else {
            return insert_all(range);
        }
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "guard: no memory to repair a range");
    }

    [[nodiscard]] bool insert_key(const hashed_key& key) noexcept {
        if constexpr (learns) {
            const auto outcome = filter_.insert(key, remote_);
            return outcome && *outcome != insert_outcome::full;
        } else {
            const std::lock_guard held{filter_mutex_};
            if constexpr (asked_with_key<Filter>) {
                return filter_.insert(key) != insert_outcome::full;
            } else {
                return filter_.insert(key.where()) != insert_outcome::full;
            }
        }
    }

    result<void> insert_all(position_range range) {
        std::vector<std::string> keys;
        remote_detail::record_check check{range, filter_.hash()};
        bool starved = false;
        const auto take = [&](const digest& where, key_view key) noexcept {
            try {
                if (!check.passes(where, key)) return false;
                keys.emplace_back(key.text());
                return true;
            } catch (const std::bad_alloc&) {
                starved = true;
                return false;
            }
        };
        const auto read =
            remote_detail::caught([&]() -> result<void> { return remote_.for_each(range.first, range.last, take); });
        if (starved) throw std::bad_alloc{};
        if (check.failed()) return remote_detail::record_check::wrong_record();
        if (!read) return read.error();
        for (const std::string& key : keys) {
            if (!insert_key({hash(), key}))
                return error::make(error_code::io, "guard: a key could not be inserted into the filter");
        }
        return {};
    }

    template <remote_map Through>
    void adapt(const hashed_key& key, Through& through) noexcept requires learns {
        const auto outcome = filter_.adapt(key, through);
        if (!outcome && outcome.error().code() == error_code::timeout && !std::is_same_v<Through, R>)
            counters_.count(live_guard_counters::adapt_dropped);
        else if (!outcome)
            adapt_failed(outcome.error());
        else if (*outcome == adapt_outcome::fixed)
            counters_.count(live_guard_counters::adapt);
        else if (*outcome == adapt_outcome::true_positive && on_orphan_)
            found_orphan(key);
    }

    void found_orphan(const hashed_key& key) noexcept try {
        on_orphan_(key);
    } catch (...) {  // the next false positive on the key tries again
        counters_.count(live_guard_counters::failed_adapt);
    }

    void enqueue(const hashed_key& key) noexcept {
        try {
            const std::lock_guard held{queue_mutex_};
            if (queue_.size() < options_.queued_adapts) {
                queue_.emplace_back(key);
                wake_.notify_one();
                return;
            }
        } catch (const std::bad_alloc&) {  // the next false positive on the key tries again
        }
        counters_.count(live_guard_counters::adapt_dropped);
    }

    void work() noexcept {
        std::unique_lock held{queue_mutex_};
        while (true) {
            wake_.wait(held, [this] { return stopping_ || !queue_.empty(); });
            if (stopping_) return;
            const kept_key kept = std::move(queue_.front());
            queue_.pop_front();
            busy_ = true;
            held.unlock();
            if constexpr (learns) adapt(kept.key(), remote_);
            held.lock();
            busy_ = false;
            if (queue_.empty()) idle_.notify_all();
        }
    }

    Filter filter_;
    R& remote_;
    guard_options options_;
    orphan_handler on_orphan_;
    range_states ranges_;
    InFlight in_flight_;
    mutable live_guard_counters counters_;
    mutable std::shared_mutex filter_mutex_;  // for filters that are not safe for threads

    std::mutex repairing_;
    std::atomic<bool> pending_reported_{false};
    std::atomic<clock::rep> adapt_reported_{never};
    unsigned next_repaired_ = 0;  // where the next repair begins, so that ranges that fail do not hold up others
    std::atomic<std::uint64_t> remote_lacks_{0};

    std::mutex queue_mutex_;
    std::condition_variable wake_, idle_;
    std::deque<kept_key> queue_;
    bool stopping_ = false;
    bool busy_ = false;
    std::thread worker_;
};

}  // namespace genista
