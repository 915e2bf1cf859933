// table: the bins of a broom filter in memory, with everything that one bin's readers and writers need.
//
//     lines     bins × 64 bytes                                     line.hpp
//     tails     bins × 6·t bytes, slot s at bit s·t                 only for t > 0
//     sides     one handle a group of 16 bins, of a block: its first 16 bits count entries, which follow   side.hpp
//     versions  a counter a stripe of groups: even at rest, odd while a writer is inside
//
// Readers never lock: they take the version, read, compare it again, and start over if it moved. A writer holds the lock of
// one group, works on an image of the bin, and commits it; a commit that cannot have its memory has changed nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "filters/broom/fingerprint.hpp"
#include "filters/broom/line.hpp"
#include "filters/broom/memory.hpp"
#include "filters/broom/mix.hpp"
#include "filters/broom/shape.hpp"
#include "filters/broom/side.hpp"
#include "genista/base/buffer.hpp"
#include "genista/base/uint128.hpp"
#include "genista/remote/remote.hpp"

namespace genista::broom {

// Where a digest lives in this table.
struct place {
    std::uint64_t bin;
    std::uint64_t fraction;
    std::uint64_t seed;

    [[nodiscard]] std::uint64_t group() const noexcept { return bin / bins_per_group; }
    [[nodiscard]] unsigned bin_in_group() const noexcept { return static_cast<unsigned>(bin % bins_per_group); }
};

// A bin taken out for a change.
struct bin_image {
    explicit bin_image(shape s) noexcept : sides{s} {}

    std::uint64_t bin = 0;
    line slots{};
    std::array<std::uint32_t, slots_per_bin> tails{};
    side_list sides;  // of the whole group
};

class table {
  public:
    // `generation` must never have been used with this hash key [law L1].
    [[nodiscard]] static result<std::unique_ptr<table>> make(shape s, std::uint64_t bins, const hash_key& key,
                                                             std::uint64_t generation) noexcept;

    [[nodiscard]] std::uint64_t bins() const noexcept { return bins_; }
    [[nodiscard]] shape form() const noexcept { return shape_; }
    [[nodiscard]] position_range range_of(std::uint64_t bin) const noexcept { return range_of_bin(bin, bins_); }
    [[nodiscard]] place place_of(const digest& d) const noexcept {
        const uint128 product = static_cast<uint128>(d.position) * bins_;
        return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product), d.seed};
    }
    [[nodiscard]] mixed mix(const place& at, std::uint32_t counter) const noexcept {
        return mixer_(at.seed, at.fraction, counter);
    }
    [[nodiscard]] std::uint64_t local_bytes() const noexcept;

    [[nodiscard]] bool contains(const digest& d) const noexcept;

    // Even: nobody was inside.
    [[nodiscard]] std::uint32_t version(std::uint64_t group) const noexcept {
        while (true) {
            const std::uint32_t seen = stripe(group).load(std::memory_order_acquire);
            if ((seen & 1) == 0) return seen;
            pause();
        }
    }

    // Excludes other writers of the group, and makes its readers start over if something was committed.
    class lock {
      public:
        lock(const table& of, std::uint64_t group) noexcept : version_{of.stripe(group)} {
            while (true) {
                before_ = version_.load(std::memory_order_relaxed);
                if ((before_ & 1) == 0 &&
                    version_.compare_exchange_weak(before_, before_ + 1, std::memory_order_acquire)) {
                    return;
                }
                pause();
            }
        }
        lock(const lock&) = delete;
        lock& operator=(const lock&) = delete;
        ~lock() { version_.store(changed_ ? before_ + 2 : before_, std::memory_order_release); }

        [[nodiscard]] std::uint32_t version() const noexcept { return before_; }
        void touch() noexcept { changed_ = true; }

      private:
        std::atomic<std::uint32_t>& version_;
        std::uint32_t before_ = 0;
        bool changed_ = false;
    };

    // Under the lock. May throw std::bad_alloc, having changed nothing.
    [[nodiscard]] bin_image read(std::uint64_t bin) const;
    void commit(lock& held, const bin_image& image);

    // The salt counter of the image's bin, and setting it; side entries hold what a byte cannot.
    [[nodiscard]] static std::uint32_t counter_of(const bin_image& image) noexcept;
    static void set_counter(bin_image& image, std::uint32_t counter);

  private:
    static constexpr std::uint8_t long_salt = 255;
    static constexpr std::uint64_t most_stripes = 4096;

    table(shape s, std::uint64_t bins, const hash_key& key, std::uint64_t generation) noexcept
        : shape_{s}, bins_{bins}, mixer_{key, generation} {}

    static void pause() noexcept {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    [[nodiscard]] std::atomic<std::uint32_t>& stripe(std::uint64_t group) const noexcept {
        return versions_[group & (stripes_ - 1)];
    }
    [[nodiscard]] std::uint64_t* line_words(std::uint64_t bin) const noexcept {
        return reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(lines_.data())) + 8 * bin;
    }
    [[nodiscard]] line load_line(std::uint64_t bin) const noexcept {
        line copy;
        for (std::size_t i = 0; i < 8; ++i) copy.words[i] = load_word(line_words(bin) + i);
        return copy;
    }
    [[nodiscard]] bool look(const place& at) const noexcept;
    [[nodiscard]] std::uint32_t load_tail(std::uint64_t bin, unsigned slot) const noexcept;
    void store_tails(const bin_image& image) noexcept;
    // visit(side_entry) for the entries of the group, until it returns false. Total on torn blocks.
    template <class Visit>
    void each_entry(std::uint64_t group, Visit visit) const noexcept;

    shape shape_;
    std::uint64_t bins_;
    mixer mixer_;
    buffer lines_;
    buffer tails_;
    std::unique_ptr<std::atomic<side_memory::handle>[]> sides_;
    std::uint64_t stripes_ = 1;
    mutable std::unique_ptr<std::atomic<std::uint32_t>[]> versions_;
    side_memory memory_;
};

}  // namespace genista::broom
