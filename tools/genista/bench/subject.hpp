// What the bench measures, seen from the clock: whole loops behind one virtual call each.
//
// The virtual call is paid once a loop (10^5 keys and more), never once a key; inside,
// filter_subject.hpp calls the filter's own functions directly. Every loop returns a count that
// depends on every answer, so that no compiler can leave a look-up out and the rounds can check the
// answers they have just timed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bench/flat_map.hpp"
#include "genista/base/result.hpp"
#include "genista/filters/filter.hpp"

namespace genista::tool::bench {

// Keys in one batch call. Large enough that starting the ring of prefetches costs nothing, small
// enough that the answers stay in the first-level cache.
inline constexpr std::size_t batch_size = 4096;

// Something that answers look-ups: a filter or the floor.
class reader {
  public:
    virtual ~reader() = default;

    // Prepares what a look-up needs and the filter does not compute (the classes of daisy filters).
    // The keys are all stored or all absent. Not timed as a look-up; on one thread, and valid until
    // the next call.
    virtual void before_lookups(std::span<const std::uint64_t>, bool /*stored*/) const {}

    // How many of the keys may be contained: one call a key, and in batches.
    [[nodiscard]] virtual std::uint64_t count_each(std::span<const std::uint64_t> keys) const = 0;
    [[nodiscard]] virtual std::uint64_t count_batch(std::span<const std::uint64_t> keys) const = 0;

  protected:
    reader() = default;
    reader(const reader&) = default;
    reader& operator=(const reader&) = default;
};

// Look-ups and updates of one thread, in an order that depends on nothing but the share: every
// update comes when its turn is due, so that the branch between the two costs the filter next to
// nothing.
struct mixed_work {
    std::uint64_t operations = 0;
    std::uint64_t update_percent = 0;
    std::span<const std::uint64_t> lookups{};  // operations - updates() keys
    std::span<const std::uint64_t> inserts{};  // the 1st, 3rd, 5th … update
    std::span<const std::uint64_t> erases{};   // the 2nd, 4th, 6th … update

    [[nodiscard]] std::uint64_t updates() const { return operations * update_percent / 100; }
};

// The results of updates. `refused` and `lost` are faults.
struct update_counts {
    std::uint64_t refused = 0;    // inserts answered "full"
    std::uint64_t lost = 0;       // keys that an erase did not find
    std::uint64_t positives = 0;  // of the look-ups between them
};

// A filter under test.
class subject : public reader {
  public:
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    [[nodiscard]] virtual filter_stats stats() const = 0;
    // What before_lookups() takes a key; nothing where it does nothing.
    [[nodiscard]] virtual std::optional<double> oracle_ns() const { return std::nullopt; }

    // All keys that the remote map will hold, before the first insert; null: only look-ups follow.
    // Has an effect only if asks_remote().
    virtual void announce(const std::shared_ptr<const flat_records>&) {}

    // Back to a new filter without keys. On failure the old one stays.
    virtual result<void> empty() = 0;

    // Prepares an insert: work that is not the filter's. Not timed.
    virtual void before_insert(std::span<const std::uint64_t>) {}
    // How many of the keys the filter refused as full.
    [[nodiscard]] virtual std::uint64_t insert(std::span<const std::uint64_t> keys) = 0;

    // The build of a filter that is built from all its keys, after the last insert. Its time is
    // part of the inserts. Returns how many keys it refused.
    [[nodiscard]] virtual std::uint64_t finish_inserts() { return 0; }
    // The memory that the build takes beside that of stats().
    [[nodiscard]] virtual std::uint64_t building_bytes() const { return 0; }

    // insert() and erase() in spans of batch_size keys; only if it says so.
    [[nodiscard]] virtual bool inserts_in_batches() const noexcept { return false; }
    [[nodiscard]] virtual bool erases_in_batches() const noexcept { return false; }
    [[nodiscard]] virtual std::uint64_t insert_batch(std::span<const std::uint64_t>) { return 0; }
    [[nodiscard]] virtual std::uint64_t erase_batch(std::span<const std::uint64_t>) { return 0; }

    [[nodiscard]] virtual bool can_erase() const noexcept { return false; }
    // How many of the keys were erased. Only if can_erase().
    [[nodiscard]] virtual std::uint64_t erase(std::span<const std::uint64_t>) { return 0; }

    // May several threads insert and erase at once? Look-ups always may.
    [[nodiscard]] virtual bool many_writers() const noexcept { return false; }
    // Only if can_erase(), and on several threads at once only if many_writers().
    [[nodiscard]] virtual update_counts mixed(const mixed_work&) { return {}; }

    // Does it work beside a remote map? Then so much memory is needed there for slots.
    [[nodiscard]] virtual bool asks_remote() const noexcept { return false; }
    [[nodiscard]] virtual std::uint64_t slot_bytes() const { return 0; }

    [[nodiscard]] virtual bool can_adapt() const noexcept { return false; }
    // How many of the keys, all absent, were recognised as false positives, repaired or not: a
    // repair may fail. Only if can_adapt().
    [[nodiscard]] virtual std::uint64_t adapt(std::span<const std::uint64_t>) { return 0; }
    [[nodiscard]] virtual std::vector<std::uint64_t> false_positives(std::span<const std::uint64_t>) const {
        return {};
    }

    // What this thread has spent in, and read from, a remote map so far: callers take differences.
    [[nodiscard]] virtual std::chrono::steady_clock::duration remote_time() const noexcept { return {}; }
    [[nodiscard]] virtual std::uint64_t remote_range_reads() const noexcept { return 0; }
    [[nodiscard]] virtual std::uint64_t remote_slot_reads() const noexcept { return 0; }
};

}  // namespace genista::tool::bench
