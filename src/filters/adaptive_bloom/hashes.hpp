// The hash functions of adaptive_bloom: h_{i,j} for level i, each "selected independently of all
// other hash functions at all other levels" [broom17 §5].
//
// One AES block under a key of this use alone, (digest, salt) → 128 bits, is two functions; a level
// has a salt for every two, and all levels of all generations have different salts.
#pragma once

#include <array>
#include <cstdint>

#include "filters/adaptive_bloom/design.hpp"
#include "filters/broom/derive_key.hpp"
#include "filters/common.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/hash/key.hpp"

namespace genista::adaptive_bloom {

class hash_functions {
  public:
    explicit hash_functions(const hasher& hash) noexcept : cipher_{broom::labelled_key(hash.key(), "adaptive bloom")} {}

    // Two words, independent of those of any other salt.
    [[nodiscard]] std::array<std::uint64_t, 2> operator()(const digest& d, std::uint64_t salt) const noexcept {
        const digest made = cipher_.encrypt(d.seed, d.position ^ salt);
        return {made.position, made.seed};
    }

  private:
    hasher cipher_;
};

// The salts of all levels, consecutive from the beginning of the generation.
struct generation {
    static constexpr unsigned most_salts = (most_functions + 1) / 2;
    std::uint64_t begins = 0;
    std::array<std::array<std::uint64_t, most_salts>, most_levels> of_level{};
    std::uint64_t of_last = 0;

    // Leaves `counter` behind the last of them.
    [[nodiscard]] static generation from(std::uint64_t& counter) noexcept {
        generation made;
        made.begins = counter;
        for (auto& level : made.of_level) {
            for (std::uint64_t& salt : level) salt = next_salt(counter);
        }
        made.of_last = next_salt(counter);
        return made;
    }
};

}  // namespace genista::adaptive_bloom
