// daisy_broom_core: the part of a daisy_broom_filter that does not depend on the types of its
// oracle and its R, so that it is compiled once. See daisy_broom.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "genista/detail/base/random_source.hpp"
#include "genista/detail/filters/daisy_broom/absent_list.hpp"
#include "genista/detail/filters/daisy_broom/bands.hpp"
#include "genista/detail/filters/daisy_broom/deferred_band.hpp"
#include "genista/detail/oracles/oracle_identity.hpp"
#include "genista/filters/broom.hpp"

namespace genista {

struct daisy_broom_options {
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
    bool key_is_new = false;                    // as in broom_options
    broom_history history = broom_history::tombstone;
    bool grows = true;
    // The size of all full bands together. Rates are whole bits; what that leaves over is spent
    // where it saves most (bands.hpp).
    std::optional<std::uint64_t> bits = std::nullopt;
    // The memory limit of the list of false positives of class 0; memory is taken as they are
    // found. None: as much as keeping these keys would take, by the plan (or as build() counted
    // them), at least 4 KiB.
    std::optional<std::uint64_t> exception_bytes = std::nullopt;
    // When the list is full, keep the keys of class 0 in a band of their own (deferred_band.hpp):
    // as many bytes again, then the list is released. With false the list stays within its limit
    // and forgets: queries that repeat more false positives than it holds waste reads for ever.
    bool deferred_band = true;
    // For oracles without an identity (oracle_identity.hpp). The caller guarantees that no other
    // oracle has this one.
    std::optional<oracle_identity> oracle = std::nullopt;
    random_source random{};  // the operating system's
};

// How far the keys and queries differ from the plan. `stored` and `mistakes` are distances between
// two distributions over the bands, 0 to 1.
struct daisy_drift {
    double stored = 0;         // of the stored keys from the plan's
    double mistakes = 0;       // of the false positives found, with class 0, from those that the plan expects
    double fill = 0;           // keys in the bands, divided by the keys they were made for
    std::uint64_t keys = 0;    // from which `stored` was computed
    std::uint64_t adapts = 0;  // from which `mistakes` was computed
    unsigned bands = 1;

    // A distance of more than a tenth, and more than chance explains: a distribution over k values
    // measured by n draws is off by √(k/n)/2 on average.
    [[nodiscard]] bool is_notable() const noexcept;
};

class daisy_broom_core {
  public:
    [[nodiscard]] static result<std::unique_ptr<daisy_broom_core>> make(
        const daisy_broom_options& options, const daisy_plan& plan, const hasher& hash,
        const std::optional<daisy_bands::class_counts>& counted) noexcept;
    [[nodiscard]] static result<hasher> hash_from(const daisy_broom_options& options) noexcept;

    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] const daisy_plan& plan() const noexcept { return plan_; }
    [[nodiscard]] const daisy_bands& bands() const noexcept { return bands_; }
    [[nodiscard]] broom_filter& broom(unsigned band) noexcept { return brooms_[band]; }
    [[nodiscard]] const broom_filter& broom(unsigned band) const noexcept { return brooms_[band]; }
    [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(brooms_.size()); }
    [[nodiscard]] absent_list& cells() noexcept { return cells_; }
    [[nodiscard]] const absent_list& cells() const noexcept { return cells_; }

    // The deferred band of class 0, null until it opens.
    [[nodiscard]] deferred_band* deferred() noexcept { return deferred_.load(std::memory_order_seq_cst); }
    [[nodiscard]] const deferred_band* deferred() const noexcept { return deferred_.load(std::memory_order_seq_cst); }
    // The deferred band, for a thread that has just committed a key to R. Null: every read of R
    // that fills a range later will find the key. The thread that opens the band changes one
    // counter after publishing the band, and this call changes the same counter before loading the
    // band: the second of the two sees what the first did before its change.
    [[nodiscard]] deferred_band* deferred_after_commit() noexcept {
        if (deferred_band* const open = deferred(); open != nullptr) return open;
        committed_or_opened_.fetch_add(1, std::memory_order_acq_rel);
        return deferred();
    }
    [[nodiscard]] bool may_open_deferred() const noexcept { return opens_; }
    [[nodiscard]] bool bands_grow() const noexcept { return how_.grows; }
    // A sample: one of `parts` equal ranges of R, and the keys of class 0 found in it. It decides
    // the size of the band.
    struct deferred_sample {
        std::uint64_t parts = 1, found = 0;
    };
    // As many parts as the band would have bins: by the plan, or by the number of keys reported to
    // the filter, if that is more.
    [[nodiscard]] std::uint64_t planned_deferred_parts() const noexcept;
    [[nodiscard]] std::uint64_t told_deferred_parts() const noexcept;
    // Opens the deferred band, empty. Does nothing if it is open. An error: no memory.
    [[nodiscard]] result<void> open_deferred(const deferred_sample& seen) noexcept;
    [[nodiscard]] bool may_contain_unkept(const digest& d) const noexcept {
        const deferred_band* const band = deferred_.load(std::memory_order_acquire);
        if (band != nullptr && band->is_built(d.position)) return band->broom().may_contain(d);
        return !cells_.excludes(d.position);
    }

    // A key of class 0 was inserted or erased: only their number is kept, as reported.
    void count_unkept(bool more) noexcept;
    void count_unkept_adapt() noexcept { unkept_adapts_.fetch_add(1, std::memory_order_relaxed); }
    void count_unkept_read() noexcept { unkept_reads_.fetch_add(1, std::memory_order_relaxed); }
    void set_unkept(std::uint64_t keys) noexcept { unkept_.store(keys, std::memory_order_relaxed); }

    [[nodiscard]] filter_stats stats(std::uint64_t oracle_bytes) const noexcept;
    [[nodiscard]] daisy_drift drift() const noexcept;

    // The snapshot includes the marks of the oracle; a filter cannot be loaded without the same
    // oracle.
    [[nodiscard]] result<void> save(sink& out, const oracle_marks& oracle, const store_mark& store) const noexcept;
    struct saved {
        std::unique_ptr<daisy_broom_core> core;
        oracle_marks oracle;
    };
    [[nodiscard]] static result<saved> load(std::span<const std::byte> bytes) noexcept;

  private:
    // Settings that all bands share.
    struct manner {
        broom_history history = broom_history::tombstone;
        bool grows = true;
        random_source random{};
    };

    daisy_broom_core(const hasher& hash, const daisy_plan& plan, daisy_bands bands, std::uint64_t exception_bytes,
                     const manner& how, bool opens) noexcept
        : hash_{hash}, plan_{plan}, bands_{std::move(bands)}, how_{how}, opens_{opens}, cells_{exception_bytes} {}
    [[nodiscard]] broom_options broom_of(const daisy_band& band) const noexcept;
    [[nodiscard]] double rate_of_class_0() const noexcept;
    [[nodiscard]] std::uint64_t deferred_told() const noexcept;
    [[nodiscard]] std::uint64_t deferred_capacity(const deferred_sample& seen) const noexcept;

    hasher hash_;
    daisy_plan plan_;
    daisy_bands bands_;
    manner how_;
    bool opens_;
    std::vector<broom_filter> brooms_;
    absent_list cells_;
    std::atomic<deferred_band*> deferred_ = nullptr;
    std::atomic<std::uint64_t> committed_or_opened_ = 0;
    std::unique_ptr<deferred_band> deferred_owner_;  // under opening_
    std::mutex opening_;
    std::atomic<std::uint64_t> unkept_ = 0, unkept_adapts_ = 0, unkept_reads_ = 0;
};

}  // namespace genista
