// store_watch: what a guarded store reports about its openings and snapshots: log messages, and
// figures beside guard_counters. A store has one, shared by the parts that fill it (find_filter,
// filter_snapshotter) and the store itself, so that the figures can be read at any time, also when
// the store is closed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "genista/base/result.hpp"
#include "genista/guard/event_log.hpp"
#include "genista/guard/metrics.hpp"

namespace genista::rocks {

enum class filter_origin : unsigned char {
    snapshot,  // loaded, and the log replayed
    rebuilt,   // built from R in one scan
    // Holds what fitted, or nothing yet: the other ranges answer "maybe"
    // (guard_counters::ranges_pending_repair, of 4096).
    partial,
};
[[nodiscard]] std::string_view to_string(filter_origin origin) noexcept;

// Figures of one opening.
struct store_counters {
    std::uint64_t snapshots = 0;          // taken
    std::uint64_t snapshot_failures = 0;  // not taken because of an error, or because ranges needed repair
    std::uint64_t snapshots_refused = 0;  // found at opening and not used
    // Since the newest snapshot was taken or found to be current, by this process or before it
    // opened the store. None: there is no snapshot.
    std::optional<double> snapshot_age_seconds{};
    filter_origin origin = filter_origin::rebuilt;
    double opening_seconds = 0;
};

class store_watch {
  public:
    using wall_clock = std::chrono::system_clock;

    explicit store_watch(event_log log = {}) noexcept : log_{std::move(log)} {}
    store_watch(const store_watch&) = delete;
    store_watch& operator=(const store_watch&) = delete;

    [[nodiscard]] const event_log& log() const noexcept { return log_; }

    // At opening.
    void snapshot_refused(const char* path, const error& why) noexcept;
    void snapshot_loaded(wall_clock::time_point taken) noexcept { note_snapshot(taken); }
    void opened(filter_origin origin, std::uint64_t keys, double seconds) noexcept;

    // A snapshot was taken, was not needed because the last one is current, or failed.
    void snapshot_taken(std::uint64_t keys, double seconds) noexcept;
    void snapshot_is_current() noexcept { note_snapshot(wall_clock::now()); }
    void snapshot_failed(const error& why, event_level level = event_level::error) noexcept;

    [[nodiscard]] std::uint64_t snapshots() const noexcept { return taken_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t failures() const noexcept { return failed_.load(std::memory_order_relaxed); }
    [[nodiscard]] store_counters counters() const noexcept;

    // REQUIRES: the guard's samples of the same store were added last, so that this store is the
    // page's current one.
    void add_metrics(metrics_page& page) const;

  private:
    void note_snapshot(wall_clock::time_point at) noexcept {
        last_snapshot_.store(at.time_since_epoch().count(), std::memory_order_relaxed);
    }

    static constexpr wall_clock::rep no_snapshot = 0;

    event_log log_;
    std::atomic<std::uint64_t> taken_{0}, failed_{0}, refused_{0};
    std::atomic<wall_clock::rep> last_snapshot_{no_snapshot};
    std::atomic<filter_origin> origin_{filter_origin::rebuilt};
    std::atomic<double> opening_seconds_{0};
};

}  // namespace genista::rocks
