// An index beside the records: the other half of R, for filters whose bins are not ranges of R.
//
// The broom filter finds the key that a false positive collided with in one range of R, because its
// bins are ranges of positions (remote.hpp). The structures of the two broom papers hash every key
// again whenever they start afresh, so that no order of R fits: they ask for a reverse look-up from
// a hash value to the keys that have it, "a part of R [that] can be implemented using a dictionary"
// [broom18 §4.1; broom17 §3.1, §5]. An adaptive cuckoo filter has to know whose fingerprint a slot
// holds before it can move it [acf §2.2], and a key is in one of k slots that have nothing to do
// with each other. That dictionary is a second remote map: a record (place, key), where the place
// is two words that the filter chooses and the order is that of every remote map.
//
//     indexed_map         a remote_map and index(), another one; with_index makes one of two
//     batch_indexed_map   and the index is a batched_map: the cuckoo family, which moves several
//                         keys at once
//
// The index belongs to one filter: nothing else writes to it, it need not survive the filter, and a
// filter that is rebuilt begins by clearing it. Everything that wraps a remote map wraps an index
// as well.
//
// ## What it costs remotely
//   a change        one write of the index, beside that of the record
//   a look          one range read, also for a single place
#pragma once

#include <cassert>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "genista/remote/remote.hpp"

namespace genista {

template <class R>
concept indexed_map = remote_map<R> && requires(R& remote) {
    requires remote_map<std::remove_reference_t<decltype(remote.index())>>;
};

template <class R>
concept batch_indexed_map = indexed_map<R> && requires(R& remote) {
    requires batched_map<std::remove_reference_t<decltype(remote.index())>>;
};

// One R out of two; both outlive it. The first has your records. The filter deletes everything in
// the second one when it begins: never exchange them.
template <remote_map Map, remote_map Index>
class with_index {
  public:
    with_index(Map& map, Index& index) noexcept : map_{&map}, index_{&index} {
        if constexpr (std::is_same_v<Map, Index>) assert(map_ != index_);
    }

    result<bool> put(const digest& where, key_view key) { return map_->put(where, key); }
    result<bool> erase(const digest& where, key_view key) { return map_->erase(where, key); }
    result<bool> contains(const digest& where, key_view key) { return map_->contains(where, key); }
    template <record_visitor Visit>
    result<void> for_each(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        return map_->for_each(first, last, std::forward<Visit>(visit));
    }

    [[nodiscard]] Map& map() const noexcept { return *map_; }
    [[nodiscard]] Index& index() const noexcept { return *index_; }

  private:
    Map* map_;
    Index* index_;
};

}  // namespace genista
