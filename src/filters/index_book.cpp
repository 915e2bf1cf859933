// See index_book.hpp.
#include "filters/index_book.hpp"

#include <new>
#include <optional>
#include <utility>

namespace genista {

result<void> index_book::apply(const index_change& change, index_source& remote) {
    const key_view key{change.key};
    return change.what == index_change::kind::put ? remote.put(change.place, key) : remote.erase(change.place, key);
}

result<void> index_book::settle(index_source& remote) {
    while (!owed_.empty()) {
        if (auto paid = apply(owed_.back(), remote); !paid) return paid;
        owed_.pop_back();
    }
    return {};
}

result<void> index_book::write(std::span<const index_change> changes, index_source& remote,
                               const std::function<void()>& apply_locally) {
    if (auto settled = settle(remote); !settled) return settled;
    // The opposites are ready before the first write: memory may fail, but not between two writes.
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
            owed_ = std::move(opposite);
            return written;
        }
    }
    try {
        if (apply_locally) apply_locally();
    } catch (...) {
        owed_ = std::move(opposite);
        throw;
    }
    return {};
}

result<void> index_book::clear(index_source& remote) {
    constexpr std::size_t at_once = 1024;
    std::vector<index_change> found;
    found.reserve(at_once);
    std::optional<index_change> before;  // what the last read began with
    for (;;) {
        found.clear();
        bool starved = false;
        const auto read = remote.each({}, [&](const digest& place, key_view key) {
            try {
                found.push_back({index_change::kind::erase, place, std::string{key.text()}});
            } catch (const std::bad_alloc&) {
                starved = true;
            }
            return !starved && found.size() < at_once;
        });
        if (!read) return read;
        if (starved) throw std::bad_alloc{};
        if (found.empty()) break;  // not before: a record that R named wrongly is still there
        if (before && before->place == found.front().place && before->key == found.front().key)
            return error::make(error_code::corrupt, "the index keeps a record that was erased");
        for (const index_change& each : found) {
            if (auto gone = apply(each, remote); !gone) return gone;
        }
        before = std::move(found.front());
    }
    owed_.clear();
    return {};
}

std::uint64_t index_book::local_bytes() const noexcept {
    std::uint64_t bytes = owed_.capacity() * sizeof(index_change);
    for (const index_change& each : owed_) bytes += each.key.capacity();
    return bytes;
}

}  // namespace genista
