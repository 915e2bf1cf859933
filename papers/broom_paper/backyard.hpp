// backyard: the large design's second part, whole hashes in a compact table [broom18 §5.4].
//
// The fingerprint of a key in the backyard is its entire hash, so no other key ever matches it. The
// table is a quotient table that stays half empty: constant time, and hashes of one baseline lie in
// one run or two.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "filters/quotient_table.hpp"
#include "papers/broom_paper/hashes.hpp"

namespace genista::broom_paper {

class backyard {
  public:
    explicit backyard(quotient_table table) noexcept : table_{std::move(table)} {}

    [[nodiscard]] bool contains(const whole_hash& h) const noexcept { return slot_of(h).has_value(); }
    [[nodiscard]] bool has_room(const whole_hash& h) const noexcept {
        return 2 * table_.size() < table_.quotients() && table_.has_room(quotient(h));
    }
    void insert(const whole_hash& h) noexcept { (void)table_.insert(quotient(h), h.first, h.second); }
    void erase(const whole_hash& h) noexcept {
        if (const auto slot = slot_of(h)) table_.erase(quotient(h), *slot);
    }
    // The adaptivity bits that a fingerprint of the primary level needs so that it is not a prefix
    // of a hash here. `baselines` is the number of the primary level's baselines; hashes of one
    // baseline are neighbours, since quotients are coarser.
    [[nodiscard]] unsigned shortest(const whole_hash& h, std::uint64_t baselines) const noexcept {
        unsigned length = 0;
        const std::uint64_t baseline = scale(h.first, baselines), mine = quotient(h);
        for (std::uint64_t q = mine - (mine > 0); q <= mine + 1 && q < table_.quotients(); ++q) {
            const quotient_table::run run = table_.run_of(q);
            for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
                if (scale(table_[slot], baselines) != baseline) continue;
                const unsigned needed = bits_to_tell(table_.more(slot), h.second);
                length = std::max(length, std::min(needed, most_adaptivity_bits));
            }
        }
        return length;
    }

    [[nodiscard]] const quotient_table& table() const noexcept { return table_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return table_.size(); }

  private:
    [[nodiscard]] std::uint64_t quotient(const whole_hash& h) const noexcept {
        return scale(h.first, table_.quotients());
    }
    [[nodiscard]] std::optional<std::uint64_t> slot_of(const whole_hash& h) const noexcept {
        const quotient_table::run run = table_.run_of(quotient(h));
        for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
            if (table_[slot] == h.first && table_.more(slot) == h.second) return slot;
        }
        return std::nullopt;
    }

    quotient_table table_;
};

}  // namespace genista::broom_paper
