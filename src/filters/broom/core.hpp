// core: insert, erase, adapt and growth of the broom filter. The remote map comes in as a
// range_source, so that this is compiled once.
//
// An operation that reads R takes the bin's version before the read and compares it under the lock
// afterwards: if the bin has changed, the operation starts over. An operation that fails has
// changed nothing.
//
// Growth. A layout is one table, or two during a sweep: the bins of the old table below the front
// have been rebuilt in the new one (each as whole bins, because the new table has 2^doublings times
// as many), the others have not. The front moves by one old bin under that bin's lock, so a writer
// that holds the lock of a bin knows in which table the bin lives.
//
// Replaced layouts and tables stay until the filter is destroyed, but their pages are given back,
// those of an old table piece by piece as the front passes. A late reader reads zeros there, sees
// that the front has passed its bin or that the layout has changed, and starts over. (It is sure to
// see that: the front moved before the kernel took the page away from every processor.) So a
// growing filter takes hardly more memory than it will in the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "filters/broom/attempts.hpp"
#include "filters/broom/budget.hpp"
#include "filters/broom/epoch.hpp"
#include "genista/filters/broom.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

// One table, or two with a front between them.
struct layout {
    table* now = nullptr;
    table* next = nullptr;                 // where the sweep rebuilds bins
    std::atomic<std::uint64_t> front = 0;  // bins of `now` below it live in `next`
    unsigned doublings = 0;                // bins of `next` = bins of `now` · 2^doublings
    bool may_leave_keys = true;            // a bin of `next` without room may omit keys of R that `now` does not hold
    broom_lookup_state state{};

    [[nodiscard]] table& of(const digest& d) const noexcept {
        return next != nullptr && now->bin_of(d) < front.load(std::memory_order_acquire) ? *next : *now;
    }
};

class core {
  public:
    [[nodiscard]] static result<std::unique_ptr<core>> make(const broom_options& options, const hasher& hash, shape s,
                                                            std::uint64_t bins) noexcept;
    // Adopts tables that were restored from a snapshot; `next` may be null.
    [[nodiscard]] static result<std::unique_ptr<core>> adopt(const broom_options& options, const hasher& hash,
                                                             std::unique_ptr<table> now, std::unique_ptr<table> next,
                                                             unsigned doublings, std::uint64_t front) noexcept;

    [[nodiscard]] bool contains(const digest& d) const noexcept {
        broom_trace touched;
        return contains(d, touched);
    }
    bool contains(const digest& d, broom_trace& touched) const noexcept;
    // The look-up state of the present layout; it changes with the layout.
    [[nodiscard]] const std::atomic<const broom_lookup_state*>& state() const noexcept { return state_; }
    // REQUIRES: R holds the key already (the store commits first).
    [[nodiscard]] result<insert_outcome> insert(const digest& d, range_source& source) noexcept;
    [[nodiscard]] result<erase_outcome> erase(const digest& d, range_source& source) noexcept;
    [[nodiscard]] result<erase_outcome> forget(const digest& d, range_source& source) noexcept;
    // REQUIRES: the key was inserted, and R held it until after its bin was in the marked epoch.
    [[nodiscard]] result<erase_outcome> forget_assuming_present(const digest& d, const broom_epoch_mark& when,
                                                                range_source& source) noexcept;
    [[nodiscard]] result<adapt_outcome> adapt(const digest& d, range_source& source) noexcept;
    // Rebuilds every bin from R, read by several threads at once.
    [[nodiscard]] result<void> rebuild(range_source& source, unsigned threads = 1) noexcept;
    // Rebuilds the bins of these positions only, one read of R each.
    [[nodiscard]] result<void> rebuild_range(position_range range, range_source& source) noexcept;
    // Doubles the number of bins, or more if R asks for it; finishes a sweep that is under way.
    // True: the filter now holds everything that R holds, not only what it held before.
    [[nodiscard]] result<bool> grow(range_source& source, bool may_leave_keys = true) noexcept;
    // One step of growth, after an insert, if the table wants to grow.
    void grow_a_little(range_source& source) noexcept;
    [[nodiscard]] result<void> audit(range_source& source) const noexcept;

