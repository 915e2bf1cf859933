// daisy_bands: which classes of keys share a broom filter, and how large each of these filters is.
//
// A class j wants the rate 2^-j [daisy §4.1]. A broom filter offers 2^-8 to 2^-24, so classes 1 to
// 8 make one band. Above them every class that is frequent among the stored keys has a band of its
// own, and rare ones join the next frequent one *above*, whose rate is smaller: that is safe for
// the rate, and it is expensive in bits only where there are few keys. (The paper collects all rare
// classes in one filter F_r with rate ε, which is the same idea with one band.) Class 0 has no
// band: nothing is kept of it, unless false positives in it cost more than keeping it would
// (deferred_band.hpp). That cost is computed here.
//
// Rare means less than a sixteenth of the keys kept. R is sorted by position alone, and the keys of
// one bin of a band lie among those of all other bands: a range read of a band with a share s of
// the keys reads about 45/s keys. For the same reason no band has fewer bins than a 64th of the
// keys would need, however few keys it expects: no range is longer than about 2,900 keys.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista {

struct daisy_band {
    unsigned first_class = 1, last_class = max_daisy_class;
    unsigned rate_bits = 8;   // its rate is 2^-rate_bits
    double stored_share = 0;  // of the draws
    double asked_share = 0;   // of the queries, for absent keys
    std::uint64_t capacity = 0;

    [[nodiscard]] double rate() const noexcept;
    [[nodiscard]] std::uint64_t bits() const noexcept;  // of a broom filter of that capacity and rate
};

class daisy_bands {
  public:
    static constexpr unsigned none = 255;  // the band of class 0
    static constexpr unsigned least_rate_bits = 8, most_rate_bits = 24;
    static constexpr double rare_share = 1.0 / 16;
    static constexpr double least_bins_share = 1.0 / 64;

    // The number of keys of each class, if it is known; otherwise the plan's shares of its draws,
    // plus three standard deviations.
    using class_counts = std::array<std::uint64_t, max_daisy_class + 1>;
    // An error if the plan asks for rates below 2^-24.
    [[nodiscard]] static result<daisy_bands> make(const daisy_plan& plan,
                                                  const std::optional<class_counts>& counted = std::nullopt) noexcept;
    // Bands from a snapshot: an error unless they are consecutive and their rates are those of
    // their classes, or smaller.
    [[nodiscard]] static result<daisy_bands> restore(const daisy_plan& plan, std::vector<daisy_band> bands,
                                                     std::uint64_t deferred_capacity) noexcept;

    [[nodiscard]] unsigned of(unsigned its_class) const noexcept { return of_[its_class]; }
    [[nodiscard]] std::span<const daisy_band> all() const noexcept { return bands_; }
    [[nodiscard]] std::uint64_t bits() const noexcept;
    // The deferred band that class 0 would have, and the bytes of one for so many keys: its slots,
    // a broom filter's fixed cost, a bit for each bin.
    [[nodiscard]] const daisy_band& deferred() const noexcept { return deferred_; }
    [[nodiscard]] static std::uint64_t deferred_bytes(std::uint64_t capacity) noexcept;
    // The share of the plan's queries that are for absent keys and get "maybe" when first asked.
    [[nodiscard]] double expected_rate(double rate_of_class_0 = 1) const noexcept;

    // Rates are whole bits, so part of a budget is left over. Adds one bit at a time to the band
    // where it saves most false positives for its cost, as long as all bands together stay within
    // `budget`. Rates only get smaller.
    void spend(std::uint64_t budget) noexcept;

  private:
    void index() noexcept;

    std::vector<daisy_band> bands_;
    std::array<std::uint8_t, max_daisy_class + 1> of_{};
    daisy_band deferred_{.first_class = 0, .last_class = 0};
};

// The plan with the smallest ε whose bands take at most so many bits, by steps of a quarter bit;
// plan_for as for plan_tuned. An error: even the bands of the largest ε take more.
template <class PlanFor>
[[nodiscard]] result<daisy_plan> plan_for_bits(double draws, std::uint64_t bits, PlanFor plan_for) {
    for (int quarters = 4 * static_cast<int>(daisy_bands::most_rate_bits); quarters >= 4; --quarters) {
        double rate = 1;
        for (int i = 0; i < quarters; ++i) rate *= 0.8408964152537145;  // 2^-1/4
        rate = rate < 0x1p-24 ? 0x1p-24 : (rate > max_daisy_rate ? max_daisy_rate : rate);
        auto plan = plan_for(daisy_terms{draws, rate});
        if (!plan) return plan;
        const auto bands = daisy_bands::make(*plan);
        if (!bands) return bands.error();
        if (bands->bits() <= bits) return plan;
    }
    return error::make(error_code::invalid_argument,
                       "daisy_broom: %llu bits are too few for %.0f draws, at any rate up to 1/2",
                       static_cast<unsigned long long>(bits), draws);
}

}  // namespace genista
