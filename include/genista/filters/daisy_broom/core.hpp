// daisy_broom_core: all of a daisy_broom_filter that does not depend on the types of its oracle and its R. See daisy_broom.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "genista/filters/broom.hpp"
#include "genista/filters/daisy_broom/absent_cells.hpp"
#include "genista/filters/daisy_broom/bands.hpp"
#include "genista/oracles/oracle_identity.hpp"

namespace genista {

struct daisy_broom_options {
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
    bool key_is_new = false;                    // as of broom_options
    broom_history history = broom_history::bury;
    bool grows = true;
    // All bands together, when they are full: what whole bits leave over of it is spent where it saves most (bands.hpp).
    std::optional<std::uint64_t> bits = std::nullopt;
    // For mistakes about keys of which nothing is kept, taken with the first of them. None: two bits a draw, 4 KiB at least; 0: such mistakes
    // stay `unfixed`.
    std::optional<std::uint64_t> exception_bytes = std::nullopt;
    // For oracles that cannot say who they are (oracle_identity.hpp): the caller vouches that no other oracle has this one.
    std::optional<oracle_identity> oracle = std::nullopt;
    std::optional<std::uint64_t> repeatable = std::nullopt;  // salts from this seed: tests and experiments only
};

// How far the world has gone from the plan. Both numbers are distances between two distributions over the bands, 0 to 1.
struct daisy_drift {
    double stored = 0;         // the keys stored, from the plan's
    double mistakes = 0;       // the mistakes found, class 0 among them, from those that the plan expects
    double fill = 0;           // keys in the bands for each that they were made for
    std::uint64_t keys = 0;    // that `stored` was computed from
    std::uint64_t adapts = 0;  // that `mistakes` was computed from
    unsigned bands = 1;

    // More than a tenth, and more than chance explains: a distribution over k values measured by n draws is off by √(k/n)/2 on average.
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
    [[nodiscard]] absent_cells& cells() noexcept { return cells_; }
    [[nodiscard]] const absent_cells& cells() const noexcept { return cells_; }

    // Keys of class 0 come and go: only their number is known, as it was told.
    void count_unkept(bool more) noexcept;
    void count_unkept_adapt() noexcept { unkept_adapts_.fetch_add(1, std::memory_order_relaxed); }
    void count_unkept_read() noexcept { unkept_reads_.fetch_add(1, std::memory_order_relaxed); }
    void set_unkept(std::uint64_t keys) noexcept { unkept_.store(keys, std::memory_order_relaxed); }

    [[nodiscard]] filter_stats stats(std::uint64_t oracle_bytes) const noexcept;
    [[nodiscard]] daisy_drift drift() const noexcept;

    // The marks of the oracle, without which nobody asks this filter again.
    struct marks {
        oracle_identity identity, probe;
        friend bool operator==(const marks&, const marks&) = default;
    };
    [[nodiscard]] result<void> save(sink& out, const marks& oracle, const store_mark& store) const noexcept;
    struct saved {
        std::unique_ptr<daisy_broom_core> core;
        marks oracle;
    };
    [[nodiscard]] static result<saved> load(std::span<const std::byte> bytes) noexcept;

  private:
    daisy_broom_core(const hasher& hash, const daisy_plan& plan, daisy_bands bands,
                     std::uint64_t exception_bytes) noexcept
        : hash_{hash}, plan_{plan}, bands_{std::move(bands)}, cells_{exception_bytes} {}

    hasher hash_;
    daisy_plan plan_;
    daisy_bands bands_;
    std::vector<broom_filter> brooms_;
    absent_cells cells_;
    std::atomic<std::uint64_t> unkept_ = 0, unkept_adapts_ = 0, unkept_reads_ = 0;
};

}  // namespace genista
