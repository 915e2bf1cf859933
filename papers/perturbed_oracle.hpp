// perturbed_oracle: an oracle that makes mistakes on purpose, to measure what they cost.
//
//     random      p and q each multiplied by a random factor between 1/f and f (the logarithm
//                 uniform): an honest estimate
//     too_small   p f and q / f: every key gets fewer bits than it deserves; the rate suffers
//     too_large   p / f and q f: more than it deserves; the space suffers
//     constant    the same odds for all keys: no information
//     shuffled    the exact odds of another key
//     swapped     p for q and q for p: the odds of queries as those of storage
//
// The mistake about a key depends on the key and the seed alone (oracle.hpp, I1), so no filter over
// it denies a stored key. The wrapped oracle is shared, not copied; its bytes count here, too.
//
// Shuffled, an integer key below `universe` gets the odds of another such key by a permutation of
// all of them: the odds as a whole are unchanged. Any other key gets one of `others`, drawn by its
// hash.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/oracles/oracle.hpp"
#include "hash/key_stream.hpp"

namespace genista {

enum class oracle_mistake : std::uint8_t { none, random, too_small, too_large, constant, shuffled, swapped };

struct perturbed_options {
    oracle_mistake mistake = oracle_mistake::random;
    double factor = 4;       // f, at least 1
    std::uint64_t seed = 1;  // chooses the mistakes; not secret
    key_odds constant{0x1p-40, 0x1p-40};
    std::uint64_t universe = 0;      // shuffled: integer keys 0 .. universe - 1
    std::vector<key_odds> others{};  // shuffled: the possible odds of other keys
};

// The error names the value and what is allowed.
[[nodiscard]] inline result<void> check_perturbed(const perturbed_options& options) noexcept {
    const auto are_odds = [](const key_odds& odds) noexcept {
        return odds.stored >= 0 && odds.stored <= 1 && odds.asked >= 0 && odds.asked <= 1;
    };
    if (!(options.factor >= 1 && options.factor <= 0x1p64))
        return error::make(error_code::invalid_argument, "perturbed_oracle: the factor %g is not in 1..2^64",
                           options.factor);
    if (!are_odds(options.constant)) {
        return error::make(error_code::invalid_argument, "perturbed_oracle: the odds %g and %g are not in 0..1",
                           options.constant.stored, options.constant.asked);
    }
    for (std::size_t i = 0; i < options.others.size(); ++i) {
        if (are_odds(options.others[i])) continue;
        return error::make(error_code::invalid_argument,
                           "perturbed_oracle: the odds %g and %g, number %zu, are not in 0..1",
                           options.others[i].stored, options.others[i].asked, i);
    }
    if (options.mistake == oracle_mistake::shuffled && options.universe == 0 && options.others.empty())
        return error::make(error_code::invalid_argument,
                           "perturbed_oracle: to shuffle it needs a universe or a list of odds");
    return {};
}

// The key whose odds this key gets: a permutation of 0 .. universe - 1, by the seed.
[[nodiscard]] inline std::uint64_t shuffled_key(std::uint64_t key, std::uint64_t universe,
                                                const hasher& hash) noexcept {
    return permutation{universe, hash}.forth(key);
}

// Odds multiplied by the given factors, at most 1.
[[nodiscard]] inline key_odds scaled_odds(const key_odds& odds, double stored_factor, double asked_factor) noexcept {
    return {std::min(1.0, odds.stored * stored_factor), std::min(1.0, odds.asked * asked_factor)};
}

template <key_oracle Oracle>
class perturbed_oracle {
  public:
    // `truth` must not be null.
    [[nodiscard]] static result<perturbed_oracle> make(std::shared_ptr<const Oracle> truth,
                                                       perturbed_options options) noexcept {
        if (truth == nullptr) return error::make(error_code::invalid_argument, "perturbed_oracle: there is no oracle");
        if (const auto fine = check_perturbed(options); !fine) return fine.error();
        return perturbed_oracle{std::move(truth), std::move(options)};
    }

    [[nodiscard]] key_odds odds(key_view key) const noexcept {
        const double f = options_.factor;
        switch (options_.mistake) {
            case oracle_mistake::none:
                break;
            case oracle_mistake::random: {
                const digest drawn = hash_(key);
                return scaled_odds(truth_->odds(key), random_factor(drawn.position), random_factor(drawn.seed));
            }
            case oracle_mistake::too_small:
                return scaled_odds(truth_->odds(key), f, 1 / f);
            case oracle_mistake::too_large:
                return scaled_odds(truth_->odds(key), 1 / f, f);
            case oracle_mistake::constant:
                return options_.constant;
            case oracle_mistake::shuffled:
                return another(key);
            case oracle_mistake::swapped: {
                const key_odds right = truth_->odds(key);
                return {right.asked, right.stored};
            }
        }
        return truth_->odds(key);
    }
    [[nodiscard]] key_odds odds(integer_key key) const noexcept { return odds(key.view()); }

    [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
        return truth_->memory_bytes() + sizeof *this + options_.others.capacity() * sizeof(key_odds);
    }
    [[nodiscard]] const Oracle& truth() const noexcept { return *truth_; }

  private:
    perturbed_oracle(std::shared_ptr<const Oracle> truth, perturbed_options options) noexcept
        : truth_{std::move(truth)}, options_{std::move(options)}, hash_{hash_key::from_seed(options_.seed)} {}

    // f^(2u - 1), u uniform in [0, 1).
    [[nodiscard]] double random_factor(std::uint64_t word) const noexcept {
        return std::pow(options_.factor, std::ldexp(static_cast<double>(word >> 11), -52) - 1);
    }
    [[nodiscard]] key_odds another(key_view key) const noexcept {
        std::uint64_t integer = 0;
        if (key.size == sizeof integer) {
            std::memcpy(&integer, key.data, sizeof integer);
            integer = integer_key{integer}.little;  // its own inverse: little-endian bytes to a number
            if (integer < options_.universe)
                return truth_->odds(integer_key{shuffled_key(integer, options_.universe, hash_)}.view());
        }
        if (options_.others.empty()) return truth_->odds(key);
        return options_.others[scale(hash_(key).position, options_.others.size())];
    }

    std::shared_ptr<const Oracle> truth_;
    perturbed_options options_;
    hasher hash_;
};

}  // namespace genista
