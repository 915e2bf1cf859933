// What the bench measures, seen from the clock: whole loops behind one virtual call each.
//
// The virtual call is paid once a loop (10^5 keys and more), never once a key; inside, filter_subject.hpp calls the
// filter's own functions directly. Every loop returns a count that depends on every answer, so that no compiler can
// leave a look-up out and the rounds can check the answers they have just timed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/filters/filter.hpp"

namespace genista::tool::bench {

// Keys in one batch call. Large enough that starting the ring of prefetches costs nothing, small enough that the
// answers stay in the first-level cache.
inline constexpr std::size_t batch_size = 4096;

// Something that answers look-ups: a filter or the floor.
class reader {
  public:
    virtual ~reader() = default;

    // How many of the keys may be contained: one call a key, and in batches.
    [[nodiscard]] virtual std::uint64_t count_each(std::span<const std::uint64_t> keys) const = 0;
    [[nodiscard]] virtual std::uint64_t count_batch(std::span<const std::uint64_t> keys) const = 0;

  protected:
    reader() = default;
    reader(const reader&) = default;
    reader& operator=(const reader&) = default;
};

// A filter under test.
class subject : public reader {
  public:
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    [[nodiscard]] virtual filter_stats stats() const = 0;

    // Back to a new filter without keys. On failure the old one stays.
    virtual result<void> empty() = 0;

    // What has to happen before an insert and is not the filter's work. Not timed.
    virtual void before_insert(std::span<const std::uint64_t>) {}
    // How many of the keys the filter refused as full.
    [[nodiscard]] virtual std::uint64_t insert(std::span<const std::uint64_t> keys) = 0;

    [[nodiscard]] virtual bool can_erase() const noexcept = 0;
    // How many of the keys were erased. Only if can_erase().
    [[nodiscard]] virtual std::uint64_t erase(std::span<const std::uint64_t> keys) = 0;

    [[nodiscard]] virtual bool can_adapt() const noexcept { return false; }
    // How many of the keys, all absent, are false positives no longer. Only if can_adapt().
    [[nodiscard]] virtual std::uint64_t adapt(std::span<const std::uint64_t>) { return 0; }
    [[nodiscard]] virtual std::vector<std::uint64_t> false_positives(std::span<const std::uint64_t>) const {
        return {};
    }

    // Time spent in a remote map so far: the caller takes it off.
    [[nodiscard]] virtual std::chrono::steady_clock::duration remote_time() const noexcept { return {}; }
};

}  // namespace genista::tool::bench
