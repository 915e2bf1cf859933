// band_view: R as the broom filter of one band sees it, without the keys of other bands.
//
// Every record of a range is read and classified, so a range costs what it costs in R. Records that
// are left out are checked like those that are passed on (broom/range_source.hpp): if R returns a
// record with a wrong key, that key may be of another class, and to leave it out silently would
// lose the stored key when its bin is rebuilt.
#pragma once

#include <cstdint>
#include <utility>

#include "genista/detail/remote/caught.hpp"
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
        bool mismatched = false;
        const result<void> done = remote_.for_each(first, last, [&](const digest& at, key_view key) {
            if (filter_.band_of(key) == band_) return static_cast<bool>(visit(at, key));
            mismatched = filter_.hash()(key) != at;
            return !mismatched;
        });
        if (mismatched)
            return error::make(error_code::corrupt, "the remote map gave a record with a digest that is not its key's");
        return done;
    }

  private:
    R& remote_;
    const Filter& filter_;
    unsigned band_;
};

}  // namespace genista
