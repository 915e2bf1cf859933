// Query sequences over 64-bit keys. Each is a small value: both copies of it continue alike. A call
// returns the next key.
//
//     uniform_queries    every key of a range alike                       first .. first + keys - 1
//     zipf_queries       few keys have most queries                       first is the most frequent, then first + 1, …
//     drifting_queries   a working set that moves on                      a window that slides upwards from first, for ever
//     scan_queries       one after the other, and from the start again    first, first + 1, …
//
// Keys are consecutive numbers; filters hash them, so their order does not matter. All chance comes
// from the seed by our own arithmetic: the distributions of the standard library differ from one
// library to another. (Zipf and drift round through libm, whose last bit may differ; that moves one
// query in 10^15.)
#pragma once

#include <cstdint>

#include "genista/base/result.hpp"
#include "lab/workloads/random.hpp"

namespace genista::lab {

// Stored keys of most workloads are 0, 1, …; absent keys lie far above them.
inline constexpr std::uint64_t first_absent_key = std::uint64_t{1} << 40;

struct key_range {
    std::uint64_t first = 0;
    std::uint64_t keys = 1;  // at least 1; first + keys must not pass 2^64
};

class uniform_queries {
  public:
    [[nodiscard]] static result<uniform_queries> make(key_range over, std::uint64_t seed) noexcept;
    std::uint64_t operator()() noexcept { return over_.first + chance_.below(over_.keys); }

  private:
    uniform_queries(key_range over, std::uint64_t seed) noexcept : over_{over}, chance_{seed} {}

    key_range over_;
    random_stream chance_;
};

struct zipf_options {
    double exponent = 1;  // rank k has k^-exponent of the queries of rank 1; 0 is uniform. 0..20
    key_range over{};     // at most 2^48 keys: beyond, a double does not separate ranks
    std::uint64_t seed = 1;
};

// Rejection-inversion [Hörmann and Derflinger 1996]: exact, no table, about one draw a query
// whatever the support.
//
// The density x^-s is inverted over [1/2, keys + 1/2]; x is rounded to a rank k. Because x^-s is
// convex its integral over [k - 1/2, k + 1/2] is at least k^-s, so a draw is kept with the ratio of
// the two, and no rank gets too little.
class zipf_queries {
  public:
    [[nodiscard]] static result<zipf_queries> make(const zipf_options& options) noexcept;
    std::uint64_t operator()() noexcept;

  private:
    explicit zipf_queries(const zipf_options& options) noexcept;

    // An integral of x^-s that is 0 at x = 1, and its inverse.
    [[nodiscard]] double integral(double x) const noexcept;
    [[nodiscard]] double inverse(double y) const noexcept;
    [[nodiscard]] double weight(double rank) const noexcept;

    zipf_options options_;
    random_stream chance_;
    double lowest_ = 0;       // integral: all of rank 1 lies above it
    double highest_ = 0;      // integral at keys + 1/2
    double always_kept_ = 0;  // an x at most this far below its rank is kept without a check
};

struct drift_options {
    std::uint64_t first = 0;
    std::uint64_t window = 1;     // keys in the working set, 1..2^48
    double changed_share = 0.01;  // of the window, every `period` queries: the oldest are replaced. (0, 1]
    std::uint64_t period = 1;     // queries, at least 1
    std::uint64_t seed = 1;
};

// Evenly over the window. A share that is no whole number of keys is kept on average: 0.5 keys are
// one key every other time.
class drifting_queries {
  public:
    [[nodiscard]] static result<drifting_queries> make(const drift_options& options) noexcept;
    std::uint64_t operator()() noexcept;

    [[nodiscard]] std::uint64_t oldest() const noexcept { return oldest_; }  // of the working set

  private:
    explicit drifting_queries(const drift_options& options) noexcept
        : options_{options}, chance_{options.seed}, oldest_{options.first} {}

    drift_options options_;
    random_stream chance_;
    std::uint64_t oldest_;
    std::uint64_t until_change_ = options_.period;
    std::uint64_t changes_ = 0;
};

class scan_queries {
  public:
    [[nodiscard]] static result<scan_queries> make(key_range over) noexcept;
    std::uint64_t operator()() noexcept {
        const std::uint64_t key = over_.first + next_;
        next_ = next_ + 1 == over_.keys ? 0 : next_ + 1;
        return key;
    }

  private:
    explicit scan_queries(key_range over) noexcept : over_{over} {}

    key_range over_;
    std::uint64_t next_ = 0;
};

}  // namespace genista::lab
