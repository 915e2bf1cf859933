// band_view: R as the broom filter of one band sees it, without the keys of other bands.
//
// Every record of a range is read and asked for its class, so a range costs what it costs in R.
// Records that are left out are checked like those that are handed on (broom/range_source.hpp): a
// key that R has mixed up may be of another class, and leaving it out silently would lose a member
// when its bin is laid anew.
#pragma once

#include <cstdint>
#include <utility>

#include "genista/detail/remote/caught.hpp"
#include "genista/remote/remote.hpp"

namespace genista {

// Filter: band_of(key_view) and hash().
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
        bool lied = false;
        const result<void> done = remote_.for_each(first, last, [&](const digest& at, key_view key) {
            if (filter_.band_of(key) == band_) return static_cast<bool>(visit(at, key));
            lied = filter_.hash()(key) != at;
            return !lied;
        });
        if (lied)
            return error::make(error_code::corrupt, "the remote map gave a record with a digest that is not its key's");
        return done;
    }

  private:
    R& remote_;
    const Filter& filter_;
    unsigned band_;
};

}  // namespace genista
