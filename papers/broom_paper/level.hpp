// level: fingerprints under one set of hash functions, in a quotient table with their adaptivity
// bits apart [broom18 §5.1-5.4].
//
// The primary level of both designs and the second level of the small one. A fingerprint is a
// prefix of a whole hash: quotient and remainder, which are stored, and adaptivity bits, which may
// be none. In the large design the remainder's first bits, its signature, lie in a column of their
// own, and no two fingerprints of a run share a signature.
//
//   I1  No fingerprint of a level is a prefix of another [Inv. 7]: before an insert, the caller
//       extends the fingerprint that would be.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "filters/quotient_table.hpp"
#include "papers/broom_paper/groups.hpp"

namespace genista::broom_paper {

class level {
  public:
    // May throw std::bad_alloc. remainder_bits = bits + more_bits of the shape.
    level(quotient_table table, groups strings) noexcept : table_{std::move(table)}, strings_{std::move(strings)} {}

    // Quotient and remainder as one number, in the order of hashes: the baseline fingerprint.
    [[nodiscard]] std::uint64_t baselines() const noexcept { return table_.quotients() << remainder_bits(); }
    [[nodiscard]] std::uint64_t baseline(const whole_hash& h) const noexcept { return scale(h.first, baselines()); }

    // The place of a fingerprint, and its adaptivity bits.
    struct place {
        std::uint64_t quotient = 0, slot = 0;
        unsigned index = 0;
        adaptivity bits{};
        [[nodiscard]] groups::owner owner() const noexcept { return {quotient, index}; }
    };
    // The one fingerprint that is a prefix of this hash [Inv. 7].
    [[nodiscard]] std::optional<place> find(const whole_hash& h) const noexcept;
    [[nodiscard]] std::uint64_t baseline_of(const place& at) const noexcept;
    // The number of fingerprints that are: for audits, 1 if the hash is that of a stored key.
    [[nodiscard]] unsigned count_prefixes(const whole_hash& h) const noexcept;

    //  ---- insertion
    //
    // Does its run have a signature equal to this hash's: a partial collision of the large design
    // [§5.4]?
    [[nodiscard]] bool has_partial_collision(const whole_hash& h) const noexcept;
    [[nodiscard]] bool has_room(const whole_hash& h) const noexcept;
    // The adaptivity bits that this hash needs so that its fingerprint is not a prefix of another
    // [§4.1]. REQUIRES: no fingerprint is a prefix of this hash.
    [[nodiscard]] unsigned shortest(const whole_hash& h) const noexcept;
    // REQUIRES: has_room, and the group has room for the bits.
    void insert(const whole_hash& h, unsigned length);

    // Extends the fingerprint, which is a prefix of this stream's hash, to this many bits. False:
    // its group is full.
    [[nodiscard]] bool extend(const place& at, std::uint64_t stream, unsigned length);
    void erase(const place& at);

    // Checks that the table is consistent, that no run is longer than indices allow or has a
    // signature twice, and that every string that is no ghost has an owner.
    [[nodiscard]] result<void> check() const;

    [[nodiscard]] groups& strings() noexcept { return strings_; }
    [[nodiscard]] const groups& strings() const noexcept { return strings_; }
    [[nodiscard]] const quotient_table& table() const noexcept { return table_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return table_.size(); }
    [[nodiscard]] std::uint64_t quotient(const whole_hash& h) const noexcept { return baseline(h) >> remainder_bits(); }
    [[nodiscard]] std::uint64_t allocated_bytes() const noexcept {
        return table_.allocated_bytes() + strings_.allocated_bytes();
    }

  private:
    [[nodiscard]] unsigned remainder_bits() const noexcept { return table_.shape().bits + table_.shape().more_bits; }
    // Calls visit(slot, index) for every fingerprint with this baseline, until it returns true.
    template <class Visit>
    bool any_hard_collision(std::uint64_t baseline, Visit visit) const {
        const std::uint64_t remainder = baseline & bits::low_mask(remainder_bits());
        const std::uint64_t rest = remainder & bits::low_mask(table_.shape().more_bits);
        const std::uint64_t signature = remainder >> table_.shape().more_bits;
        const quotient_table::run run = table_.run_of(baseline >> remainder_bits());
        for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
            if (table_[slot] == signature && table_.more(slot) == rest &&
                visit(slot, static_cast<unsigned>(slot - run.first)))
                return true;
        }
        return false;
    }

    quotient_table table_;
    groups strings_;
};

}  // namespace genista::broom_paper
