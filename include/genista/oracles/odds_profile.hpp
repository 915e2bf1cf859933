// odds_profile: what an oracle says of keys drawn from both distributions, small enough to ship
// with it. From it come plans for any number of keys and any rate, long after the logs are gone
// [daisy §4.3].
//
//     entry    | p, f64 | q, f64 | stored, u32 | asked, u32 |     so many of the sampled draws have these odds; different odds, in order
//
// At most 32,768 draws of either kind count. An oracle of few different odds (score_oracle has at
// most 64) makes a profile of few entries: 24 bytes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista {

class odds_profile {
  public:
    static constexpr std::size_t most_draws = 32'768;  // of each kind
    static constexpr std::size_t entry_bytes = 24;

    struct entry {
        key_odds odds{};
        std::uint32_t stored = 0, asked = 0;

        friend bool operator==(const entry&, const entry&) = default;
    };

    // The odds of keys drawn from P and of keys drawn from Q; of more than most_draws, so many
    // evenly spread. Neither may be empty.
    [[nodiscard]] static result<odds_profile> make(std::span<const key_odds> stored,
                                                   std::span<const key_odds> asked) noexcept;

    // An error for terms that are none, or if there is no memory.
    [[nodiscard]] result<daisy_plan> plan(const daisy_terms& terms) const noexcept;
    // plan_tuned() of daisy_plan.hpp: expects at most `wanted.rate` of the queries that the profile
    // has seen.
    [[nodiscard]] result<daisy_plan> plan_tuned(const daisy_terms& wanted) const noexcept;

    [[nodiscard]] std::span<const entry> entries() const noexcept { return entries_; }
    [[nodiscard]] std::uint64_t stored_draws() const noexcept { return stored_draws_; }
    [[nodiscard]] std::uint64_t asked_draws() const noexcept { return asked_draws_; }

    // As the section of a snapshot.
    [[nodiscard]] result<std::vector<std::byte>> bytes() const noexcept;
    [[nodiscard]] static result<odds_profile> from_bytes(std::span<const std::byte> bytes) noexcept;

  private:
    explicit odds_profile(std::vector<entry> entries) noexcept;

    std::vector<entry> entries_;
    std::uint64_t stored_draws_ = 0, asked_draws_ = 0;
};

}  // namespace genista
