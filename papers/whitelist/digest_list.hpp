// digest_list: a growing set of whole digests, in little more than the bits that it needs.
//
// A digest has 128 bits. The list lies in a quotient_table: the leading bits of the position are
// the place of an entry, the rest of the position and the seed are its content. So e entries take
// 128 - log e bits each and two or three more, in slots of which 78 to 87 % are taken. No bit of a
// digest is lost: an entry stands for exactly one digest.
//
//     position  [ quotient = scale(position, quotients) | first column ]    seed  [ second column ]
//
// It grows by an eighth at a time, into a new table.
#pragma once

#include <cstdint>
#include <optional>

#include "filters/quotient_table.hpp"
#include "genista/base/result.hpp"
#include "genista/hash/key.hpp"

namespace genista {

class digest_list {
  public:
    digest_list() noexcept = default;  // empty, and no memory taken
    [[nodiscard]] bool contains(const digest& d) const noexcept { return table_ && find(d).has_value(); }

    // REQUIRES: d is not in the list. An error if memory is missing; false only for positions that
    // no honest hash function gives. Both change nothing.
    [[nodiscard]] result<bool> insert(const digest& d) noexcept;
    // True if d was there. The table does not shrink.
    bool erase(const digest& d) noexcept;

    [[nodiscard]] std::uint64_t size() const noexcept { return table_ ? table_->size() : 0; }
    [[nodiscard]] std::uint64_t quotients() const noexcept { return table_ ? table_->quotients() : 0; }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return table_ ? table_->allocated_bytes() : 0; }
    // The most bytes of a list with this many entries, by the sizes through which it grows.
    [[nodiscard]] static std::uint64_t bytes_for(std::uint64_t entries) noexcept;

  private:
    struct place {
        std::uint64_t quotient = 0, rest = 0;
    };
    [[nodiscard]] static quotient_shape shape_for(std::uint64_t quotients) noexcept;
    [[nodiscard]] static place place_in(std::uint64_t quotients, const digest& d) noexcept;
    [[nodiscard]] static bool insert_into(quotient_table& table, const digest& d) noexcept;
    [[nodiscard]] std::optional<std::uint64_t> find(const digest& d) const noexcept;  // slot
    // A larger table with the same entries and a place for d, if there is one.
    [[nodiscard]] result<std::optional<quotient_table>> larger_table(const digest& d) const noexcept;
    template <class Take>
    void each(Take take) const;

    std::optional<quotient_table> table_{};
};

}  // namespace genista
