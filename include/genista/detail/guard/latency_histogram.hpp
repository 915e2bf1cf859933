// latency_histogram: how long operations took, in a few kilobytes and without locks.
//
//     bucket   16 to an octave from 64 ns to 18 minutes: 1/16 of its value wide, so a percentile is
//              exact to 6 %
//
// Shorter times count in the first bucket, longer ones in the last. Threads: any number may record;
// a percentile that is computed meanwhile may include some of these records and miss others.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace genista {

class latency_histogram {
  public:
    static constexpr unsigned per_octave = 16;
    static constexpr unsigned first_octave = 6;  // 2^6 ns
    static constexpr unsigned octaves = 34;
    static constexpr unsigned buckets = per_octave * octaves;

    void record(std::uint64_t nanoseconds) noexcept {
        count_[bucket_of(nanoseconds)].fetch_add(1, std::memory_order_relaxed);
        total_ns_.fetch_add(nanoseconds, std::memory_order_relaxed);
    }

    [[nodiscard]] std::uint64_t count() const noexcept { return count_below(buckets); }
    [[nodiscard]] std::uint64_t total_nanoseconds() const noexcept { return total_ns_.load(std::memory_order_relaxed); }

    // An upper bound on the nanoseconds of a share (0..1) of the records: the end of a bucket. 0 if
    // there are no records.
    [[nodiscard]] std::uint64_t percentile(double share) const noexcept;
    // How many records are below 2^octave ns; exact for first_octave < octave ≤ first_octave +
    // octaves.
    [[nodiscard]] std::uint64_t count_below_octave(unsigned octave) const noexcept {
        return count_below((octave - first_octave) * per_octave);
    }

    void add(const latency_histogram& other) noexcept;

    [[nodiscard]] static unsigned bucket_of(std::uint64_t nanoseconds) noexcept {
        const unsigned octave = nanoseconds == 0 ? 0 : static_cast<unsigned>(std::bit_width(nanoseconds)) - 1;
        if (octave < first_octave) return 0;
        if (octave >= first_octave + octaves) return buckets - 1;
        const auto within = static_cast<unsigned>(nanoseconds >> (octave - 4)) & (per_octave - 1);
        return (octave - first_octave) * per_octave + within;
    }
    // The least value of the next bucket.
    [[nodiscard]] static std::uint64_t end_of(unsigned bucket) noexcept {
        const unsigned octave = first_octave + bucket / per_octave;
        return std::uint64_t{per_octave + bucket % per_octave + 1} << (octave - 4);
    }

  private:
    [[nodiscard]] std::uint64_t count_below(unsigned bucket) const noexcept;

    std::array<std::atomic<std::uint64_t>, buckets> count_{};
    std::atomic<std::uint64_t> total_ns_{0};
};

}  // namespace genista
