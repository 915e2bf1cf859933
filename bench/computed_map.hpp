// computed_map: R for more keys than fit on the machine: the integers 0 … n - 1, computed when they
// are read.
//
//     positions   | slice 0 | slice 1 | … | equal parts; the keys of one are found in one pass over
//                 all n keys
//     seats       [ slice | slice ] the last slice of each reader, sorted: a sequential read stays
//                 in its seat
//
// A sequential read of all of it costs as many passes as there are slices, a read of one range
// anywhere one or two. A pass hashes n keys and keeps n/slices of them: 24 bytes a record, and 8
// more a key while it is sorted.
//
// It is read-only. Models remote_map; all calls may come from many threads at once. If two threads
// want the same slice at once and do not find it in a seat, both compute it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/remote/remote.hpp"
#include "tools/genista/bench/flat_map.hpp"

namespace genista::bench {

// The records of one slice, in the order of remote.hpp.
class computed_slice {
  public:
    static constexpr std::uint64_t no_slice = ~std::uint64_t{0};

    // Reuses the memory of the slice before. May throw std::bad_alloc, and then holds no slice.
    void compute(const hasher& hash, std::uint64_t keys, std::uint64_t number, std::uint64_t slices) {
        number_ = no_slice;
        collect(hash, keys, range_of_bin(number, slices), keys / slices);
        first_bucket_ = number * (found_ / records_a_bucket + 1);
        grid_ = slices * (found_ / records_a_bucket + 1);
        sort(hash);
        number_ = number;
    }

    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept {
        return keys_.capacity() * sizeof keys_[0] + records_.capacity() * sizeof records_[0] +
               starts_.capacity() * sizeof starts_[0];
    }

    // Visits the records of the range that are in this slice. False: the visitor stopped.
    template <record_visitor Visit>
    [[nodiscard]] bool visit(std::uint64_t first, std::uint64_t last, Visit& visit_one) const {
        const std::uint64_t at = scale(first, grid_);
        auto i = at <= first_bucket_ ? 0 : static_cast<std::size_t>(starts_[at - first_bucket_]);
        while (i < found_ && records_[i].at.position < first) ++i;
        for (; i < found_ && records_[i].at.position <= last; ++i) {
            if (!visit_one(records_[i].at, records_[i].view())) return false;
        }
        return true;
    }

  private:
    static constexpr std::size_t chunk = 512;             // keys hashed at a time: 12 KiB of the first-level cache
    static constexpr std::uint64_t records_a_bucket = 4;  // std::sort of so few is a few comparisons

    // Every key is written, and the next one overwrites it if it is not of the slice: no branch to
    // mispredict.
    void collect(const hasher& hash, std::uint64_t keys, position_range range, std::uint64_t expected) {
        alignas(64) std::array<std::uint64_t, chunk> some{};
        alignas(64) std::array<digest, chunk> digests{};
        const std::uint64_t width = range.last - range.first;
        found_ = 0;
        for (std::uint64_t first = 0; first < keys; first += chunk) {
            const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(chunk, keys - first));
            for (std::size_t i = 0; i < chunk; ++i) some[i] = first + i;
            hash(std::span{some}.first(count), std::span{digests}.first(count));
            if (keys_.size() < found_ + count)
                keys_.resize(std::max<std::size_t>(expected + expected / 16, found_ + found_ / 4) + chunk);
            std::uint64_t* out = keys_.data() + found_;
            for (std::size_t i = 0; i < count; ++i) {
                *out = some[i];
                out += digests[i].position - range.first <= width ? 1 : 0;
            }
            found_ = static_cast<std::size_t>(out - keys_.data());
        }
    }

    // Sorts by buckets, like flat_map: keys are hashed once more to count and once more to place
    // them.
    void sort(const hasher& hash) {
        const auto buckets = static_cast<std::size_t>(found_ / records_a_bucket + 1);
        if (records_.size() < found_) records_.resize(found_ + found_ / 32);
        starts_.assign(buckets + 1, 0);
        const auto scan = [&](const auto& take) {
            std::array<digest, chunk> digests{};
            for (std::size_t first = 0; first < found_; first += chunk) {
                const auto part = std::span{keys_}.subspan(first, std::min(chunk, found_ - first));
                hash(part, std::span{digests}.first(part.size()));
                for (std::size_t i = 0; i < part.size(); ++i)
                    take(static_cast<std::size_t>(scale(digests[i].position, grid_) - first_bucket_), digests[i],
                         part[i]);
            }
        };
        scan([&](std::size_t bucket, const digest&, std::uint64_t) { ++starts_[bucket]; });
        std::uint64_t begin = 0;
        for (std::uint64_t& each : starts_) begin += std::exchange(each, begin);
        scan([&](std::size_t bucket, const digest& at, std::uint64_t key) {
            records_[static_cast<std::size_t>(starts_[bucket]++)] = {at, tool::bench::bytes_of(key)};
        });
        // Placing has moved each start to the next one.
        std::rotate(starts_.begin(), starts_.end() - 1, starts_.end());
        starts_.front() = 0;
        for (std::size_t b = 0; b < buckets; ++b) {
            std::sort(records_.begin() + static_cast<std::ptrdiff_t>(starts_[b]),
                      records_.begin() + static_cast<std::ptrdiff_t>(starts_[b + 1]));
        }
    }

