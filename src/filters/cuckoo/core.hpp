// core: a filter of the cuckoo family, whatever its rule. One file for each thing it does:
//
//     core.cpp      slots, matches, commits and pending writes; insert and erase; the way to a free
//                   slot
//     fix.cpp       the repair of a false positive, by rule [acf §2.3-2.5]
//     rehash.cpp    new hash functions for all keys
//     audit.cpp     does it agree with R?
//     snapshot.cpp  save and load
//
// A change is planned first and only reads R, then R's index is written, all at once, then the
// table. A failed write may have happened or not: its inverse becomes pending, and is written
// before anything else. Each slot that changes loses the record of the key that was there and gains
// that of the key that comes; the inverse takes the one that came away and puts the one that was
// there, which gives the former records whether the write happened or not.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "filters/cuckoo/hashes.hpp"
#include "filters/cuckoo/plan.hpp"
#include "genista/detail/base/buffer.hpp"
#include "genista/detail/filters/cuckoo/family.hpp"

namespace genista::cuckoo {

class core {
  public:
    struct beginnings {
        cuckoo_shape shape;
        std::uint64_t capacity;
        double load;
        double rate;
        hasher hash;
        std::uint64_t seed;
    };
    [[nodiscard]] static result<std::unique_ptr<core>> make(const member_of_family& who, const beginnings& from);
    [[nodiscard]] static result<std::unique_ptr<core>> load(const member_of_family& who,
                                                            std::span<const std::byte> bytes);

    [[nodiscard]] result<insert_outcome> insert(const hashed_key& key, batch_index_source& remote);
    [[nodiscard]] result<erase_outcome> erase(const hashed_key& key, batch_index_source& remote);
    [[nodiscard]] result<erase_outcome> forget(const hashed_key& key, batch_index_source& remote);
    [[nodiscard]] result<adapt_outcome> adapt(const hashed_key& key, batch_index_source& remote);
    [[nodiscard]] result<void> rebuild(batch_index_source& remote);
    [[nodiscard]] result<void> audit(batch_index_source& remote) const;
    [[nodiscard]] result<void> save(sink& out) const;

    [[nodiscard]] const cuckoo_state& state() const noexcept { return state_; }
    [[nodiscard]] const hasher& hash() const noexcept { return hash_; }
    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] std::uint64_t rehashes() const noexcept;

    core(const member_of_family& who, const beginnings& from, buffer table) noexcept;
    core(const core&) = delete;
    core& operator=(const core&) = delete;
    ~core() = default;

  private:
    // ---- the table
    struct place {
        unsigned table;
        std::uint64_t bin;
        unsigned in_bin;
    };
    [[nodiscard]] const cuckoo_shape& shape() const noexcept { return state_.shape; }
    [[nodiscard]] place place_of(std::uint64_t slot) const noexcept;
    [[nodiscard]] std::uint64_t first_slot(const essence& key, unsigned table) const noexcept;
    [[nodiscard]] std::uint64_t contents(std::uint64_t slot) const noexcept;  // fingerprint and selector
    [[nodiscard]] bool is_empty(std::uint64_t slot) const noexcept;
    [[nodiscard]] unsigned selector(std::uint64_t slot) const noexcept;
    [[nodiscard]] std::uint64_t fingerprint(const essence& key, std::uint64_t slot, unsigned selector) const noexcept;
    [[nodiscard]] salts current_salts() const noexcept;
    [[nodiscard]] essence essence_of(const digest& d) const noexcept { return {d, current_salts()}; }
    // Does the key belong in this slot, and is the fingerprint there its own?
    [[nodiscard]] bool fits(const digest& d, std::uint64_t slot) const noexcept;
    // Visits the slots of a key's bins, table by table from this one on, until visit returns true.
    template <class Visit>
    bool any_slot_of(const essence& key, unsigned first_table, Visit visit) const {
        for (unsigned i = 0; i < shape().tables; ++i) {
            const std::uint64_t first = first_slot(key, (first_table + i) % shape().tables);
            for (std::uint64_t slot = first; slot < first + shape().bin_slots; ++slot) {
                if (visit(slot)) return true;
            }
        }
        return false;
    }
    [[nodiscard]] std::vector<std::uint64_t> matching_slots(const digest& d) const;
    [[nodiscard]] bool may_contain(const digest& d) const noexcept;

    // While one exists, look-ups do not trust a "no".
    class changing {
      public:
        explicit changing(core& of) noexcept;
        changing(const changing&) = delete;
        changing& operator=(const changing&) = delete;
        ~changing();

      private:
        core& of_;
    };
    void set(std::uint64_t slot, std::uint64_t fingerprint, unsigned selector) noexcept;

