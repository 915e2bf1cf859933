// Compares the filter with R. See cuckoo/family.hpp, audit().
#include <algorithm>
#include <new>
#include <vector>

#include "filters/cuckoo/core.hpp"

namespace genista::cuckoo {

result<void> core::audit(batch_index_source& remote) const {
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
    const auto look_at_slot = keeping(stored, starved);
    if (index_is_ours_) {
        if (const auto read = visit_slots(0, shape().slots() - 1, remote, look_at_slot); !read) return read.error();
        if (!starved && stored.size() != keys_)
            return complain("slots known to R are not as many as keys", stored.size());
    }
    std::sort(stored.begin(), stored.end());
    std::uint64_t denied = 0, without_slot = 0;
    const auto look_at_member = [&](const digest& d, key_view) noexcept {
        denied += may_contain(d) ? 0u : 1u;
        without_slot += std::binary_search(stored.begin(), stored.end(), d) ? 0u : 1u;
        return true;
    };
    if (starved) return error::make(error_code::out_of_memory, "audit: no memory for the keys' digests");
    if (const auto read = visit_members(position_range{}, remote, look_at_member); !read) return read.error();
    if (denied != 0) return complain("stored keys are denied", denied);
    if (without_slot != 0 && index_is_ours_) return complain("stored keys have no slot", without_slot);
    return {};
}

}  // namespace genista::cuckoo
