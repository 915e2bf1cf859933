// Reads of R for the filters with an index (index_source.hpp): visitors that may run out of memory,
// and all stored keys piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "genista/detail/filters/index_source.hpp"
#include "genista/hash/hasher.hpp"

namespace genista {

// Turns a visitor that may throw std::bad_alloc into one that may not. The caller checks `starved`
// after the read.
template <class Take>
[[nodiscard]] index_source::take_record never_throwing(bool& starved, Take take) {
    return [&starved, take = std::move(take)](const digest& place, key_view key) mutable {
        try {
            return take(place, key);
        } catch (const std::bad_alloc&) {
            starved = true;
            return false;
        }
    };
}

struct index_member {
    digest d{};
    std::string key{};
};
inline constexpr std::size_t members_at_once = 4096;

// Reads about members_at_once keys from a position on, and all of the last position; fewer means
// that they are the last ones. A record that does not belong where R returned it, or comes twice,
// is an error. May throw std::bad_alloc.
[[nodiscard]] result<std::vector<index_member>> members_from(std::uint64_t position, const hasher& hash,
                                                             index_source& remote);

// Calls visit(const index_member&) -> result<bool> for all keys of R; stops at false and returns
// it. `reads` counts range reads.
template <class Visit>
[[nodiscard]] result<bool> each_member_of(index_source& remote, const hasher& hash, std::uint64_t& reads, Visit visit) {
    for (std::uint64_t position = 0;;) {
        ++reads;
        const auto part = members_from(position, hash, remote);
        if (!part) return part.error();
        for (const index_member& each : *part) {
            const result<bool> go_on = visit(each);
            if (!go_on || !*go_on) return go_on;
        }
        if (part->size() < members_at_once || part->back().d.position == ~std::uint64_t{0}) return true;
        position = part->back().d.position + 1;
    }
}

}  // namespace genista
