// key_table: different keys, numbered in the order of insertion; the exact set against which
// answers are checked.
//
//     bytes    all keys, one behind the other          offsets   where each begins
//     slots    open addressing: tag, 32 bits | number + 1, 32 bits; 0 is free; at most 2/3 full
//
// 12 to 24 bytes beside the bytes of a key, so that 10^8 queries over 10^7 keys fit a small
// machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "genista/hash/hasher.hpp"

namespace genista::lab {

using key_number = std::uint32_t;

class key_table {
  public:
    static constexpr std::size_t most_keys = (std::size_t{1} << 32) - 2;

    key_table() : hash_{hash_key::from_seed(1)} {}

    // The number of the key, which is added if it is new; nothing if the table already holds
    // most_keys.
    std::optional<key_number> add(std::string_view key);
    [[nodiscard]] std::optional<key_number> find(std::string_view key) const;

    [[nodiscard]] std::size_t size() const noexcept { return offsets_.size() - 1; }
    [[nodiscard]] std::string_view operator[](key_number number) const noexcept {
        return {bytes_.data() + offsets_[number], offsets_[number + 1] - offsets_[number]};
    }
    [[nodiscard]] std::size_t key_bytes() const noexcept { return bytes_.size(); }

  private:
    // The slot of the key, or the free slot where it would be inserted.
    [[nodiscard]] std::size_t slot_of(std::string_view key, const digest& d) const noexcept;
    void grow();

    hasher hash_;  // keyed, with a fixed key: a file that is made to collide only slows its own run
    std::vector<char> bytes_;
    std::vector<std::uint64_t> offsets_{0};
    std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(64);
};

}  // namespace genista::lab
