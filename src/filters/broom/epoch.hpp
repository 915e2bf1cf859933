// The epoch law (docs/filters/broom.md) for one bin: which key owns a slot, which key may join, how
// to renew.
//
// Functions over a bin_image and the digests that R holds in the bin's range, the *members*. No
// function here locks or reads R.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "filters/broom/table.hpp"

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

class epoch {
  public:
    epoch(const table& of, bin_image& image) noexcept : table_{of}, image_{image}, bin_{image.bin_in_cluster()} {}

    [[nodiscard]] present of(const digest& d) const noexcept { return table_.under(d, image_.now); }

    // The slot with this base, live or tombstone: by L3 there is at most one.
    [[nodiscard]] std::optional<unsigned> slot_with_base(const fingerprint& f) const noexcept;
    [[nodiscard]] bool is_tombstone(unsigned slot) const noexcept { return image_.sides.is_tombstone(bin_, slot); }
    [[nodiscard]] bool is_extended(unsigned slot) const noexcept {
        return image_.sides.extension_of(bin_, slot).length > 0;
    }
    // REQUIRES: the slot has the key's base. Would a query of this key match it?
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
    [[nodiscard]] bool matches(const digest& d) const noexcept { return matches(of(d)); }
    [[nodiscard]] bool matches(const present& key) const noexcept {
        return matching_slot(key) || (reaches_backyard(key.print) && backyard_has(key.print));
    }
    // Full, and with as many tombstones as a full bin may have: one more would drive too many keys
    // out. The next erase renews the bin [law L2].
    [[nodiscard]] bool is_full_of_tombstones() const noexcept {
        return image_.slots.is_full() && image_.sides.tombstones_in(bin_) >= tombstones_in_full_bin;
    }

    // The number of members whose fingerprint matches the slot: one, its owner, if R answers
    // correctly and no operation is half done. The digest `except` does not count.
    [[nodiscard]] unsigned owners(unsigned slot, std::span<const digest> members, const digest& except,
                                  digest* one) const noexcept;
    [[nodiscard]] unsigned tag_owners(const fingerprint& f, std::span<const digest> members,
                                      const digest& except) const noexcept;
    // The number of members with this tag and without a slot: the possible owners of the entry.
    [[nodiscard]] unsigned entry_owners(const fingerprint& f, std::span<const digest> members,
                                        const digest& except) const noexcept;

    // Is there an entry with this tag that no member needs?
    [[nodiscard]] bool entry_is_spare(const fingerprint& f, std::span<const digest> members) const noexcept {
        return backyard_has(f) && entry_owners(f, members, digest{}) == 0;
    }

    // May a key with this fingerprint join without a read of R?
    [[nodiscard]] bool takes_unread(const fingerprint& f) const noexcept;
    // Adds a slot, or else a backyard entry; false if the backyard is full, and then nothing has
    // changed. REQUIRES: neither base nor tag is taken [law L3].
    [[nodiscard]] bool join(const fingerprint& f);
    // Adds an entry, or shares the one with this tag; false if the backyard is full, and then
    // nothing has changed.
    [[nodiscard]] bool join_outside(const fingerprint& f);
    // Turns an erased key's slot into a tombstone, or removes it (the soft history).
    void leave_tombstone(unsigned slot);
    void give_up(unsigned slot);
    // Extends the slot of `owner` past its first difference from `absent_key`. False: no room,
    // renew instead [law L4].
    [[nodiscard]] bool extend(unsigned slot, const present& owner, const present& absent_key);

    // Rebuilds the bin from the members under a salt never used before, so that L3 holds and none
    // of `avoid` matches [law L5]. False if no draw succeeds within the cap: more keys share this
    // bin than it and its backyard can hold. The image's new salt counts as used; a caller that
    // does not commit the image gives it back to the book. `beyond`: this many keys more than a bin
    // takes by inserts, because some members may not be stored.
    [[nodiscard]] bool renew(std::span<const digest> members, std::span<const digest> avoid, unsigned beyond = 0);

    // For the lab: a colliding insert without renewal [broom18 §4.1], which the law forbids. False:
    // no room.
    [[nodiscard]] bool join_by_extending(unsigned slot, const present& owner, const present& joining);

    // The first rule of the law that this bin breaks, or nullptr.
    [[nodiscard]] const char* broken_rule() const;

  private:
    static constexpr unsigned most_draws = 1000;

    // Calls visit(member, its fingerprint under the present salt).
    template <class Visit>
    void for_each_present(std::span<const digest> members, const Visit& visit) const noexcept;
    [[nodiscard]] bool build(std::span<const digest> members, std::span<const digest> avoid, unsigned beyond,
                             const salt& chosen);

    const table& table_;
    bin_image& image_;
    unsigned bin_;
};

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
