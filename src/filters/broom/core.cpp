// The three operations. docs/filters/broom.md argues why each step is safe; the comments here say which rule it serves.
#include "filters/broom/core.hpp"

#include <algorithm>
#include <new>

namespace genista::broom {
namespace {

constexpr int most_attempts = 1000;  // a bin that changed under every one of them is a bug or a livelock: say so

error no_memory() noexcept {
    return error::make(error_code::out_of_memory, "broom: no memory for a bin's side entries");
}

error kept_changing(std::uint64_t bin) noexcept {
    return error::make(error_code::timeout, "broom: bin %llu changed during every one of %d attempts",
                       static_cast<unsigned long long>(bin), most_attempts);
}

}  // namespace

result<void> core::fetch(std::uint64_t bin, range_source& source, population& into) noexcept {
    into.members.clear();
    into.holds_key = false;
    return source.read(table_->range_of(bin), into);
}

void core::commit(table::lock& held, bin_image& image, unsigned keys_before) {
    table_->commit(held, image);
    const unsigned keys_after = epoch{*table_, image}.keys();
    keys_.fetch_add(std::uint64_t{keys_after} - keys_before, std::memory_order_relaxed);
}

result<void> core::renew(table::lock& held, bin_image& image, std::span<const digest> members, const digest* avoid) {
    epoch now{*table_, image};
    const unsigned before = now.keys();
    if (!now.renew(members, avoid)) {
        return error::make(error_code::unsupported, "broom: bin %llu cannot hold %zu keys",
                           static_cast<unsigned long long>(image.bin), members.size());
    }
    commit(held, image, before);
    renewals_.fetch_add(1, std::memory_order_relaxed);
    return {};
}

result<insert_outcome> core::insert(const digest& d, range_source& source) noexcept try {
    const place at = table_->place_of(d);
    population r;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        std::uint32_t version = 0;
        {
            table::lock held{*table_, at.group()};
            bin_image image = table_->read(at.bin);
            epoch now{*table_, image};
            const fingerprint f = now.of(d).print;
            if (!now.slot_with_base(f) && !now.backyard_has(f)) {
                const unsigned before = now.keys();
                if (!now.join(f)) return insert_outcome::full;
                commit(held, image, before);
                return insert_outcome::inserted;
            }
            version = held.version();
        }
        if (const auto read = fetch(at.bin, source, r); !read) return read.error();
        bool again = false;
        auto outcome = insert_with(d, version, r, again);
        if (!again) return outcome;
    }
    return kept_changing(at.bin);
} catch (const std::bad_alloc&) {
    return no_memory();
}

// Presence is decided from slots and their owners, never from "R holds x", which is true by now anyway.
result<insert_outcome> core::insert_with(const digest& d, std::uint32_t version, const population& r, bool& again) {
    const place at = table_->place_of(d);
    table::lock held{*table_, at.group()};
    if (held.version() != version) {
        again = true;
        return insert_outcome::full;
    }
    bin_image image = table_->read(at.bin);
    epoch now{*table_, image};
    const present x = now.of(d);
    const auto slot = now.slot_with_base(x.print);
    const bool own_slot = slot && now.slot_matches(*slot, x) && now.owners(*slot, r.members, d, nullptr) == 0;
    const bool own_entry = !slot && now.backyard_has(x.print) && now.tag_owners(x.print, r.members, d) == 0;
    if (own_slot || own_entry) {
        held.touch();  // a racing erase that read R before us must look again
        return insert_outcome::already_present;
    }
    std::vector<digest> members = r.members;
    members.push_back(d);
    if (const auto renewed = renew(held, image, members, nullptr); !renewed) {
        if (renewed.error().code() == error_code::unsupported) return insert_outcome::full;
        return renewed.error();
    }
    return insert_outcome::inserted;
}

result<erase_outcome> core::erase(const digest& d, range_source& source) noexcept try {
    const place at = table_->place_of(d);
    population r;
    std::uint32_t version = table_->version(at.group());
    if (const auto read = fetch(at.bin, source, r); !read) return read.error();
    if (!r.holds_key) return erase_outcome::absent;  // a stranger never hurts a member
    if (const auto gone = source.erase(); !gone) return gone.error();
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        bool again = false;
        const auto outcome = erase_with(d, version, r, again);
        if (!outcome) return outcome.error();
        if (!again) return erase_outcome::erased;
        // Somebody changed the bin: what R holds now decides. If the key is back, its new insert owns the slot.
        version = table_->version(at.group());
        if (const auto read = fetch(at.bin, source, r); !read) return read.error();
        if (r.holds_key) return erase_outcome::erased;
    }
    return kept_changing(at.bin);
} catch (const std::bad_alloc&) {
    return no_memory();
}

