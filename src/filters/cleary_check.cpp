// Checks a table of cleary_filter from untrusted bytes (cleary_check.hpp): one round over all
// cells, home by home, that trusts nothing but its starting point.
#include "filters/cleary_check.hpp"

#include "filters/cleary_table.hpp"

namespace genista::cleary {
namespace {

class walk {
  public:
    explicit walk(const cleary_state& s) noexcept : s_{s} {}

    // Chooses the start of the round: a block whose offset is exact. False: there is none.
    [[nodiscard]] bool begin() noexcept {
        for (first_ = 0; first_ < s_.block_count; ++first_) {
            offset_ = offset_of(s_.blocks[first_]);
            if (offset_ == most_offset || offset_ >= cell_count(s_)) continue;
            next_ = first_ * block_cells + offset_;
            end_ = next_ + cell_count(s_);
            return true;
        }
        return false;
    }

    [[nodiscard]] bool block(std::uint64_t unwrapped) noexcept {
        const cleary_block& here = block_at(s_, unwrapped);
        const std::uint64_t first = unwrapped * block_cells;
        if (offset_of(here) != std::min(next_ > first ? next_ - first : 0, most_offset)) return false;
        for (std::uint64_t homes = occupied_of(here); homes != 0; homes &= homes - 1) {
            const std::uint64_t home = first + static_cast<std::uint64_t>(std::countr_zero(homes));
            rests_ = rests_ || next_ <= home;
            if (!free_until(home) || !run()) return false;
        }
        return true;
    }

    // The runs must end where the round began. And some run must lie at its home: in a table
    // without a free cell all runs could be shifted by a few cells and still be consistent, but
    // inserts would never have moved an entry so far.
    [[nodiscard]] bool close() noexcept {
        return free_until(end_ - offset_) && next_ == end_ && used_ == s_.used && (rests_ || used_ == 0);
    }

    [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
    [[nodiscard]] std::uint64_t used() const noexcept { return used_; }

  private:
    [[nodiscard]] bool is_end(std::uint64_t number) const noexcept {
        return (block_at(s_, number / block_cells).ends >> number % block_cells & 1) != 0;
    }
    // The cells before `number` that are not taken have to be zero.
    [[nodiscard]] bool free_until(std::uint64_t number) noexcept {
        for (; next_ < number; ++next_) {
            if (is_end(next_) || remainder_at(s_, wrapped(s_, next_)) != 0) return false;
        }
        return true;
    }
    // Reads a run: rising remainders up to an end, within the round.
    [[nodiscard]] bool run() noexcept {
        for (std::uint64_t last = 0, length = 0; next_ < end_; ++length) {
            const std::uint64_t here = remainder_at(s_, wrapped(s_, next_));
            if (length > 0 && here <= last) return false;
            last = here;
            ++used_;
            if (is_end(next_++)) return true;
        }
        return false;
    }

    const cleary_state& s_;
    std::uint64_t first_ = 0, offset_ = 0;
    std::uint64_t next_ = 0, end_ = 0;  // unwrapped cells: the next one, and the end of the round
    std::uint64_t used_ = 0;
    bool rests_ = false;
};

bool tail_is_zero(const cleary_state& s) noexcept {
    const std::uint64_t begin = cell_count(s) * s.bits, words = bits::words_for(begin);
    if (begin % 8 != 0 && std::to_integer<unsigned>(s.remainders[begin / 8]) >> begin % 8 != 0) return false;
    return std::all_of(s.remainders + (begin + 7) / 8, s.remainders + 8 * words,
                       [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

result<void> check(const cleary_state& s) noexcept {
    walk round{s};
    if (!round.begin())
        return error::make(error_code::corrupt, "cleary snapshot: no block says how far the runs before it reach");
    for (std::uint64_t block = round.first(); block < round.first() + s.block_count; ++block) {
        if (round.block(block)) continue;
        return error::make(error_code::corrupt, "cleary snapshot: block %llu of %llu contradicts the ones before it",
                           static_cast<unsigned long long>(block % s.block_count),
                           static_cast<unsigned long long>(s.block_count));
    }
    if (!round.close() || !tail_is_zero(s))
        return error::make(error_code::corrupt, "cleary snapshot: %llu values for %llu keys, or no end where it began",
                           static_cast<unsigned long long>(round.used()), static_cast<unsigned long long>(s.used));
    return {};
}

}  // namespace genista::cleary
