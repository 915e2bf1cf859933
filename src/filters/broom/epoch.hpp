// What the epoch law (docs/filters/broom.md) asks of one bin: whose slot is it, who may join, how
// to renew.
//
// Functions over a bin_image and the digests that R holds in the bin's range. Nothing here locks or
// reads R.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "filters/broom/table.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

// A key as the present epoch of its bin sees it.
struct present {
    mixed words;
    fingerprint print;
};

class epoch {
  public:
    epoch(const table& of, bin_image& image) noexcept : table_{of}, image_{image}, bin_{image.bin_in_group()} {}

    [[nodiscard]] present of(const digest& d) const noexcept { return under(d, image_.now); }

    // The slot with this base, live or dead: by L3 there is at most one.
    [[nodiscard]] std::optional<unsigned> slot_with_base(const fingerprint& f) const noexcept;
    [[nodiscard]] bool is_dead(unsigned slot) const noexcept { return image_.sides.is_dead(bin_, slot); }
    [[nodiscard]] bool is_extended(unsigned slot) const noexcept {
        return image_.sides.extension_of(bin_, slot).length > 0;
    }
    // Would a query of this key match the slot, whose base it has?
    [[nodiscard]] bool slot_matches(unsigned slot, const present& key) const noexcept;
    // The slot that a query of this key would match.
    [[nodiscard]] std::optional<unsigned> matching_slot(const present& key) const noexcept;
    [[nodiscard]] bool backyard_has(const fingerprint& f) const noexcept { return image_.sides.has_tag(bin_, f.tag); }
    // Would a look-up of this key go on to the backyard?
    [[nodiscard]] bool reaches_backyard(const fingerprint& f) const noexcept {
        return (image_.slots.overflow() >> f.overflow_class & 1) != 0;
    }
    [[nodiscard]] std::size_t backyard_keys() const noexcept { return image_.sides.backyard_of(bin_).size(); }
    [[nodiscard]] bool backyard_is_full() const noexcept { return backyard_keys() >= backyard_per_bin; }
    // Would a query of this key be answered "maybe"?
    [[nodiscard]] bool matches(const digest& d) const noexcept {
        const present key = of(d);
        return matching_slot(key) || (reaches_backyard(key.print) && backyard_has(key.print));
    }
    // Full, and so many of its slots dead that one more would drive too many keys out: the next
    // erase renews it [law L2].
    [[nodiscard]] bool is_worn() const noexcept {
        return image_.slots.is_full() && image_.sides.dead_slots(bin_) >= dead_in_full_bin;
    }

    // Members whose fingerprint matches the slot: its owner, if R tells the truth and nobody is in
    // between two steps. The digest `except` does not count.
    [[nodiscard]] unsigned owners(unsigned slot, std::span<const digest> members, const digest& except,
                                  digest* one) const noexcept;
    [[nodiscard]] unsigned tag_owners(const fingerprint& f, std::span<const digest> members,
                                      const digest& except) const noexcept;
    // Members with this tag that have no slot: whose entry it may be.
    [[nodiscard]] unsigned entry_owners(const fingerprint& f, std::span<const digest> members,
                                        const digest& except) const noexcept;

    // An entry with this tag that no member needs.
    [[nodiscard]] bool entry_is_spare(const fingerprint& f, std::span<const digest> members) const noexcept {
        return backyard_has(f) && entry_owners(f, members, digest{}) == 0;
    }

    // A slot, or else a backyard entry; false if the backyard is full, and then nothing has
    // changed. The caller has made sure that neither base nor tag is taken [law L3].
    [[nodiscard]] bool join(const fingerprint& f);
    // An entry, or a share in the one with this tag; false if the backyard is full, and then
    // nothing has changed.
    [[nodiscard]] bool join_outside(const fingerprint& f);
    // An erased key's slot: kept as a dead one, or given up (the soft history).
    void bury(unsigned slot);
    void give_up(unsigned slot);
    // Extends the slot of `owner` past its first difference from `absent key`. False: no room,
    // renew instead [law L4].
    [[nodiscard]] bool extend(unsigned slot, const present& owner, const present& absent_key);

    // Lays the members under a salt never used before so that L3 holds and none of `avoid` matches
    // [law L5]. False if no draw did within the cap, which means that more keys share this bin than
    // it and its backyard can hold. The image's new salt counts as used: whoever does not commit
    // the image gives it back to the book. `beyond`: up to so many keys more than a bin takes by
    // inserts, because some of them may not be stored.
    [[nodiscard]] bool renew(std::span<const digest> members, std::span<const digest> avoid, unsigned beyond = 0);

    // For the lab: a colliding insert without renewal [broom18 §4.1], which the law forbids. False:
    // no room.
    [[nodiscard]] bool join_by_extending(unsigned slot, const present& owner, const present& joining);

    // The first rule of the law that this bin breaks, or nullptr.
    [[nodiscard]] const char* broken_rule() const;

  private:
    static constexpr unsigned most_draws = 1000;

    [[nodiscard]] present under(const digest& d, const salt& s) const noexcept {
        const mixed words = table_.mix(d, s);
        return {words, fingerprint::of(words, table_.form())};
    }
    // visit(member, what the present salt makes of it)
    template <class Visit>
    void for_each_present(std::span<const digest> members, const Visit& visit) const noexcept;
    [[nodiscard]] bool lay(std::span<const digest> members, std::span<const digest> avoid, unsigned beyond,
                           const salt& chosen);

    const table& table_;
    bin_image& image_;
    unsigned bin_;
};

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
