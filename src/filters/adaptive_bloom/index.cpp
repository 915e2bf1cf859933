// The records of the index. See core.hpp.
#include <algorithm>
#include <new>

#include "filters/adaptive_bloom/core.hpp"
#include "genista/detail/remote/record_check.hpp"

namespace genista::adaptive_bloom {

bool core::uses(const state& in, unsigned level, std::uint64_t cell, const digest& d) const noexcept {
    if (level > in.d()) return false;
    if (level == in.d()) return in.last_of(d, functions_).quotient == cell;
    return in.cells_of(level, d, functions_).has(cell);
}

result<std::vector<index_member>> core::users_of(const state& in, unsigned level, std::uint64_t cell,
                                                 const hashed_key& own, index_source& remote) {
    const std::uint64_t position = position_of(in.half, level, cell);
    std::vector<index_member> found;
    bool starved = false, fits = true;
    remote_detail::record_order order;
    ++remote_reads_;
    const auto read = remote.each({position, position}, never_throwing(starved, [&](const digest& place, key_view key) {
                                      const digest d = own.digest_of(hash_, key);
                                      fits = place.position == position && place.seed == d.seed &&
                                             uses(in, level, cell, d) && order.ascends(place, key);
                                      if (!fits) return false;
                                      found.push_back({d, std::string{key.text()}});
                                      return true;
                                  }));
    if (starved) throw std::bad_alloc{};
    if (!read) return read.error();
    if (!fits)
        return error::make(error_code::corrupt,
                           "adaptive_bloom: the index gave a record that does not belong where it stands");
    // A failed operation may have left the record of a level that its key is not in: skip it.
    std::erase_if(found, [&](const index_member& each) { return !in.reaches(level, each.d, functions_); });
    if (found.empty() && in.forgotten == 0)
        return error::make(error_code::corrupt,
                           "adaptive_bloom: level %u, cell %llu is in use, and the index names no key", level,
                           static_cast<unsigned long long>(cell));
    return found;
}

result<void> core::forget_records(const state& in, unsigned last, std::span<const index_member> keys,
                                  index_source& remote, const std::function<void()>& apply_locally) {
    std::vector<index_change> changes;
    for (const index_member& each : keys) {
        for (unsigned level = 0; level <= last; ++level) {
            each_place(in, level, each.d, [&](const digest& place) {
                changes.push_back({index_change::kind::erase, place, each.key});
            });
        }
    }
    return book_.write(changes, remote, apply_locally);
}

result<void> core::clear_half(unsigned half, index_source& remote) {
    const std::uint64_t first = position_of(half, 0, 0), last = first | (~std::uint64_t{0} >> 1);
    return index_book::clear({first, last}, remote);
}

}  // namespace genista::adaptive_bloom
