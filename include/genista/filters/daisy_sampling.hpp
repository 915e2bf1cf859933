// sampled_filter: a daisy filter without a plan of the caller's. It looks at what comes first, then
// makes the filter [daisy §4.3, second remark].
//
// The filters want to know which share of the keys is of which class. So the first ℓ inserts are a
// sample of P: they are kept exactly, in a small dictionary, and found there. Meanwhile the queries
// are a sample of Q. Then plan_from_samples() makes a plan, the plan a filter, and the keys of the
// dictionary go into it:
//
//     inserts  ──→  dictionary: digest, odds   ── ℓ of them ──→   plan ──→ filter  ←── the dictionary's keys, then all others
//     queries  ──→  their odds, up to ℓ                                            the dictionary is gone
//
//   I1  No false negative, before, while and after the filter takes over: if it cannot be made (no
//       memory), the dictionary stays and grows.
//   I2  While it samples it is exact, up to digests of 128 bits that are equal. Keys with one
//       digest and different odds are two members, for the filter will look for them in two
//       classes.
//   I3  Afterwards it answers as with_oracle<Filter, Oracle> does, by the plan that the samples
//       gave.
//
// ℓ = O(log^2c n) in the paper; 32,000 are enough to know a share of 1 % within a tenth of itself
// [measured: `genista lab run daisy-sampling`]. What a sample may be wrong by is within the 1/log n
// that the fingerprint filter has in reserve, and beyond that costs a small table more. n is not
// sampled: it is a term.
//
// Many threads may query at once, an insert excludes everything else, as with a standard container.
// Only what filter() gives can be saved.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "genista/filters/with_oracle.hpp"

namespace genista {

// The keys of the sample. Grows; queries are counted by any number of threads, up to a limit that
// is known at the start.
class daisy_sampler {
  public:
    [[nodiscard]] static result<std::unique_ptr<daisy_sampler>> make(std::uint64_t samples) noexcept;

    // False if it was there, digest and odds: the draw counts all the same. An error for lack of
    // memory, and nothing has changed.
    [[nodiscard]] result<bool> add(const digest& d, const key_odds& odds) noexcept;
    [[nodiscard]] bool contains(const digest& d) const noexcept;
    // A query: counted while there is room.
    void ask(const key_odds& odds) const noexcept;
    // As after make(). A call excludes every other one.
    void clear() noexcept;
    [[nodiscard]] std::uint64_t samples() const noexcept { return most_asked_; }

    struct member {
        digest where{};
        std::uint32_t draw = 0;  // its first, among draws()
    };
    [[nodiscard]] std::span<const member> members() const noexcept { return members_; }
    [[nodiscard]] std::span<const key_odds> draws() const noexcept { return draws_; }  // with repetitions
    // REQUIRES: no call looks anything up meanwhile.
    [[nodiscard]] std::span<const key_odds> asked() const noexcept;
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

    // From what was seen. Without queries so far, queries are taken to be for keys that are asked
    // for in full. `tuned`: to the rate itself.
    [[nodiscard]] result<daisy_plan> plan(const daisy_terms& terms, bool tuned) const noexcept;

  private:
    daisy_sampler() = default;
    template <class Is>
    [[nodiscard]] std::size_t place_of(const digest& d, Is is) const noexcept;
    [[nodiscard]] std::size_t place_of(const digest& d, const key_odds& odds) const noexcept;
    void grow_index();

    std::vector<key_odds> draws_{};
    std::vector<member> members_{};
    std::vector<std::uint32_t>
        index_{};  // a power of two, at most half taken; 0: free, else the number of a member, plus one
    std::unique_ptr<key_odds[]> asked_{};
    std::uint64_t most_asked_ = 0;
    mutable std::atomic<std::uint64_t> asks_{0};
};

struct sampled_options {
    daisy_terms terms{};
    std::uint64_t samples = 32'000;             // ℓ, 1 to 2^24
    std::optional<hasher> hash = std::nullopt;  // none: keyed, with a random key of the filter's own
    bool tuned = false;                         // plan_tuned: to the rate ε itself, as far as the samples tell
};

[[nodiscard]] result<hasher> check_sampled(const sampled_options& options) noexcept;
// All keys alike, in the largest class.
[[nodiscard]] daisy_plan plan_in_full(const daisy_terms& terms) noexcept;

template <class_filter Filter, key_oracle Oracle>
class sampled_filter {
  public:
    static constexpr std::string_view name = Filter::name;

    [[nodiscard]] static result<sampled_filter> make(const sampled_options& options,
                                                     std::shared_ptr<const Oracle> oracle) noexcept {
        assert(oracle != nullptr);
        const auto hash = check_sampled(options);
        if (!hash) return hash.error();
        // Now and not after ℓ inserts, when only a dictionary that grows for ever would be left.
        if (const auto served = Filter::bits_for(plan_in_full(options.terms)); !served) return served.error();
        auto sampler = daisy_sampler::make(options.samples);
        if (!sampler) return sampler.error();
        return sampled_filter{options, *hash, std::move(oracle), *std::move(sampler)};
    }

