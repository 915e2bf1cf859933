// core: the cascade as a filter: levels (levels.hpp), the index in R that says which keys have a
// value, and new hash functions.
//
//     core.cpp       look-ups, insert, erase; the records of the index; false positives: FIX
//                    [broom17 §5, Fig. 1]; all keys under new hash functions, after n queries or
//                    when a level is full
//     audit.cpp      do the invariants hold, and does R agree? Figures.
//     snapshot.cpp   save and load
//
// A change reads R first, then writes the index, then its own memory under the lock of the
// look-ups. So a change that fails leaves the filter as it was.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "filters/cascade/levels.hpp"
#include "filters/cascade/quotient_set.hpp"
#include "filters/index_book.hpp"
#include "genista/filters/cascade.hpp"

namespace genista::cascade {

using state = levels<quotient_set>;

class core {
  public:
    static constexpr std::string_view name = cascade_filter::name;

    struct beginnings {
        std::uint64_t capacity = 0;
        double rate = 0;
        hasher hash;
        std::uint64_t seed = 0;  // of salts
        cascade_rates falling = cascade_rates::tower;
    };
    [[nodiscard]] static result<std::unique_ptr<core>> make(const beginnings& from);
    [[nodiscard]] static result<std::unique_ptr<core>> load(std::span<const std::byte> bytes);
    core(const beginnings& from, std::unique_ptr<state> empty) noexcept;
    core(const core&) = delete;
    core& operator=(const core&) = delete;
    ~core() = default;

    [[nodiscard]] bool contains(const digest& d) const noexcept;
    [[nodiscard]] std::uint64_t contains(std::span<const digest> digests) const noexcept;
    [[nodiscard]] unsigned level_of(const digest& d) const noexcept;
    [[nodiscard]] result<insert_outcome> insert(const hashed_key& key, index_source& remote);
    [[nodiscard]] result<erase_outcome> erase(const hashed_key& key, index_source& remote);
    [[nodiscard]] result<erase_outcome> forget(const hashed_key& key, index_source& remote);
    [[nodiscard]] result<adapt_outcome> adapt(const hashed_key& key, index_source& remote);
    [[nodiscard]] result<void> rebuild(index_source& remote);
    [[nodiscard]] result<void> audit(index_source& remote) const;
    [[nodiscard]] result<void> save(sink& out) const;

    [[nodiscard]] double rate() const noexcept { return rate_; }
    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] cascade_details details() const;
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }

  private:
    //  ---- the index
    //
    // One record for each key, at its place. The seed is that of the key, to detect a record with
    // another key.
    static constexpr unsigned value_bits = 60;
    [[nodiscard]] static digest record_place(const place& at, const digest& d) noexcept {
        return digest{std::uint64_t{at.level} << value_bits | at.value, d.position};
    }
    struct resident {
        digest d{};
        std::string key{};
    };
    // All keys that have this place: one range read. An error unless each record belongs there,
    // once. `own` is the key of the operation, which is hashed already.
    [[nodiscard]] result<std::vector<resident>> residents_of(const place& at, const hashed_key& own,
                                                             index_source& remote);

    // ---- core.cpp
    [[nodiscard]] result<void> begin(index_source& remote);
    // After n queries new hash functions are due. If R fails they stay due; nothing else depends on
    // them.
    void finish(index_source& remote);
    [[nodiscard]] bool is_full() const noexcept;
    // Does the index name this key among those of a place?
    [[nodiscard]] result<bool> has_key(const place& at, const hashed_key& key, index_source& remote);
    // Does R hold as many keys as a rebuild has room for? Reads all of them.
    [[nodiscard]] result<bool> has_room_for_all(index_source& remote);
    [[nodiscard]] result<insert_outcome> insert_at(const place& at, const hashed_key& key, index_source& remote);
    [[nodiscard]] result<erase_outcome> leave(const hashed_key& key, index_source& remote);

    // ---- false positives
    // One value of x dies, or x itself leaves. False: the remaining key has the same digest.
    [[nodiscard]] result<bool> fix(const hashed_key& key, index_source& remote);

    // ---- all at once
    [[nodiscard]] result<void> start_afresh(index_source& remote);
    [[nodiscard]] result<bool> fill(state& fresh, index_source& remote);

    const std::uint64_t capacity_;
    const double rate_;
    const hasher hash_;
    const cascade_rates falling_;

    mutable std::shared_mutex looking_;  // the state: shared by look-ups, exclusive for changes
    std::unique_ptr<state> state_;
    mutable std::atomic<std::uint64_t> queries_{0};  // since the last new hash functions

    mutable std::mutex changing_;  // serialises changes; guards all that follows
    index_book book_;
    // broken: a rebuild is under way, or R failed during one. foreign: of another filter, or of
    // this one before it was saved.
    enum class index_is : unsigned char { unknown, ours, broken, foreign } index_ = index_is::unknown;
    std::uint64_t salts_;  // drawn so far, from the seed
    std::uint64_t in_doubt_ = 0;
    std::uint64_t adapts_ = 0, rebuilds_ = 0, remote_reads_ = 0;
};

}  // namespace genista::cascade
