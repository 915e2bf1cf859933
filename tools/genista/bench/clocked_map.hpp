// clocked_map: an R that measures how long this thread has been inside R, and how many ranges it
// has read there. For the index of the cuckoo family, which reads the places of single slots, these
// are counted apart.
//
// The bench subtracts that time: the rest is the filter's own, whatever the store. The meter
// belongs to a thread, not to a map, so that threads neither share it nor wait for it. Callers take
// differences.
#pragma once

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/remote/remote.hpp"

namespace genista::tool::bench {

struct remote_meter {
    std::chrono::steady_clock::duration spent{};
    std::uint64_t range_reads = 0;
    std::uint64_t slot_reads = 0;

    [[nodiscard]] static remote_meter& of_this_thread() noexcept {
        static thread_local remote_meter meter;
        return meter;
    }
};

// What reading the clock twice costs beyond what the two readings show: the least of some attempts,
// so that nothing of the filter's is ever taken off. 20 to 40 ns, and an update pays it two or
// three times.
[[nodiscard]] inline std::chrono::steady_clock::duration clock_toll() {
    using std::chrono::steady_clock;
    static const steady_clock::duration least = [] {
        constexpr int readings = 1000;
        auto found = steady_clock::duration::max();
        for (int attempt = 0; attempt < 16; ++attempt) {
            steady_clock::duration shown{};
            const auto begin = steady_clock::now();
            for (int i = 0; i < readings; ++i) {
                const auto before = steady_clock::now();
                shown += steady_clock::now() - before;
            }
            found = std::min(found, (steady_clock::now() - begin - shown) / readings);
        }
        return found;
    }();
    return least;
}

// Takes time for R.
class remote_clock {
  public:
    // call(), whatever it is, on R's time: for what R does, or a caller in R's name.
    template <class Call>
    auto timed(const Call& call) const {
        const auto begin = std::chrono::steady_clock::now();
        auto answer = call();
        remote_meter::of_this_thread().spent += std::chrono::steady_clock::now() - begin + toll_;
        return answer;
    }

  private:
    std::chrono::steady_clock::duration toll_ = clock_toll();
};

enum class single_places : unsigned char { are_ranges, are_slots };

// For R with keys of eight bytes, as all keys of the bench are.
template <remote_map R, single_places Single = single_places::are_ranges>
class clocked_map {
  public:
    explicit clocked_map(R& inner) noexcept : inner_{inner} {}

    result<bool> put(const digest& where, key_view key) {
        return clock_.timed([&] { return inner_.put(where, key); });
    }
    result<bool> erase(const digest& where, key_view key) {
        return clock_.timed([&] { return inner_.erase(where, key); });
    }
    result<bool> contains(const digest& where, key_view key) {
        return clock_.timed([&] { return inner_.contains(where, key); });
    }
    // Visits are the filter's work, the walk is R's: the records are copied out first, on R's time,
    // to memory that is used again and again and so disturbs the filter's cache little.
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        static thread_local std::vector<record> seen;
        constexpr bool counts_slots = Single == single_places::are_slots;
        remote_meter& meter = remote_meter::of_this_thread();
        ++(counts_slots && first == last ? meter.slot_reads : meter.range_reads);
        const result<void> read = clock_.timed([&] {
            seen.clear();
            return inner_.for_each(first, last, [&](const digest& at, key_view key) {
                assert(key.size == sizeof(record::key));
                record& copy = seen.emplace_back();
                copy.at = at;
                std::copy_n(key.data, sizeof copy.key, copy.key);
                return true;
            });
        });
        for (const record& each : seen) {
            if (!visit(each.at, key_view{each.key, sizeof each.key})) break;
        }
        return read;
    }
    result<void> apply(std::span<const record_change> changes) requires batched_map<R> {
        return clock_.timed([&] { return inner_.apply(changes); });
    }
    result<void> erase_range(std::uint64_t first, std::uint64_t last) requires batched_map<R> {
        return clock_.timed([&] { return inner_.erase_range(first, last); });
    }
    [[nodiscard]] const remote_clock& clock() const noexcept { return clock_; }

  private:
    struct record {
        digest at;
        std::byte key[8];
    };

    R& inner_;
    const remote_clock clock_;
};

}  // namespace genista::tool::bench
