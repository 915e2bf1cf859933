// daisy_broom_arena: a daisy_broom_filter with its R in memory, for the lab's adversaries. Half of
// all keys are of one class, half of another, so that two bands stand side by side in one R; every
// query is counted for the band that answers it, because each promises a rate of its own.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "genista/filters/daisy_broom.hpp"
#include "lab/experiment.hpp"
#include "lab/games/arena.hpp"
#include "lab/games/remotes.hpp"

namespace genista::lab {

// Even integers are of class 8, odd ones of class 10; it has an identity, so that a filter can be
// saved.
class parity_oracle {
  public:
    static constexpr unsigned even_class = 8, odd_class = 10;

    explicit parity_oracle(const daisy_terms& terms) noexcept : terms_{terms} {}

    [[nodiscard]] key_odds odds(key_view key) const noexcept {
        const bool odd = key.size != 0 && (std::to_integer<unsigned>(key.data[0]) & 1) != 0;
        const double p = terms_.rate / (4 * terms_.draws);
        // Between the steps of k = log(q / (ε p)).
        return {p, 0.75 * terms_.rate * p * static_cast<double>(1u << (odd ? odd_class : even_class))};
    }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return sizeof *this; }
    [[nodiscard]] oracle_identity identity() const noexcept {
        oracle_identity made;
        std::memcpy(made.bytes.data(), &terms_.draws, sizeof terms_.draws);
        return made;
    }
    [[nodiscard]] daisy_plan plan() const noexcept {
        daisy_plan made;
        made.terms = terms_;
        made.stored_share[even_class] = made.stored_share[odd_class] = 0.5;
        made.asked_share[even_class] = made.asked_share[odd_class] = 0.5;
        return made;
    }

  private:
    daisy_terms terms_;
};

enum class parity : std::uint8_t { both, even, odd };

struct daisy_arena_options {
    std::uint64_t capacity = 90;  // of both bands
    bool grows = false;
    // Every key of the adversary stands for one of this kind: for attacks that rest on the history
    // of one bin, as all keys have in one broom filter.
    parity only = parity::both;
    std::uint64_t seed = 1;
};

class daisy_broom_arena final : public counting_arena {
  public:
    using filter_type = daisy_broom_filter<parity_oracle>;

    explicit daisy_broom_arena(const daisy_arena_options& options)
        : oracle_{std::make_shared<parity_oracle>(daisy_terms{draws_for(options.capacity), 0x1p-10})},
          filter_{must(filter_type::make({.hash = hasher{hash_key::from_seed(options.seed)},
                                          .grows = options.grows,
                                          .random = repeatable(options.seed)},
                                         oracle_->plan(), oracle_))},
          only_{options.only} {}

    [[nodiscard]] std::string_view filter_name() const noexcept override { return filter_type::name; }
    [[nodiscard]] double rate() const noexcept override { return filter_.bands().all()[0].rate(); }
    [[nodiscard]] std::uint64_t bins() const noexcept override { return filter_.broom(0).details().bins; }

    reply query(std::uint64_t asked) override {
        const std::uint64_t key = stands_for(asked);
        reply seen;
        seen.maybe = filter_.may_contain(key);
        seen.member = members_.contains(key);
        const bool wrong = count(seen);
        if (!seen.member) ++band_score(key).negatives;
        if (wrong) {
            ++band_score(key).false_positives;
            const std::uint64_t before = remote_.reads();
            (void)must(filter_.adapt(key, remote_.map()));
            seen.reads = reads_since(before);
        }
        return seen;
    }
    hunt query_run(std::uint64_t first, std::uint64_t most) override {
        const auto count_bands = [this](std::uint64_t from, std::uint64_t negatives) {
            count_negatives(negatives);
            const std::uint64_t of_first = only_ == parity::both ? (negatives + 1) / 2 : negatives;
            band_score(stands_for(from)).negatives += of_first;
            band_score(stands_for(from + 1)).negatives += negatives - of_first;
        };
        return batched_hunt(
            filter_, first, most, [this](std::uint64_t key) { return stands_for(key); }, count_bands,
            [this](std::uint64_t key) { return query(key); });
    }
    reply guess(std::uint64_t key) override {
        const reply seen = counting_arena::guess(key);
        if (!seen.member) {
            score& band = band_score(stands_for(key));
            ++band.guesses;
            band.right_guesses += seen.maybe ? 1u : 0u;
        }
        return seen;
    }
    unsigned insert(std::uint64_t asked) override {
        const std::uint64_t key = stands_for(asked);
        ++score_.operations;
        const std::uint64_t before = remote_.reads();
        (void)must(remote_.map().put(filter_.hash()(key), integer_key{key}.view()));
        if (must(filter_.insert(key, remote_.map())) == insert_outcome::full)
            throw std::runtime_error{"the arena is full"};
        members_.insert(key);
        return reads_since(before);
    }
    unsigned erase(std::uint64_t asked) override {
        const std::uint64_t key = stands_for(asked);
        ++score_.operations;
        const std::uint64_t before = remote_.reads();
        (void)must(filter_.erase(key, remote_.map()));
        members_.erase(key);
        return reads_since(before);
    }
    [[nodiscard]] bool is_member(std::uint64_t key) const override { return members_.contains(stands_for(key)); }

    void grow() override { must(filter_.grow(remote_.map())); }
    void save() override { saved_ = saved_bytes(filter_); }
    void restart() override { filter_ = must(filter_type::load(saved_, oracle_)); }

    // Of the band of even keys, and of the band of odd ones.
    [[nodiscard]] const std::array<score, 2>& by_band() const noexcept { return by_band_; }
    [[nodiscard]] const filter_type& filter() const noexcept { return filter_; }

  private:
    // A band is made for its half of the draws and three deviations more (bands.hpp); here it shall
    // be exact.
    static double draws_for(std::uint64_t capacity) {
        const double root = std::sqrt(2.25 + static_cast<double>(capacity) / 2) - 1.5;
        return 2 * root * root;
    }
    [[nodiscard]] std::uint64_t stands_for(std::uint64_t key) const noexcept {
        return only_ == parity::both ? key : 2 * key + (only_ == parity::odd ? 1 : 0);
    }
    // Two classes, two bands: the lower class is that of the even keys.
    [[nodiscard]] score& band_score(std::uint64_t key) noexcept { return by_band_[key % 2]; }
    unsigned reads_since(std::uint64_t before) { return count_reads(remote_.reads() - before); }

    records_in_memory remote_;
    std::shared_ptr<const parity_oracle> oracle_;
    filter_type filter_;
    std::vector<std::byte> saved_;
    std::array<score, 2> by_band_{};
    parity only_;
};

}  // namespace genista::lab