    // `full`: no memory, and nothing has changed.
    insert_outcome insert(const hashed_key& key) noexcept {
        assert(key.is_of(hash_));
        const key_odds odds = oracle_->odds(key.view());
        if (filter_) return filter_->insert(key.where(), daisy_class(odds, filter_->terms()));
        const auto added = sampler_->add(key.where(), odds);
        if (!added) return insert_outcome::full;
        if (sampler_->draws().size() >= next_try_ && !finish()) next_try_ = 2 * sampler_->draws().size();
        return *added ? insert_outcome::inserted : insert_outcome::already_present;
    }
    insert_outcome insert(key_view key) noexcept { return insert(hashed_key{hash_, key}); }
    insert_outcome insert(integer_key key) noexcept { return insert(hashed_key{hash_, key}); }
    // Takes all keys out. A filter that has planned keeps its plan; otherwise the sampling, of
    // queries too, begins again.
    void clear() noexcept {
        if (filter_) return filter_->clear();
        sampler_->clear();
        next_try_ = sampler_->samples();
    }

    [[nodiscard]] bool may_contain(const hashed_key& key) const noexcept {
        assert(key.is_of(hash_));
        const key_odds odds = oracle_->odds(key.view());
        if (filter_) return filter_->may_contain(key.where(), daisy_class(odds, filter_->terms()));
        sampler_->ask(odds);
        return sampler_->contains(key.where());
    }
    [[nodiscard]] bool may_contain(key_view key) const noexcept { return may_contain(hashed_key{hash_, key}); }
    [[nodiscard]] bool may_contain(integer_key key) const noexcept { return may_contain(hashed_key{hash_, key}); }
    void may_contain(std::span<const key_view> keys, std::span<std::uint64_t> out_bits) const noexcept {
        each(keys, out_bits);
    }
    void may_contain(std::span<const std::uint64_t> keys, std::span<std::uint64_t> out_bits) const noexcept {
        each(keys, out_bits);
    }

    // Plans now, with the samples there are: at least one insert. Comes by itself after `samples`
    // of them, and is tried again at twice as many where it fails. An error changes nothing.
    [[nodiscard]] result<void> finish() noexcept {
        if (filter_) return {};
        const auto plan = sampler_->plan(terms_, tuned_);
        if (!plan) return plan.error();
        auto made = Filter::make({.plan = *plan, .hash = hash_});
        if (!made) return made.error();
        for (const daisy_sampler::member& each : sampler_->members()) {
            const unsigned its_class = daisy_class(sampler_->draws()[each.draw], plan->terms);
            if (made->insert(each.where, its_class) == insert_outcome::full)
                return error::make(error_code::out_of_memory, "sampling: no memory for the sampled keys");
        }
        filter_.emplace(*std::move(made));
        sampler_.reset();
        return {};
    }

    [[nodiscard]] bool is_sampling() const noexcept { return !filter_.has_value(); }
    // nullptr while it samples. with_oracle(std::move(*filter()), oracle) is the same filter
    // without this wrapper.
    [[nodiscard]] Filter* filter() noexcept { return filter_ ? &*filter_ : nullptr; }
    [[nodiscard]] const Filter* filter() const noexcept { return filter_ ? &*filter_ : nullptr; }
    [[nodiscard]] const Oracle& oracle() const noexcept { return *oracle_; }
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }

    // The oracle's bytes are part of what the filter takes, and so is the dictionary. While it
    // samples no absent key is let through.
    [[nodiscard]] filter_stats stats() const noexcept {
        filter_stats now;
        if (filter_) {
            now = filter_->stats();
            now.local_bytes += sizeof *this - sizeof(Filter);
        } else {
            now.keys = sampler_->members().size();
            now.capacity = static_cast<std::uint64_t>(terms_.draws);
            now.local_bytes = sizeof *this + sampler_->memory_bytes();
        }
        now.local_bytes += oracle_->memory_bytes();
        return now;
    }
    [[nodiscard]] std::uint64_t size() const noexcept { return filter_ ? filter_->size() : sampler_->members().size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  private:
    sampled_filter(const sampled_options& options, const hasher& hash, std::shared_ptr<const Oracle> oracle,
                   std::unique_ptr<daisy_sampler> sampler) noexcept
        : hash_{hash},
          oracle_{std::move(oracle)},
          sampler_{std::move(sampler)},
          terms_{options.terms},
          next_try_{options.samples},
          tuned_{options.tuned} {}

    template <class Key>
    void each(std::span<const Key> keys, std::span<std::uint64_t> out_bits) const noexcept {
        assert(out_bits.size() >= words_for(keys.size()));
        if (filter_) {
            const auto class_of = [this](key_view key) { return daisy_class(oracle_->odds(key), filter_->terms()); };
            return answer_by_class(*filter_, keys, class_of, out_bits);
        }
        // The dictionary is exact, and counts each query.
        std::fill_n(out_bits.begin(), words_for(keys.size()), std::uint64_t{0});
        for (std::size_t i = 0; i < keys.size(); ++i) {
            out_bits[i / 64] |= std::uint64_t{may_contain(keys[i])} << i % 64;
        }
    }

    hasher hash_;
    std::shared_ptr<const Oracle> oracle_;
    std::unique_ptr<daisy_sampler> sampler_;  // until there is a filter
    std::optional<Filter> filter_{};
    daisy_terms terms_;
    std::uint64_t next_try_;  // draws
    bool tuned_;
};

}  // namespace genista
