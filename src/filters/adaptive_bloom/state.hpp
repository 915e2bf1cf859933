// state: everything that a look-up reads: the cells of all levels, which of them are dead, and the
// hashes of the last level.
//
//     cells     level 0 | level 1 | ...     one bit each, side by side in one buffer
//     dead      for each level: range → offsets of its dead cells (design.hpp)
//     last      quotient → entries: whole hashes
//
// It does not depend on R. core changes it, under its locks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "filters/adaptive_bloom/design.hpp"
#include "filters/adaptive_bloom/hashes.hpp"
#include "filters/quotient_table.hpp"
#include "genista/base/result.hpp"
#include "genista/detail/base/buffer.hpp"
#include "genista/filters/adaptive_bloom.hpp"

namespace genista::adaptive_bloom {

// The cells of a key under the functions of one level; a cell may come twice.
struct cell_list {
    std::array<std::uint64_t, most_functions + 1> at{};
    unsigned count = 0;

    [[nodiscard]] const std::uint64_t* begin() const noexcept { return at.data(); }
    [[nodiscard]] const std::uint64_t* end() const noexcept { return at.data() + count; }
    [[nodiscard]] bool has(std::uint64_t cell) const noexcept { return std::find(begin(), end(), cell) != end(); }
};

struct last_hash {
    std::uint64_t quotient = 0, entry = 0;
    friend bool operator==(const last_hash&, const last_hash&) = default;
};

class state {
  public:
    [[nodiscard]] static result<std::unique_ptr<state>> make(const design& sizes, const generation& salts);
    state(const design& sizes, const generation& salts, buffer cells, std::vector<quotient_table> dead,
          quotient_table last) noexcept;

    // LOOKUP [Fig. 1].
    [[nodiscard]] adaptive_bloom_path look(const digest& d, const hash_functions& hash) const noexcept;

    [[nodiscard]] cell_list cells_of(unsigned level, const digest& d, const hash_functions& hash) const noexcept;
    [[nodiscard]] last_hash last_of(const digest& d, const hash_functions& hash) const noexcept;

    [[nodiscard]] bool is_set(unsigned level, std::uint64_t cell) const noexcept {
        const std::uint64_t bit = sizes_.with_cells[level].first_cell + cell;
        return (words()[bit / 64] >> bit % 64 & 1) != 0;
    }
    void set(unsigned level, std::uint64_t cell) noexcept {
        const std::uint64_t bit = sizes_.with_cells[level].first_cell + cell;
        words()[bit / 64] |= std::uint64_t{1} << bit % 64;
    }
    [[nodiscard]] bool is_dead(unsigned level, std::uint64_t cell) const noexcept;
    [[nodiscard]] bool meets_dead(unsigned level, const cell_list& cells) const noexcept;
    // By I3, is a stored key with this digest in level `level`? d() means the last one.
    [[nodiscard]] bool reaches(unsigned level, const digest& d, const hash_functions& hash) const noexcept;
    [[nodiscard]] bool has_room_for_dead(unsigned level, std::uint64_t cell) const noexcept;
    // False: no room. To kill a dead cell again changes nothing.
    [[nodiscard]] bool kill(unsigned level, std::uint64_t cell) noexcept;

    [[nodiscard]] std::optional<std::uint64_t> slot_of(const last_hash& h) const noexcept;
    // False: no room. Equal hashes are stored once.
    [[nodiscard]] bool insert_last(const last_hash& h) noexcept;
    void erase_last(const last_hash& h) noexcept;

    [[nodiscard]] unsigned d() const noexcept { return sizes_.count; }
    [[nodiscard]] const design& sizes() const noexcept { return sizes_; }
    [[nodiscard]] const generation& salts() const noexcept { return salts_; }
    [[nodiscard]] const buffer& cells() const noexcept { return cells_; }
    [[nodiscard]] const std::vector<quotient_table>& dead() const noexcept { return dead_; }
    [[nodiscard]] const quotient_table& last() const noexcept { return last_; }
    [[nodiscard]] std::uint64_t most(unsigned level) const noexcept {
        return level == d() ? sizes_.last_most : sizes_.with_cells[level].most;
    }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept;
    [[nodiscard]] std::uint64_t adaptive_bytes() const noexcept;

    std::array<std::uint64_t, most_levels + 1> keys{};  // the paper's n_i
    std::uint64_t forgotten =
        0;              // repaired after their keys left R: their cells stay set, without a record in the index
    unsigned half = 0;  // of the index (core.hpp)

  private:
    [[nodiscard]] const std::uint64_t* words() const noexcept {
        return reinterpret_cast<const std::uint64_t*>(cells_.data());
    }
    [[nodiscard]] std::uint64_t* words() noexcept { return reinterpret_cast<std::uint64_t*>(cells_.data()); }

    const design sizes_;
    const generation salts_;
    buffer cells_;
    std::vector<quotient_table> dead_;  // one for each level with cells
    quotient_table last_;
};

}  // namespace genista::adaptive_bloom
