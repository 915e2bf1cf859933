// core: the adaptive Bloom filter as a whole. One file for each thing it does:
//
//     state.cpp      LOOKUP, cells and hashes: all that is local
//     core.cpp       begin, insert; the records of the index; all keys at once
//     fix.cpp        adapt: FIX-FALSE-POSITIVE [broom17 Fig. 1]
//     audit.cpp      do the invariants hold, and does R agree? Figures.
//     snapshot.cpp   save and load
//
// A change reads R first, then writes the index, then its own memory under the lock of the
// look-ups. So a change that fails leaves the filter as it was.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "filters/adaptive_bloom/state.hpp"
#include "filters/common.hpp"
#include "filters/index_book.hpp"
#include "genista/filters/adaptive_bloom.hpp"

namespace genista::adaptive_bloom {

class core {
  public:
    static constexpr std::string_view name = adaptive_bloom_filter::name;

    struct beginnings {
        design sizes{};
        hasher hash;
        std::uint64_t seed = 0;  // of salts and of the random choice of dead cells
    };
    [[nodiscard]] static result<std::unique_ptr<core>> make(const beginnings& from);
    [[nodiscard]] static result<std::unique_ptr<core>> load(std::span<const std::byte> bytes);
    core(const beginnings& from, std::unique_ptr<state> first) noexcept;
    core(const core&) = delete;
    core& operator=(const core&) = delete;
    ~core() = default;

    [[nodiscard]] bool contains(const digest& d) const noexcept;
    [[nodiscard]] adaptive_bloom_path path_of(const digest& d) const noexcept;
    [[nodiscard]] result<insert_outcome> insert(const hashed_key& key, index_source& remote);
    [[nodiscard]] result<adapt_outcome> adapt(const hashed_key& key, index_source& remote);
    [[nodiscard]] result<void> rebuild(index_source& remote);
    [[nodiscard]] result<void> audit(index_source& remote) const;
    [[nodiscard]] result<void> save(sink& out) const;

    [[nodiscard]] double rate() const noexcept { return sizes_.rate; }
    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] adaptive_bloom_details details() const;
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }

  private:
    //  ---- the index: core.cpp
    //
    // One record for each cell that a key uses in each level it is in, whichever function sends it
    // there; in the last level one for its quotient.
    //
    //     position   half, 1 bit | level, 5 | cell, 58        seed   that of the key's digest
    //
    // The halves take turns: a rebuild writes to the half that is not in use, so that the filter
    // still has its index if R fails.
    static constexpr unsigned cell_bits = 58;
    [[nodiscard]] static std::uint64_t position_of(unsigned half, unsigned level, std::uint64_t cell) noexcept {
        return std::uint64_t{half} << 63 | std::uint64_t{level} << cell_bits | cell;
    }
    [[nodiscard]] static digest place_of(unsigned half, unsigned level, std::uint64_t cell, const digest& d) noexcept {
        return digest{position_of(half, level, cell), d.seed};
    }
    // Calls visit(place) for each record of the key in this level; each cell once.
    template <class Visit>
    void each_place(const state& in, unsigned level, const digest& d, Visit visit) const {
        if (level == in.d()) {
            visit(place_of(in.half, level, in.last_of(d, functions_).quotient, d));
            return;
        }
        const cell_list cells = in.cells_of(level, d, functions_);
        for (const std::uint64_t* cell = cells.begin(); cell != cells.end(); ++cell) {
            if (std::find(cells.begin(), cell, *cell) == cell) visit(place_of(in.half, level, *cell, d));
        }
    }
    // Does the key belong in the place of the record?
    [[nodiscard]] bool uses(const state& in, unsigned level, std::uint64_t cell, const digest& d) const noexcept;
    // The keys that use a cell, in one range read. An error if a record does not belong there or
    // comes twice: it may stand in the place of one that does. `own` is the key of the operation,
    // which is hashed already.
    [[nodiscard]] result<std::vector<index_member>> users_of(const state& in, unsigned level, std::uint64_t cell,
                                                             const hashed_key& own, index_source& remote);
    // Removes all records of a key that has left R from the levels up to this one; then makes the
    // filter's own part of the change.
    [[nodiscard]] result<void> forget_records(const state& in, unsigned last, std::span<const index_member> keys,
                                              index_source& remote, const std::function<void()>& apply_locally);
    [[nodiscard]] static result<void> clear_half(unsigned half, index_source& remote);

    //  ---- insertion: core.cpp
    [[nodiscard]] result<void> begin(index_source& remote);
    // A key is inserted into the levels first, …, last: into the next level as long as it meets a
    // dead cell.
    struct way_up {
        digest d{};
        unsigned first = 0, last = 0;
    };
    [[nodiscard]] way_up plan(const state& in, const digest& d, unsigned first) const noexcept;
    // Writes the key's records in those levels. A record without a key does no harm: users_of
    // checks that the key is in the level, and one key too many in the next level costs only space.
    // So written records stay, whatever fails afterwards. Removing them would be wrong if the key
    // was there before, which the filter cannot know.
    [[nodiscard]] result<void> put_records(const state& in, const way_up& way, key_view key,
                                           index_source& remote) const;
    [[nodiscard]] bool has_room(const state& in, std::span<const way_up> ways) const noexcept;
    // False: the last level is full, and the key was not inserted into it.
    [[nodiscard]] bool go(state& in, const way_up& way) const noexcept;
    // After a rebuild on the key's behalf: did the rebuild find the key in R?
    [[nodiscard]] result<insert_outcome> insert_afresh(const hashed_key& key, index_source& remote);

    // ---- adapting: fix.cpp
    enum class repair : unsigned char { done, same_digest, no_room };
    [[nodiscard]] result<repair> fix(unsigned level, const hashed_key& key, index_source& remote);
    [[nodiscard]] result<repair> fix_last(const hashed_key& key, index_source& remote);
    // Does R hold another key with this digest?
    [[nodiscard]] result<bool> has_key_of_digest(std::span<const index_member> users, const hashed_key& key,
                                                 index_source& remote);

    // ---- all at once: core.cpp
    [[nodiscard]] result<void> start_afresh(index_source& remote);
    [[nodiscard]] result<void> fill(state& fresh, index_source& remote);

    const design sizes_;
    const hasher hash_;
    const hash_functions functions_;

    mutable std::shared_mutex looking_;  // the state: shared by look-ups, exclusive for changes
    std::unique_ptr<state> state_;
    mutable std::atomic<std::uint64_t> queries_{0};  // since the last new hash functions

    mutable std::mutex changing_;  // serialises changes; guards all that follows
    index_book book_;
    enum class index_is : unsigned char { unknown, ours, foreign } index_ = index_is::unknown;
    std::uint64_t chance_;                    // the state of the random numbers (salts and choices), from the seed
    std::uint64_t inserts_since_afresh_ = 0;  // or since the last attempt
    std::uint64_t adapts_ = 0, rebuilds_ = 0, remote_reads_ = 0;
};

}  // namespace genista::adaptive_bloom
