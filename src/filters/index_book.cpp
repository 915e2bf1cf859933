// Writes to the index that survive a failing R, and reads of R. See index_book.hpp.
#include "filters/index_book.hpp"

#include <new>
#include <set>
#include <utility>

#include "genista/detail/remote/record_check.hpp"

namespace genista {

result<void> index_book::apply(const index_change& change, index_source& remote) {
    const key_view key{change.key};
    return change.what == index_change::kind::put ? remote.put(change.place, key) : remote.erase(change.place, key);
}

result<void> index_book::write_pending(index_source& remote) {
    while (!pending_.empty()) {
        if (auto done = apply(pending_.back(), remote); !done) return done;
        pending_.pop_back();
    }
    return {};
}

result<void> index_book::write(std::span<const index_change> changes, index_source& remote,
                               const std::function<void()>& apply_locally) {
    if (auto written = write_pending(remote); !written) return written;
    // The opposite changes are ready before the first write: an allocation may fail, but not
    // between two writes.
    std::vector<index_change> opposite;
    opposite.reserve(changes.size());
    for (const index_change& each : changes) {
        opposite.push_back(each);
        opposite.back().what =
            each.what == index_change::kind::put ? index_change::kind::erase : index_change::kind::put;
    }
    for (std::size_t done = 0; done < changes.size(); ++done) {
        if (auto written = apply(changes[done], remote); !written) {
            opposite.resize(done + 1);
            pending_ = std::move(opposite);
            return written;
        }
    }
    try {
        if (apply_locally) apply_locally();
    } catch (...) {
        pending_ = std::move(opposite);
        throw;
    }
    return {};
}

result<bool> index_book::put_again(const index_change& record, index_source& remote) {
    if (auto written = write_pending(remote); !written) return written.error();
    std::vector<index_change> forward{record};
    const auto is_new = remote.add(record.place, key_view{record.key});
    if (!is_new) pending_ = std::move(forward);
    return is_new;
}

result<void> index_book::clear(position_range within, index_source& remote) {
    constexpr std::size_t at_once = 1024, most_vain = 16;
    std::vector<index_change> found;
    found.reserve(at_once);
    // Repeats until a read finds nothing: a record that R returned at another record's place is
    // still there after the first round. But a round that begins as another one began is in vain,
    // and a replica that lags behind, or two of them in turn, could give such rounds for ever.
    std::set<std::pair<digest, std::string>> beginnings;
    std::size_t vain = 0;
    while (true) {
        found.clear();
        bool starved = false, inside = true;
        const auto read = remote.each(within, [&](const digest& place, key_view key) {
            try {
                // A record from elsewhere may be one that the filter needs.
                inside = within.contains(place.position);
                if (!inside) return false;
                found.push_back({index_change::kind::erase, place, std::string{key.text()}});
            } catch (const std::bad_alloc&) {
                starved = true;
            }
            return !starved && found.size() < at_once;
        });
        if (!read) return read;
        if (starved) throw std::bad_alloc{};
        if (!inside)
            return error::make(error_code::corrupt, "the index gave a record from outside the range that was read");
        if (found.empty()) return {};
        if (!beginnings.emplace(found.front().place, found.front().key).second &&
            ++vain > most_vain + beginnings.size())
            return error::make(error_code::corrupt, "the index does not let go of records that were erased: %zu reads",
                               vain + beginnings.size());
        for (const index_change& each : found) {
            if (auto gone = apply(each, remote); !gone) return gone;
        }
    }
}

result<void> index_book::clear(index_source& remote) {
    if (auto cleared = clear({}, remote); !cleared) return cleared;
    pending_.clear();
    return {};
}

std::uint64_t index_book::local_bytes() const noexcept {
    std::uint64_t bytes = pending_.capacity() * sizeof(index_change);
    for (const index_change& each : pending_) bytes += each.key.capacity();
    return bytes;
}

result<std::vector<index_member>> members_from(std::uint64_t position, const hasher& hash, index_source& remote) {
    std::vector<index_member> found;
    bool starved = false, fits = true;
    remote_detail::record_order order;
    const auto read = remote.each_member(
        {position, ~std::uint64_t{0}}, never_throwing(starved, [&](const digest& where, key_view key) {
            if (found.size() >= members_at_once && found.back().d.position != where.position) return false;
            fits = where.position >= position && hash(key) == where && order.ascends(where, key);
            if (!fits) return false;
            found.push_back({where, std::string{key.text()}});
            return true;
        }));
    if (starved) throw std::bad_alloc{};
    if (!read) return read.error();
    if (!fits)
        return error::make(error_code::corrupt, "the remote map gave a record that does not belong where it stands");
    return found;
}

}  // namespace genista
