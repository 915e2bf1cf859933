// weighted_bloom_filter: the weighted Bloom filter of Bruck, Gao and Jiang, as [daisy §1.2]
// describes it. It shows how the idea fails: it is the control of daisy_bloom_filter, which is the
// one to use.
//
//     k_x = (m/n) ln 2 + log(q_x / p_x) - D,    D = Σ p_x log(q_x / p_x),   rounded, and at least 0
//
// minimises the rate averaged over inputs and queries, Σ q_x 2^-k_x = 2^(D - (m/n) ln 2), if a k_x
// may be any real number, negative ones included, and the table is then half full: Σ p_x k_x =
// (m/n) ln 2. But probes are not negative. A key that is hardly ever queried has a hugely negative
// k_x, which becomes 0, and its p_x log(q_x/p_x) remains in D: all other keys get more probes than
// the table has room for. It fills up with ones, and every query passes. One such key is enough
// [daisy §1.2].
//
//   I1  no false negative: a key is found with the odds that it was inserted with.
//   I2  no key takes more than max_probes, however rare (p_x = 0 would be infinitely many).
//
// One thread at a time, but queries may run beside each other. It has no snapshots.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "genista/detail/base/buffer.hpp"
#include "genista/filters/filter.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista {

struct weighted_bloom_options {
    std::uint64_t bits = 0;                     // m; rounded up to whole lines of 512
    double draws = 1'000'000;                   // n
    double mean_log_ratio = 0;                  // D, never positive: mean_log_ratio_of() computes it
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
};

// D of a universe. An error for invalid odds, and if D is infinite: a key that is stored and never
// queried.
[[nodiscard]] result<double> mean_log_ratio_of(std::span<const odds_group> groups) noexcept;

class weighted_bloom_filter {
  public:
    static constexpr std::string_view name = "weighted_bloom";
    static constexpr std::uint32_t max_probes = 4096;
    static constexpr std::uint64_t max_bits = std::uint64_t{1} << 46;

    [[nodiscard]] static result<weighted_bloom_filter> make(const weighted_bloom_options& options) noexcept;

    // k_x, rounded, in 0..max_probes. Odds that are NaN get max_probes.
    [[nodiscard]] std::uint32_t probes_of(const key_odds& odds) const noexcept;

    insert_outcome insert(const digest& d, const key_odds& odds) noexcept;
    insert_outcome insert(key_view key, const key_odds& odds) noexcept { return insert(hash_(key), odds); }
    insert_outcome insert(integer_key key, const key_odds& odds) noexcept { return insert(hash_(key), odds); }

    [[nodiscard]] bool may_contain(const digest& d, const key_odds& odds) const noexcept;
    [[nodiscard]] bool may_contain(key_view key, const key_odds& odds) const noexcept {
        return may_contain(hash_(key), odds);
    }
    [[nodiscard]] bool may_contain(integer_key key, const key_odds& odds) const noexcept {
        return may_contain(hash_(key), odds);
    }

    // The rate is the expectation of the optimisation, 2^(D - (m/n) ln 2); the actual rate may be
    // 1.
    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] std::uint64_t bits() const noexcept { return std::uint64_t{table_.size_bytes()} * 8; }
    [[nodiscard]] std::uint64_t bits_set() const noexcept;
    [[nodiscard]] double mean_log_ratio() const noexcept { return mean_log_ratio_; }

  private:
    weighted_bloom_filter(const weighted_bloom_options& options, const hasher& hash, buffer table) noexcept;
    [[nodiscard]] std::uint64_t bit_of(const digest& d, std::uint32_t probe) const noexcept;
    [[nodiscard]] double mean_probes() const noexcept;  // (m/n) ln 2

    hasher hash_;
    buffer table_;
    double draws_;
    double mean_log_ratio_;
    std::uint64_t keys_ = 0;
};

}  // namespace genista