    // ---- R
    static constexpr unsigned slot_number_bits = 40;
    static constexpr std::uint64_t most_generations = std::uint64_t{1} << (64 - slot_number_bits);
    [[nodiscard]] static std::uint64_t in_remote(std::uint64_t generation, std::uint64_t slot) noexcept {
        return (generation << slot_number_bits) + slot;
    }
    // The place in the index of what is in a slot.
    [[nodiscard]] static digest place_in_remote(std::uint64_t generation, std::uint64_t slot) noexcept {
        return digest{in_remote(generation, slot), 0};
    }
    static constexpr position_range whole_index{};
    // Begins every change: makes sure that R's index is this filter's, and writes what is pending.
    [[nodiscard]] result<void> begin(batch_index_source& remote);
    // What the index has at a slot's place: whether the range read gave exactly one record of that
    // place, whose key is then in `key`.
    enum class at_place : unsigned char { none, one, other };
    [[nodiscard]] result<at_place> read_place(std::uint64_t slot, batch_index_source& remote, std::string& key) const;
    // The key of an occupied slot, through the plan; an error if the answer of R does not fit.
    // `own`: the key of the operation, which may be in the slot and is hashed already.
    [[nodiscard]] result<planned_slot*> occupant(std::uint64_t slot, plan& in, batch_index_source& remote,
                                                 const hashed_key* own = nullptr);
    // The slot that holds exactly this key.
    [[nodiscard]] result<std::optional<std::uint64_t>> find(const hashed_key& key, plan& in,
                                                            batch_index_source& remote);
    [[nodiscard]] result<void> commit(const plan& done, batch_index_source& remote);
    [[nodiscard]] result<void> clear_slot(std::uint64_t slot, plan& in, batch_index_source& remote);

    // ---- operations
    // Plans the moves that make room for a key; the pinned slot keeps its key.
    enum class way : unsigned char { found, none, too_long };
    [[nodiscard]] result<way> search(const element& key, plan& in, batch_index_source& remote,
                                     std::optional<std::uint64_t> pinned = std::nullopt);
    [[nodiscard]] std::optional<std::uint64_t> free_slot_of(const essence& key, unsigned first_table, plan& in) const;
    [[nodiscard]] bool will_be_empty(std::uint64_t slot, plan& in) const noexcept;

    [[nodiscard]] result<void> fix(std::span<const std::uint64_t> collided, plan& in, batch_index_source& remote);
    [[nodiscard]] std::uint64_t most_futile() const noexcept;
    [[nodiscard]] result<way> move_on(std::uint64_t slot, plan& in, batch_index_source& remote);
    [[nodiscard]] result<void> turn_selector(std::uint64_t slot, plan& in, batch_index_source& remote);
    [[nodiscard]] result<void> swap_in_bin(std::uint64_t slot, plan& in, batch_index_source& remote);

    // New hash functions for all keys in the index and perhaps one key more, or for all keys of R.
    // False: none were found that place all keys.
    enum class keys_from : unsigned char { slots, members };
    [[nodiscard]] result<bool> rehash(keys_from from, const element* more, batch_index_source& remote);
    [[nodiscard]] result<std::vector<digest>> digests(keys_from from, const element* more, batch_index_source& remote);
    struct arrangement;
    [[nodiscard]] std::optional<arrangement> arrange(std::span<const digest> keys);
    [[nodiscard]] bool place_all(std::span<const digest> keys, arrangement& made);
    // Writes the places of a generation, part by part; removes keys from the arrangement that have
    // left R meanwhile.
    [[nodiscard]] result<void> write_generation(keys_from from, const element* more, arrangement& made,
                                                std::uint64_t generation, batch_index_source& remote);
    [[nodiscard]] std::uint64_t parts() const noexcept;
    // One range read. A record outside the range, out of order, repeated, in a slot that it does
    // not fit or with a wrong digest is an error and not a key: trusting it would cost another key
    // its place. A slot has one record.
    [[nodiscard]] result<void> visit_part(keys_from from, std::uint64_t part, batch_index_source& remote,
                                          const index_source::take_record& take);
    [[nodiscard]] result<void> visit_members(position_range range, batch_index_source& remote,
                                             const index_source::take_record& take) const;
    [[nodiscard]] result<void> visit_slots(std::uint64_t first, std::uint64_t last, batch_index_source& remote,
                                           const index_source::take_record& take) const;
    void put_in_place(const arrangement& made);

    member_of_family who_;
    cuckoo_state state_;
    const hasher hash_;
    const std::uint64_t capacity_;
    const double load_;
    const double rate_;
    buffer table_;

    mutable std::mutex mutex_;  // guards what follows, and every change
    chance chance_;
    std::uint64_t keys_ = 0;
    std::uint64_t generation_ = 1;
    bool index_is_ours_ = false;  // false: R's index may hold the records of a former filter
    std::uint64_t adapts_ = 0, rehashes_ = 0, remote_reads_ = 0;
    std::uint64_t unplaceable_ =
        ~std::uint64_t{0};      // with this many keys no hash functions were found that place them all
    std::uint64_t futile_ = 0;  // repairs that failed under these hash functions

    // The inverse of a write whose effect is unknown: one slot of it.
    struct pending_write {
        digest place;
        std::optional<std::string> takes;  // the key that came, if one did
        std::optional<std::string> puts;   // the key that was there
    };
    std::vector<pending_write> pending_;
};

// A visitor of records that keeps their digests. Without memory it stops the visit and says so.
[[nodiscard]] inline auto keeping(std::vector<digest>& digests, bool& starved) noexcept {
    return [&digests, &starved](const digest& where, key_view) noexcept {
        try {
            digests.push_back(where);
        } catch (const std::bad_alloc&) {
            starved = true;
        }
        return !starved;
    };
}

}  // namespace genista::cuckoo