result<void> core::erase_with(const digest& d, std::uint32_t version, const population& r, bool& again) {
    const place at = table_->place_of(d);
    table::lock held{*table_, at.group()};
    if (held.version() != version) {
        again = true;
        return {};
    }
    bin_image image = table_->read(at.bin);
    epoch now{*table_, image};
    const present x = now.of(d);
    const auto slot = now.slot_with_base(x.print);
    const bool in_slot = slot && now.slot_matches(*slot, x);
    const bool in_backyard = now.backyard_has(x.print);
    if (!in_slot && !in_backyard) return {};
    // Buried only where it is certain whose slot it is; a full bin is renewed, or dead slots would drive keys out [law L2].
    if (in_slot && !in_backyard && !now.is_full() && now.owners(*slot, r.members, d, nullptr) == 0) {
        const unsigned before = now.keys();
        now.bury(*slot);
        commit(held, image, before);
        return {};
    }
    std::vector<digest> members = r.members;
    std::erase(members, d);
    return renew(held, image, members, nullptr);
}

result<adapt_outcome> core::adapt(const digest& d, range_source& source) noexcept try {
    const place at = table_->place_of(d);
    population r;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        const std::uint32_t version = table_->version(at.group());
        if (!table_->contains(d)) return attempt == 0 ? adapt_outcome::was_negative : adapt_outcome::fixed;
        if (const auto read = fetch(at.bin, source, r); !read) return read.error();
        if (r.holds_key) return adapt_outcome::true_positive;
        bool again = false;
        auto outcome = adapt_with(d, version, r, again);
        if (!again) return outcome;
    }
    return kept_changing(at.bin);
} catch (const std::bad_alloc&) {
    return no_memory();
}

result<adapt_outcome> core::adapt_with(const digest& d, std::uint32_t version, const population& r, bool& again) {
    const place at = table_->place_of(d);
    table::lock held{*table_, at.group()};
    if (held.version() != version) {
        again = true;
        return adapt_outcome::fixed;
    }
    bin_image image = table_->read(at.bin);
    epoch now{*table_, image};
    const present x = now.of(d);
    const auto slot = now.slot_with_base(x.print);
    if (slot && now.slot_matches(*slot, x)) {
        // Exactly one candidate, or extending might follow the wrong key's stream and lose the other.
        digest owner;
        const unsigned before = now.keys();
        if (now.owners(*slot, r.members, d, &owner) == 1 && now.extend(*slot, now.of(owner), x)) {
            commit(held, image, before);
            return adapt_outcome::fixed;
        }
    }
    if (const auto renewed = renew(held, image, r.members, &d); !renewed) return renewed.error();
    return adapt_outcome::fixed;
}

result<void> core::rebuild(range_source& source) noexcept try {
    population r;
    for (std::uint64_t bin = 0; bin < table_->bins(); ++bin) {
        if (const auto read = fetch(bin, source, r); !read) return read.error();
        table::lock held{*table_, bin / bins_per_group};
        bin_image image = table_->read(bin);
        if (const auto renewed = renew(held, image, r.members, nullptr); !renewed) return renewed.error();
    }
    return {};
} catch (const std::bad_alloc&) {
    return no_memory();
}

result<void> core::audit(range_source& source) const noexcept try {
    std::uint64_t keys = 0;
    population r;
    for (std::uint64_t bin = 0; bin < table_->bins(); ++bin) {
        r = {};
        if (const auto read = source.read(table_->range_of(bin), r); !read) return read.error();
        bin_image image = table_->read(bin);
        epoch now{*table_, image};
        keys += now.keys();
        const auto broken = [&](const char* what) {
            return error::make(error_code::corrupt, "broom audit: bin %llu: %s", static_cast<unsigned long long>(bin),
                               what);
        };
        if (image.slots.used() > slots_per_bin || image.slots.used(false) > slots_per_half ||
            image.slots.used(true) > slots_per_half) {
            return broken("more slots than a line has");
        }
        for (const digest& member : r.members) {
            const present x = now.of(member);
            const auto slot = now.slot_with_base(x.print);
            const bool in_slot = slot && now.slot_matches(*slot, x);
            const bool outside =
                (image.slots.overflow() >> x.print.overflow_class & 1) != 0 && now.backyard_has(x.print);
            if (!in_slot && !outside) return broken("a member of R has neither slot nor backyard entry");
            if (!table_->contains(member)) return broken("a member of R is answered no");
        }
    }
    if (keys != this->keys()) {
        return error::make(error_code::corrupt, "broom audit: %llu keys in bins, %llu counted",
                           static_cast<unsigned long long>(keys), static_cast<unsigned long long>(this->keys()));
    }
    return {};
} catch (const std::bad_alloc&) {
    return no_memory();
}

}  // namespace genista::broom
