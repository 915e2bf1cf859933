// exact_oracle: a table of keys and their odds. The best knowledge, and the largest: 27 bytes a
// key.
//
// For key sets that can be listed: a few thousand hot keys, a catalogue, a block list; the
// yardstick for the sketches and the score model. Three ways to make one:
//
//     make(list)                keys with both odds, which must be probabilities and sum to one,
//                               within 1 %
//     from_columns(p, q)        the same from two lists, of the same keys in any order
//     from_counts(log, log)     a log of inserts and a log of queries
//
// *Keys that are not in it.* A table of all keys says that an absent key is neither stored
// nor asked, odds of 0 and 0; and with these [daisy §1.1] would keep nothing of it and let it
// through: "always maybe", by accident. So
//
//   I1  the unknown key's odds are never both zero. By default
//         of a list     {0, the smallest positive q listed}: all the bits an ordinary filter
//                       spends, log(1/ε), whatever n and ε are. That is safe for the rate, and
//                       costs space only if keys are stored that the list says are not;
//         of counts     half an observation of every key seen, on each side, spread over the
//                       universe (oracle.hpp): counts c become (c - 1/2) / N, and what the D seen
//                       ones lost, D / 2N, is the share of what was not seen. Estimates keep their
//                       order and sum to one; a key seen on one side only is unseen on the other.
//   I2  a key listed with both odds zero is not listed.
//
// Memory: cells of 24 bytes, 7 of 8 in use, in the order of the digests' positions.
//
//     cell     | position | p | q |    a key lies at scale(position, homes) or shortly behind;
//                                      empty: p = q = 0
//
// A key is known by 64 keyed bits. Two of a million share them once in 4·10^7 tables: then making
// one is an error, and another hash key helps; an absent key is taken for a listed key even less
// often, and then has its odds, which is harmless (oracle.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "genista/detail/base/buffer.hpp"
#include "genista/format/sink.hpp"
#include "genista/hash/hasher.hpp"
#include "genista/oracles/oracle.hpp"

namespace genista {

struct known_key {
    key_view key{};
    key_odds odds{};
};

// A line of a file of probabilities.
struct weighted_key {
    key_view key{};
    double weight = 0;
};

struct exact_oracle_options {
    std::optional<hasher> hash = std::nullopt;       // none: keyed, with a random key of its own
    std::optional<key_odds> unknown = std::nullopt;  // none: as above. Not both zero
    double universe = unknown_universe;              // keys that there might be; from_counts only
};

class exact_oracle {
  public:
    static constexpr std::string_view name = "exact_oracle";

    [[nodiscard]] static result<exact_oracle> make(std::span<const known_key> keys,
                                                   const exact_oracle_options& options = {}) noexcept;
    // An error that names the first key that one of them lacks.
    [[nodiscard]] static result<exact_oracle> from_columns(std::span<const weighted_key> stored,
                                                           std::span<const weighted_key> asked,
                                                           const exact_oracle_options& options = {}) noexcept;
    // Neither log may be empty.
    [[nodiscard]] static result<exact_oracle> from_counts(std::span<const counted_key> inserts,
                                                          std::span<const counted_key> queries,
                                                          const exact_oracle_options& options = {}) noexcept;

    [[nodiscard]] key_odds odds(key_view key) const noexcept { return odds(hash_(key)); }
    [[nodiscard]] key_odds odds(integer_key key) const noexcept { return odds(hash_(key)); }
    [[nodiscard]] key_odds odds(const digest& d) const noexcept;

    [[nodiscard]] result<void> save(sink& out) const noexcept;
    [[nodiscard]] static result<exact_oracle> load(std::span<const std::byte> bytes) noexcept;

    [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }
    [[nodiscard]] const key_odds& unknown() const noexcept { return unknown_; }
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return memory_.allocated_bytes() + sizeof *this; }

    struct cell {
        std::uint64_t position = 0;
        key_odds odds{};
    };

  private:
    exact_oracle(const hasher& hash, const key_odds& unknown, std::uint64_t keys, std::uint64_t homes,
                 buffer memory) noexcept;
    [[nodiscard]] static result<void> check_unknown(const key_odds& unknown) noexcept;
    // Cells by rising position, none twice, none with both odds zero.
    [[nodiscard]] static result<exact_oracle> from_sorted(const hasher& hash, const key_odds& unknown,
                                                          std::span<const cell> sorted) noexcept;
    [[nodiscard]] std::span<const cell> cells() const noexcept {
        return {reinterpret_cast<const cell*>(memory_.data()), memory_.size_bytes() / sizeof(cell)};
    }

    hasher hash_;
    key_odds unknown_;
    std::uint64_t keys_;
    std::uint64_t homes_;
    buffer memory_;
};

static_assert(key_oracle<exact_oracle>);

}  // namespace genista
