// oracle_model: what `genista daisy train` writes and a daisy filter is made from: one oracle, and
// a profile of what it says.
//
//     snapshot of kind oracle_model:  section 0  the oracle's own snapshot      section 1  the profile
//
// The oracle tells the class of each key, the profile how many keys of each class to expect: a plan
// for any number of keys and any rate, without the logs. Only the oracle has to stay in memory with
// a filter, so only the oracle's bytes are counted beside it.
//
//     auto model = oracle_model::load(file->bytes());
//     auto plan = model->profile().plan_tuned({.draws = 1e6, .rate = 1.0 / 256});
//     with_oracle filter{*daisy_bloom_filter::make(...*plan...), model->oracle()};
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/detail/oracles/any_oracle.hpp"
#include "genista/detail/oracles/score_training.hpp"
#include "genista/oracles/daisy_plan.hpp"

namespace genista {

// What an oracle says of keys drawn from both distributions, small enough to ship with it. From it
// come plans for any number of keys and any rate, long after the logs are gone [daisy §4.3].
//
//     entry    | p, f64 | q, f64 | stored, u32 | asked, u32 |     so many of the sampled draws have these odds; different odds, in order
//
// At most 32,768 draws of either kind count. An oracle of few different odds (score_oracle has at
// most 64) makes a profile of few entries: 24 bytes each.
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

// ---- Training: from two logs to an oracle_model, whichever oracle was asked for.
//
//     score          n-grams, 8-bit weights (score_training.hpp): knows absent keys by their looks
//     exact          a table of every key that came, and how often (exact_oracle.hpp)
//     count_min,     two sketches, one of each log, half of the bytes each, five rows
//                    (sketch_oracle.hpp)
//     count_sketch
//
// A profile must be of draws that the oracle was not made from, or it promises what absent keys do
// not keep. The score model holds out about every fifth *key*: it shall know keys that never came.
// The others know keys that came before, and hold out about every fifth *draw*: the share of draws
// they know nothing of is then the one that a filter will meet. Logs of fewer than 160 draws are
// used whole, and the model says so.
enum class oracle_kind : std::uint8_t { score, exact, count_min, count_sketch };
inline constexpr std::array all_oracle_kinds = {oracle_kind::score, oracle_kind::exact, oracle_kind::count_min,
                                                oracle_kind::count_sketch};

[[nodiscard]] std::string_view to_string(oracle_kind kind) noexcept;

struct training_options {
    static constexpr std::uint64_t min_bytes = score_oracle::min_weights, max_bytes = score_oracle::max_weights;

    oracle_kind kind = oracle_kind::score;
    // Of the score model's weights, or of both sketches' counters; the exact table takes what it
    // takes. chosen_bytes, for the score model alone: the size that makes model and filter smallest
    // together (score_training.hpp).
    static constexpr std::uint64_t chosen_bytes = score_options::chosen_weights;
    std::uint64_t bytes = 16'384;
    std::uint64_t keys = 0;              // of the filter that bytes are chosen for; 0: as many as there are inserts
    double universe = unknown_universe;  // keys that there might be
    // All randomness, the hash key of tables and sketches too: a caller that has it can make keys
    // collide there, which costs rate or bits but never a false negative. Take a secret one against
    // people who would.
    std::uint64_t seed = 1;
    std::function<void(double)> progress = [](double) {};  // called with the share done, 0..1
    // Called with how a score model was trained.
    std::function<void(const score_choice&)> chose = [](const score_choice&) {};
};

// Draws of the input, draws of the queries, repetitions included. Neither may be empty.
[[nodiscard]] result<oracle_model> train_model(const training_options& options, std::span<const key_view> inserts,
                                               std::span<const key_view> queries) noexcept;

// An exact table of known probabilities: two lists of the same keys, each of which
// sums to about one. The profile is drawn from them.
[[nodiscard]] result<oracle_model> model_of_odds(std::span<const weighted_key> stored,
                                                 std::span<const weighted_key> asked, std::uint64_t seed) noexcept;

}  // namespace genista