    [[nodiscard]] const broom_options& options() const noexcept { return options_; }
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] shape form() const noexcept { return shape_; }
    [[nodiscard]] std::uint64_t keys() const noexcept { return writers_.keys.load(std::memory_order_relaxed); }
    // The last range read of R failed: callers that can should read R before they change it.
    [[nodiscard]] bool reads_fail() const noexcept { return reads_fail_.load(std::memory_order_relaxed); }
    [[nodiscard]] bool is_growing() const noexcept { return layout_.load(std::memory_order_acquire)->next != nullptr; }
    [[nodiscard]] filter_stats stats() const noexcept;
    void limit_memory(std::uint64_t bytes) noexcept { budget_.set_limit(bytes); }
    // The smallest memory_limit with which so many bins can be filled.
    [[nodiscard]] static std::uint64_t least_limit(shape s, std::uint64_t bins) noexcept;
    // For tests: the bytes that the budget counts.
    [[nodiscard]] std::uint64_t bytes_spent() const noexcept { return budget_.spent(); }
    [[nodiscard]] broom_details details() const noexcept;
    [[nodiscard]] result<void> save(sink& out, const store_mark& store) const noexcept;
    [[nodiscard]] static result<std::unique_ptr<core>> load(std::span<const std::byte> bytes) noexcept;

    // For tests: the table in use, while no growth is under way.
    [[nodiscard]] table& bins() const noexcept { return *layout_.load(std::memory_order_acquire)->now; }

  private:
    class save_pass;  // core_snapshot.cpp

    core(const broom_options& options, const hasher& hash, shape s) noexcept
        : options_{options}, hash_{hash}, shape_{s} {}

    enum class step : unsigned char { done, again, no_room };

    [[nodiscard]] table& table_of(const digest& d) const noexcept {
        return layout_.load(std::memory_order_acquire)->of(d);
    }
    // What a read of R gave in the range of the digest's bin, and the bin's version from before the
    // read.
    struct reading {
        table* where = nullptr;
        std::uint64_t bin = 0;
        std::uint32_t version = 0;
        population r;
        // The key's fingerprint in the epoch in which an insert found that it needs R.
        struct fingerprint_before {
            const table* in;
            std::uint64_t salt_number;
            present x;
        };
        std::optional<fingerprint_before> before = std::nullopt;

        // The key under the salt of this bin: computed once if the bin was not renewed meanwhile.
        [[nodiscard]] present of(const digest& d, const table& in, const bin_image& image) const noexcept {
            const bool same = before && before->in == &in && before->salt_number == image.now.number;
            return same ? before->x : in.under(d, image.now);
        }
    };
    [[nodiscard]] result<void> read(const digest& d, range_source& source, reading& into) noexcept;
    [[nodiscard]] result<void> fetch(position_range range, range_source& source, population& into) noexcept;
    // Under the lock: is the reading still valid?
    [[nodiscard]] bool stands(const reading& taken, const digest& d, const table::lock& held) const noexcept;
    void commit(table& in, table::lock& held, const bin_image& image, unsigned keys_before, budget_class from);
    // False: the limit leaves no room. The image is as it was before the change.
    [[nodiscard]] bool commit_if_allowed(table& in, table::lock& held, bin_image& image, unsigned keys_before);
    void count(const table::lock& held, std::uint64_t more_keys) noexcept {
        if (held.alone()) {
            writers_.keys.store(keys() + more_keys, std::memory_order_relaxed);
        } else {
            writers_.keys.fetch_add(more_keys, std::memory_order_relaxed);
        }
    }
    struct renewal {
        const digest* avoid = nullptr;  // must match nothing afterwards
        const digest* with = nullptr;   // one of the given keys, which must get a place
        budget_class from = budget_class::upkeep;
        bool may_leave_keys = true;  // may omit keys of R that the filter does not hold, if the bin has no room for all
    };
    // Rebuilds the bin from the given keys and commits; false: the bin cannot hold them, nothing
    // has changed.
    [[nodiscard]] bool renew(table& in, table::lock& held, bin_image& image, std::span<const digest> members,
                             const renewal& how);

    [[nodiscard]] result<insert_outcome> insert_into_bin(const digest& d, range_source& source);
    [[nodiscard]] step join(const digest& d, reading& taken);
    [[nodiscard]] result<bool> is_done(step last, const digest& d, const reading& taken, range_source& source);
    [[nodiscard]] step insert_with(const digest& d, const reading& taken, bool may_make_room, insert_outcome& outcome);
    [[nodiscard]] step insert_unread(const digest& d, const reading& taken);
    [[nodiscard]] result<erase_outcome> drop(const digest& d, reading& taken, range_source& source);
    [[nodiscard]] step erase_with(const digest& d, const reading& taken);
    [[nodiscard]] step rebuild_with(const digest& d, const reading& taken);
    [[nodiscard]] result<position_range> rebuild_bin_of(const digest& d, range_source& source);
    [[nodiscard]] bool leave_tombstone_assuming_present(const digest& d, const broom_epoch_mark& when);
    [[nodiscard]] step adapt_with(const digest& d, const reading& taken, adapt_outcome& outcome);

    // growth.cpp
    void back_off() const noexcept;
    [[nodiscard]] bool wants_to_grow() const noexcept;
    [[nodiscard]] bool may_grow() const noexcept;
    [[nodiscard]] bool can_make_room() const noexcept { return is_growing() || may_grow(); }
    [[nodiscard]] std::uint64_t price_of_growth(unsigned doublings) const noexcept;
    [[nodiscard]] bool can_afford_growth() const noexcept;
    [[nodiscard]] bool would_end_a_save() const noexcept;                                              // under growing_
    [[nodiscard]] result<void> begin_growth(unsigned doublings, bool may_leave_keys = true) noexcept;  // under growing_
    [[nodiscard]] result<void> begin_sweep(unsigned doublings, bool may_leave_keys) noexcept;
    void count_memory() noexcept;
    // Under growing_. False: all bins have moved.
    [[nodiscard]] result<bool> move_one_bin(range_source& source, int most = most_attempts) noexcept;
    [[nodiscard]] result<unsigned> doublings_for(range_source& source, bool may_leave_keys) noexcept;
    [[nodiscard]] result<unsigned> doublings_at(std::uint64_t bin, range_source& source) noexcept;
    [[nodiscard]] result<void> build_moved(const layout& l, std::uint64_t bin, const population& r);
    void end_growth();
    // Makes room for a key whose bin in `crowded` has none: grows until the bin has moved. False:
    // the table may not grow.
    [[nodiscard]] result<bool> make_room(const digest& d, const table& crowded, range_source& source) noexcept;
    // rebuild.cpp
    [[nodiscard]] result<bool> rebuild_all(table& in, range_source& source, unsigned threads);
    [[nodiscard]] result<bool> rebuild_bins(table& in, std::uint64_t first, std::uint64_t stop, range_source& source);
    [[nodiscard]] bool rebuild_cluster(table& in, table::lock& held, std::uint64_t first,
                                       std::span<const digest> members);
    [[nodiscard]] result<void> publish(std::unique_ptr<layout> made) noexcept;
    // Under growing_.
    [[nodiscard]] broom_details bytes() const noexcept;
    [[nodiscard]] std::uint64_t bytes_without_sides() const noexcept;

    broom_options options_;
    hasher hash_;
    shape shape_;
    std::atomic<layout*> layout_ = nullptr;
    std::atomic<const broom_lookup_state*> state_ = nullptr;
    writer_counters writers_;
    budget budget_;
    std::atomic<std::uint64_t> adapts_ = 0;
    std::atomic<std::uint64_t> renewals_ = 0;
    std::atomic<std::uint64_t> remote_reads_ = 0;
    std::atomic<std::uint64_t> growths_ = 0;
    std::atomic<bool> reads_fail_ = false;
    std::atomic<bool> crowded_ = false;  // some bin's backyard is nearly full
    std::uint64_t counted_bytes_ = 0;    // in the budget, all but side memory; under growing_
    mutable std::mutex growing_;
    mutable save_pass* saving_ = nullptr;           // saves under way, a list; under growing_
    std::vector<std::unique_ptr<table>> tables_;    // all that ever were; under growing_
    std::vector<std::unique_ptr<layout>> layouts_;  // all that ever were; under growing_
};

// A random number for a table's salts, or one from the options' seed.
[[nodiscard]] result<std::uint64_t> fresh_secret(const broom_options& options, std::uint64_t table_number) noexcept;

// The look-up kernels for this processor: kernels.cpp.
[[nodiscard]] const broom_kernel_set<broom_lookup_state>* pick_kernels(shape s) noexcept;

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