    std::uint64_t number_ = no_slice;
    std::size_t found_ = 0;           // the first so many of keys_ and records_ are valid
    std::uint64_t first_bucket_ = 0;  // of all buckets, which cut all positions into `grid_` equal parts
    std::uint64_t grid_ = 1;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint64_t> starts_;
    std::vector<tool::bench::flat_record> records_;
};

struct computed_map_options {
    std::uint64_t keys = 0;    // the integers 0 … keys - 1
    std::uint64_t slices = 1;  // at least 1
    unsigned seats = 1;        // slices kept: one for each thread that reads
    // Called with the number of slices computed so far, one call at a time.
    std::function<void(std::uint64_t)> on_slice{};
};

class computed_map {
  public:
    // May throw std::bad_alloc.
    computed_map(const hasher& hash, computed_map_options options)
        : hash_{hash}, options_{std::move(options)}, seats_(std::max(options_.seats, 1u)) {
        assert(options_.slices > 0);
    }

    result<bool> put(const digest&, key_view) noexcept { return read_only(); }
    result<bool> erase(const digest&, key_view) noexcept { return read_only(); }
    [[nodiscard]] result<bool> contains(const digest& where, key_view key) const noexcept {
        std::uint64_t integer = 0;
        if (key.size != sizeof integer) return false;
        std::memcpy(&integer, key.data, sizeof integer);
        if constexpr (std::endian::native == std::endian::big) integer = __builtin_bswap64(integer);
        return integer < options_.keys && hash_(key) == where;
    }

    // Both ends inclusive; first > last is the empty range.
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        if (first > last) return {};
        const std::uint64_t end = scale(last, options_.slices);
        for (std::uint64_t number = scale(first, options_.slices); number <= end; ++number) {
            const auto slice = slice_of(number);
            if (!slice) return slice.error();
            if (!(*slice)->visit(first, last, visit)) break;
        }
        return {};
    }

    [[nodiscard]] std::uint64_t slice_at(std::uint64_t position) const noexcept {
        return scale(position, options_.slices);
    }
    [[nodiscard]] position_range range_of_slice(std::uint64_t number) const noexcept {
        return range_of_bin(number, options_.slices);
    }
    // The time that all threads together have spent computing slices.
    [[nodiscard]] double seconds_computing() const noexcept {
        return static_cast<double>(computing_ns_.load(std::memory_order_relaxed)) * 1e-9;
    }
    [[nodiscard]] std::uint64_t slices_computed() const {
        const std::lock_guard guard{lock_};
        return computed_;
    }
    // The memory of the slices in their seats.
    [[nodiscard]] std::uint64_t bytes() const {
        const std::lock_guard guard{lock_};
        std::uint64_t sum = 0;
        for (const seat& each : seats_) sum += each.held ? each.held->bytes() : 0;
        return sum;
    }

  private:
    struct seat {
        std::shared_ptr<computed_slice> held;
        std::thread::id owner{};  // the thread that computed it
        bool lent = false;        // another thread has seen it, and may still be reading
        std::uint64_t used = 0;
    };

    [[nodiscard]] static error read_only() noexcept {
        return error::make(error_code::unsupported, "computed_map: its keys are computed, so it is read-only");
    }

    [[nodiscard]] result<std::shared_ptr<const computed_slice>> slice_of(std::uint64_t number) noexcept try {
        std::shared_ptr<computed_slice> slice;
        std::size_t index = 0;
        const auto me = std::this_thread::get_id();
        {
            const std::lock_guard guard{lock_};
            for (seat& each : seats_) {
                if (!each.held || each.held->number() != number) continue;
                each.used = ++uses_;
                each.lent = each.lent || each.owner != me;
                return std::shared_ptr<const computed_slice>{each.held};
            }
            index = seat_for(me);
            // Only memory that no other thread has ever read can be reused without knowing its
            // readers.
            seat& place = seats_[index];
            if (place.owner == me && !place.lent) slice = std::move(place.held);
            place = {.held = nullptr, .owner = me, .lent = false, .used = ++uses_};
        }
        if (!slice) slice = std::make_shared<computed_slice>();
        const auto begin = std::chrono::steady_clock::now();
        slice->compute(hash_, options_.keys, number, options_.slices);
        const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
        computing_ns_.fetch_add(static_cast<std::uint64_t>(taken.count()), std::memory_order_relaxed);
        const std::lock_guard guard{lock_};
        seats_[index] = {.held = slice, .owner = me, .lent = false, .used = ++uses_};
        ++computed_;
        if (options_.on_slice) options_.on_slice(computed_);
        return std::shared_ptr<const computed_slice>{slice};
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "computed_map: no memory for slice %llu of %llu",
                           static_cast<unsigned long long>(number), static_cast<unsigned long long>(options_.slices));
    }

    // The thread's own seat, otherwise a free one, otherwise the one that was unused for longest.
    [[nodiscard]] std::size_t seat_for(std::thread::id me) const noexcept {
        const auto rank = [me](const seat& each) {
            return std::pair{each.owner == me ? 0 : each.owner == std::thread::id{} ? 1 : 2, each.used};
        };
        const auto best = std::min_element(seats_.begin(), seats_.end(),
                                           [&](const seat& a, const seat& b) { return rank(a) < rank(b); });
        return static_cast<std::size_t>(best - seats_.begin());
    }

    const hasher hash_;
    const computed_map_options options_;
    mutable std::mutex lock_;
    std::vector<seat> seats_;
    std::uint64_t uses_ = 0;
    std::uint64_t computed_ = 0;
    std::atomic<std::uint64_t> computing_ns_{0};
};

static_assert(remote_map<computed_map>);

}  // namespace genista::bench
