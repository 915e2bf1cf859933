// band_view: R as the broom filter of one band sees it, without the keys of other bands.
//
// Every record of a range is read and classified, so a range costs what it costs in R. Records that
// are left out are checked like those that are passed on (detail/remote/record_check.hpp): a wrong
// record may be of another class, and to leave it out silently would lose the stored key in whose
// place it stands when its bin is rebuilt.
#pragma once

#include <cstdint>
#include <new>

#include "genista/detail/base/caught.hpp"
#include "genista/detail/remote/record_check.hpp"
#include "genista/remote/remote.hpp"

namespace genista {

// Filter has band_of(key_view) and hash().
template <remote_map R, class Filter>
class band_view {
  public:
    band_view(R& remote, const Filter& filter, unsigned band) noexcept
        : remote_{remote}, filter_{filter}, band_{band} {}

    result<bool> put(const digest& where, key_view key) { return remote_.put(where, key); }
    result<bool> erase(const digest& where, key_view key) {
        return remote_detail::caught([&]() -> result<bool> { return remote_.erase(where, key); });
    }
    result<bool> contains(const digest& where, key_view key) { return remote_.contains(where, key); }

    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        remote_detail::record_check check{{first, last}, filter_.hash()};
        bool starved = false;
        const auto take = [&](const digest& at, key_view key) {
            const bool is_ours = filter_.band_of(key) == band_;
            try {
                // The band's filter checks the digests of what it is given.
                if (!(is_ours ? check.passes_hashed(at, key) : check.passes(at, key))) return false;
            } catch (const std::bad_alloc&) {
                starved = true;
                return false;
            }
            return !is_ours || static_cast<bool>(visit(at, key));
        };
        const result<void> done = remote_.for_each(first, last, take);
        if (starved)
            return error::make(error_code::out_of_memory, "daisy_broom: no memory for a key of the remote map");
        if (check.failed()) return remote_detail::record_check::wrong_record();
        return done;
    }

  private:
    R& remote_;
    const Filter& filter_;
    unsigned band_;
};

}  // namespace genista
