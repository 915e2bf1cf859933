// Does the filter agree with R? See cuckoo/family.hpp, audit().
#include <algorithm>
#include <new>

#include "filters/cuckoo/core.hpp"

namespace genista::cuckoo {

result<void> core::audit(slot_source& remote) const {
    const std::lock_guard held{mutex_};
    const auto complain = [this](const char* what, std::uint64_t number) {
        return error::make(error_code::corrupt, "%.*s audit: %s (%llu)", static_cast<int>(who_.name.size()),
                           who_.name.data(), what, static_cast<unsigned long long>(number));
    };
    std::uint64_t occupied = 0;
    for (std::uint64_t slot = 0; slot < shape().slots(); ++slot) occupied += is_empty(slot) ? 0u : 1u;
    if (occupied != keys_) return complain("occupied slots are not as many as keys", occupied);

    std::vector<digest> stored;
    bool starved = false;
    std::optional<std::uint64_t> stray;
    const auto look_at_slot = [&](std::uint64_t number, key_view key) noexcept {
        const std::uint64_t slot = number - in_remote(generation_, 0);
        const digest d = hash_(key);
        if (!fits(d, slot)) stray = slot;
        try {
            stored.push_back(d);
        } catch (const std::bad_alloc&) {
            starved = true;
        }
        return !starved && !stray;
    };
    if (slots_are_ours_) {
        const auto read =
            remote.each_in_slots(in_remote(generation_, 0), in_remote(generation_, shape().slots() - 1), look_at_slot);
        if (!read) return read.error();
        if (stray) return complain("R's key does not belong into the slot", *stray);
        if (!starved && stored.size() != keys_)
            return complain("slots known to R are not as many as keys", stored.size());
    }
    std::sort(stored.begin(), stored.end());
    std::uint64_t denied = 0, without_slot = 0;
    const auto look_at_member = [&](key_view key) noexcept {
        const digest d = hash_(key);
        denied += may_contain(d) ? 0u : 1u;
        without_slot += std::binary_search(stored.begin(), stored.end(), d) ? 0u : 1u;
        return true;
    };
    if (starved) return error::make(error_code::out_of_memory, "audit: no memory for the keys' digests");
    if (const auto read = remote.each_member(position_range{}, look_at_member); !read) return read.error();
    if (denied != 0) return complain("members are denied", denied);
    if (without_slot != 0 && slots_are_ours_) return complain("members have no slot", without_slot);
    return {};
}

}  // namespace genista::cuckoo
