// oracle_model: what `genista daisy train` writes and a daisy filter is made from: one oracle, and
// a profile of what it says.
//
//     snapshot of kind oracle_model:  section 0  the oracle's own snapshot      section 1  the profile (odds_profile.hpp)
//
// The oracle tells the class of each key, the profile how many keys of each class to expect: a plan
// for any number of keys and any rate, without the logs. Only the oracle has to stay in memory with
// a filter, so only the oracle's bytes are counted beside it.
//
//     auto model = oracle_model::load(file->bytes());
//     auto plan = model->profile().plan_tuned({.draws = 1e6, .rate = 1.0 / 256});
//     with_oracle filter{*daisy_bloom_filter::make(...*plan...), model->oracle()};
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "genista/detail/oracles/any_oracle.hpp"
#include "genista/oracles/odds_profile.hpp"

namespace genista {

// Where a model comes from; printed by `genista daisy size`, used for nothing.
struct model_origin {
    std::uint64_t insert_draws = 0, query_draws = 0;  // of the two logs
    // The profile is of draws that the oracle was not made from: what it promises, absent keys
    // keep.
    bool is_held_out = false;

    friend bool operator==(const model_origin&, const model_origin&) = default;
};

class oracle_model {
  public:
    [[nodiscard]] static result<oracle_model> make(any_oracle oracle, odds_profile profile,
                                                   const model_origin& origin) noexcept;

    // Shared with the filters that use it; never null.
    [[nodiscard]] const std::shared_ptr<const any_oracle>& oracle() const noexcept { return oracle_; }
    [[nodiscard]] const odds_profile& profile() const noexcept { return profile_; }
    [[nodiscard]] const model_origin& origin() const noexcept { return origin_; }

    [[nodiscard]] result<void> save(sink& out) const noexcept;
    // A snapshot of another kind, or of a version this library does not know, is refused by name,
    // the oracle inside too.
    [[nodiscard]] static result<oracle_model> load(std::span<const std::byte> bytes) noexcept;

  private:
    oracle_model(std::shared_ptr<const any_oracle> oracle, odds_profile profile, const model_origin& origin) noexcept
        : oracle_{std::move(oracle)}, profile_{std::move(profile)}, origin_{origin} {}

    std::shared_ptr<const any_oracle> oracle_;
    odds_profile profile_;
    model_origin origin_;
};

}  // namespace genista
