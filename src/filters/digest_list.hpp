// digest_list: a set of digests that grows, close to the bits that they have.
//
// A digest has 128 bits. The list lies in a quotient_table: the leading bits of the position are
// where an entry lies, the rest of the position and the seed are what it says, so that e entries
// take 128 - log e bits each and two or three more, in slots of which 78 to 87 % are taken. Nothing
// is left out of a digest: an entry names one digest and no other.
//
//     position  [ quotient = scale(position, quotients) | first column ]     seed  [ second column ]
//
// It grows by an eighth at a time, into a new table, so that its owner can go on answering from the
// old one meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "filters/quotient_table.hpp"
#include "genista/base/result.hpp"
#include "genista/hash/key.hpp"

namespace genista {

class digest_list {
  public:
    digest_list() noexcept = default;  // empty, and no memory taken
    // Takes over the table of another list. The bytes may be anything: an error unless they are
    // such a table.
    [[nodiscard]] static result<digest_list> from_bytes(std::uint64_t quotients,
                                                        std::span<const std::byte> bytes) noexcept;

    [[nodiscard]] bool contains(const digest& d) const noexcept { return table_ && find(d).has_value(); }

    // Is there a place for d, which is not in it? Perhaps in a larger table that holds the same:
    // the caller puts it in the place of this one. An error for lack of memory. Only positions that
    // no honest hash gives find no place at all.
    struct room {
        bool found = false;
        std::optional<quotient_table> larger{};
    };
    [[nodiscard]] result<room> room_for(const digest& d) const noexcept;
    // `found` is true. What is left in `there` is the old table, to be given back where nobody
    // waits.
    void insert(const digest& d, room& there) noexcept;
    // True if it was there. The table does not shrink.
    bool erase(const digest& d) noexcept;

    [[nodiscard]] std::uint64_t size() const noexcept { return table_ ? table_->size() : 0; }
    [[nodiscard]] std::uint64_t quotients() const noexcept { return table_ ? table_->quotients() : 0; }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return table_ ? table_->allocated_bytes() : 0; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return table_ ? table_->bytes() : std::span<const std::byte>{};
    }
    // What a list of so many entries takes at the most, by the sizes it grows through.
    [[nodiscard]] static std::uint64_t bytes_for(std::uint64_t entries) noexcept;

  private:
    struct place {
        std::uint64_t quotient = 0, rest = 0;
    };
    [[nodiscard]] static quotient_shape shape_for(std::uint64_t quotients) noexcept;
    [[nodiscard]] static place place_in(std::uint64_t quotients, const digest& d) noexcept;
    [[nodiscard]] static bool insert_into(quotient_table& table, const digest& d) noexcept;
    [[nodiscard]] std::optional<std::uint64_t> find(const digest& d) const noexcept;  // slot
    template <class Take>
    void each(Take take) const;

    std::optional<quotient_table> table_{};
};

}  // namespace genista
